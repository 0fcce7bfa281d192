"""The two sweeps over all pairs of samples, tile by tile.

    first    Z_nc = sum_{j in c} n_j exp(-q_nj / sigma),   Y_nc = sum_{j in c} n_j q_nj exp(...)
    second   Sigma = sum_{i < j} +-c_ij d d',
             c_ij = D_i n_j exp((F_i - q_ij) / sigma) + D_j n_i exp((F_j - q_ij) / sigma)

with F the free energy of an anchor's hits in a pair of one class (sign +), of its misses in any
other pair (sign -). A pair is visited once and serves both its anchors.

                     +------------- tile: 32 rows x 128 columns -------------+
    layout.Table --> | tile_differences --> tile_distances --> tile_energies | --> state (Z, Y)
                     |     D (p, 512)          q (4096)         exp(-q/s)    |      merged, then
                     |        |                                     |        |      split in hits
                     |        +------> tile_scatter <---------------+        |      and misses
                     |                  c d d' added to the gradient         | <-- pulls D / Z
                     +-------------------------------------------------------+

The first sweep runs along the upper edge, the second along the lower one. Boltzmann factors wait
in the store in between; where there is no room for all of them, they are computed again.

Cost for n samples and a p x p matrix W: n^2 p^2 / 4 multiply-adds and n^2 / 2 exponentials per
sweep; for a vector W, p in place of p^2. Memory: one tile of pairs and one buffer of differences
per thread, and the store, at most n^2 / 2 numbers per problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.compiling import jit_cached
from immigrate.kernels.layout import Kinds, Table
from immigrate.kernels.tile_distances import lay_rows, set_distances
from immigrate.kernels.tile_energies import (
    NOT_SHARED,
    boltzmann_of,
    merge_tile,
    set_boltzmann,
    sum_at_own_floors,
    sum_at_shared_floor,
    tilted_of,
)
from immigrate.kernels.tile_scatter import add_tile, flush, set_couplings
from immigrate.kernels.tiles import FIRST_PAIR, TileShape


class Sweep(NamedTuple):
    """What both sweeps read: the tables, the tiles, and W and sigma of each problem."""

    rows: Table
    columns: Table
    kinds: Kinds
    is_plain: bool  # whether all features are numbers without gaps
    tiles: np.ndarray  # (n_tiles + 1, N_FIELDS)
    weights: np.ndarray  # (n_problems, p, p) upper triangular, or (n_problems, p)
    sigma: np.ndarray  # (n_problems,)
    shape: TileShape
    is_counted: bool  # whether any sample counts other than once
    row_log_count: np.ndarray  # (n_rows,)
    column_log_count: np.ndarray  # (n_columns + LANES,)


class Store(NamedTuple):
    """What the first sweep leaves for the second; tiles beyond n_kept are computed again."""

    boltzmann: np.ndarray  # (n_problems, n_kept and a tile of scratch for each part)
    floor: np.ndarray  # (n_problems, n_tiles)
    n_kept: int
    scratch: int  # place of this part's scratch


class Anchors(NamedTuple):
    """What the couplings are made of, beside q."""

    floor: np.ndarray  # (n_problems, 2, n): of the misses, of the hits
    pull: np.ndarray  # (n_problems, 2, n): D_n / Z_n
    negligible: float  # couplings below this do not change the sum


@jit_cached
def energy_sweep(sweep, tile_range, store, buffers, state):
    """First sweep: floor, Z and Y of every (problem, class, sample) into `state`."""
    n_problems = sweep.sigma.shape[0]
    for t in range(tile_range[0], tile_range[1]):
        tile = sweep.tiles[t]
        n_pairs = lay_rows(buffers, tile)
        set_distances(buffers, sweep, tile, 0, n_problems)
        for m in range(n_problems):
            q, sigma = buffers.q[m, :n_pairs], sweep.sigma[m]
            tilted = tilted_of(buffers, sweep, tile, m, n_pairs)
            boltzmann = boltzmann_of(store, tile, m, n_pairs)
            floor = set_boltzmann(boltzmann, tilted, sigma)
            store.floor[m, t] = floor
            if floor < NOT_SHARED:
                sum_at_shared_floor(buffers, tile, q, boltzmann, floor)
            else:
                sum_at_own_floors(buffers, tile, q, tilted, sigma)
            merge_tile(state[m], buffers, tile, sigma)


@jit_cached
def scatter_sweep(sweep, tile_range, store, buffers, anchors, gradient):
    """Second sweep: the sum of +-c_ij d d' (or d) of every problem added to `gradient`."""
    for m in range(sweep.sigma.shape[0]):
        for t in range(tile_range[0], tile_range[1]):
            tile = sweep.tiles[t]
            n_pairs = lay_rows(buffers, tile)
            boltzmann = boltzmann_of(store, tile, m, n_pairs)
            if tile[FIRST_PAIR] + n_pairs > store.n_kept:
                set_distances(buffers, sweep, tile, m, m + 1)
                tilted = tilted_of(buffers, sweep, tile, m, n_pairs)
                set_boltzmann(boltzmann, tilted, sweep.sigma[m])
            at_floor = (m, store.floor[m, t], sweep.sigma[m])
            set_couplings(buffers, tile, boltzmann, anchors, at_floor)
            add_tile(gradient[m], sweep, buffers, (t, anchors.negligible))
        flush(gradient[m], sweep, buffers)
