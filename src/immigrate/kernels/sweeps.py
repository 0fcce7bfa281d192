"""The two sweeps over all pairs of samples, tile by tile.

    first    Z_nc = sum_{j in c} exp(-q_nj / sigma),   Y_nc = sum_{j in c} q_nj exp(-q_nj / sigma)
    second   Sigma = sum_{i < j} +-c_ij d d',
             c_ij = D_i exp((F_i - q_ij) / sigma) + D_j exp((F_j - q_ij) / sigma)

with F the free energy of an anchor's hits in a pair of one class (sign +), of its misses in any
other pair (sign -). A pair is visited once and serves both its anchors. Cost for n samples and a
p x p matrix W: n^2 p^2 / 4 multiply-adds and n^2 / 2 exponentials a sweep; for a vector W, p in
place of p^2. Memory: one tile of pairs and one buffer of differences, and what the first sweep
keeps for the second if there is room for it, n^2 / 2 numbers a problem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.compiling import jit_cached
from immigrate.kernels.tile_distances import lay_rows, set_distances
from immigrate.kernels.tile_energies import (
    FAR,
    boltzmann_of,
    merge_tile,
    set_boltzmann,
    sum_at_own_levels,
    sum_at_shared_level,
)
from immigrate.kernels.tile_scatter import add_tile, flush, set_couplings
from immigrate.kernels.tiles import FIRST_PAIR, TileShape


class Sweep(NamedTuple):
    """What both sweeps read: feature-major tables, the tiles, and W and sigma of each problem."""

    rows: np.ndarray  # (p, n_rows)
    columns: np.ndarray  # (p, n + LANES), the last ones never read as samples
    tiles: np.ndarray  # (n_tiles + 1, 8)
    weights: np.ndarray  # (n_problems, p, p) upper triangular, or (n_problems, p)
    sigma: np.ndarray  # (n_problems,)
    shape: TileShape
    is_symmetric: bool  # rows and columns are the same samples


class Store(NamedTuple):
    """What the first sweep leaves for the second; tiles beyond n_kept are computed again."""

    boltzmann: np.ndarray  # (n_problems, n_kept and a tile of scratch for each part)
    level: np.ndarray  # (n_problems, n_tiles)
    n_kept: int
    scratch: int  # place of this part's scratch


class Anchors(NamedTuple):
    """What the couplings are made of, beside q."""

    level: np.ndarray  # (n_problems, 2, n): of the misses, of the hits
    pull: np.ndarray  # (n_problems, 2, n): D_n / Z_n
    negligible: float  # couplings below this do not change the sum


@jit_cached
def energy_sweep(sweep, tile_range, store, buffers, state):
    """First sweep: level, Z and Y of every (problem, class, sample) into `state`."""
    n_problems = sweep.sigma.shape[0]
    for t in range(tile_range[0], tile_range[1]):
        tile = sweep.tiles[t]
        n_pairs = lay_rows(buffers, tile)
        set_distances(buffers, sweep, tile, 0, n_problems)
        for m in range(n_problems):
            q, sigma = buffers.q[m, :n_pairs], sweep.sigma[m]
            e = boltzmann_of(store, tile, m, n_pairs)
            level = set_boltzmann(e, q, sigma)
            store.level[m, t] = level
            if level < FAR:
                sum_at_shared_level(buffers, tile, q, e, level)
            else:
                sum_at_own_levels(buffers, tile, q, sigma)
            merge_tile(state[m], buffers, tile, sigma, sweep.is_symmetric)


@jit_cached
def scatter_sweep(sweep, tile_range, store, buffers, anchors, gradient):
    """Second sweep: the sum of +-c_ij d d' (or d) of every problem added to `gradient`."""
    for m in range(sweep.sigma.shape[0]):
        for t in range(tile_range[0], tile_range[1]):
            tile = sweep.tiles[t]
            n_pairs = lay_rows(buffers, tile)
            e = boltzmann_of(store, tile, m, n_pairs)
            if tile[FIRST_PAIR] + n_pairs > store.n_kept:
                set_distances(buffers, sweep, tile, m, m + 1)
                set_boltzmann(e, buffers.q[m, :n_pairs], sweep.sigma[m])
            set_couplings(buffers, tile, e, anchors, (m, store.level[m, t], sweep.sigma[m]))
            add_tile(gradient[m], sweep, buffers, (t, anchors.negligible))
        flush(gradient[m], sweep, buffers)
