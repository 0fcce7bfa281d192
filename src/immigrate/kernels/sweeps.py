"""The two sweeps over all pairs of samples, tile by tile.

    first    Z_nc = sum_{j in c} n_j exp(-q_nj / sigma),   Y_nc = sum_{j in c} n_j q_nj exp(...)
    second   Sigma = sum_{i < j} +-c_ij d d',
             c_ij = D_i n_j exp((F_i - q_ij) / sigma) + D_j n_i exp((F_j - q_ij) / sigma)

with F the free energy of an anchor's hits in a pair of one class (sign +), of its misses in any
other pair (sign -). A pair is visited once and serves both its anchors.

                     +------------- tile: 32 rows x 128 columns -------------+
  layout.LaidOut --> | tile_differences --> tile_distances --> tile_energies | --> state (Z, Y)
                     |     D (p, 512)          q (4096)         exp(-q/s)    |      merged, then
                     |        |                                     |        |      split in hits
                     |        +------> tile_scatter <---------------+        |      and misses
                     |                  c d d' added to the gradient         | <-- pulls D / Z
                     +-------------------------------------------------------+

The first sweep runs along the upper edge, the second along the lower one. Boltzmann factors wait
in the store in between; where there is no room for all of them, they are computed again.

Cost for n samples and a p x p matrix W: n^2 p^2 / 4 multiply-adds per sweep, and n^2 / 2
exponentials in the first one; for a vector W, p in place of p^2. Memory: one tile of pairs and one
buffer of differences per thread, and the store, at most n^2 / 2 numbers per problem.

Filling again is the first sweep without its sums, so that the second sweep needs no distances of
its own, neither at run time nor when it is compiled. Compiled functions allocate nothing: their
scratch memory is made by ``passes``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.compiling import jit_cached
from immigrate.kernels.tile_energies import (
    NOT_SHARED,
    Tables,
    boltzmann_of,
    lay_rows,
    merge_tile,
    set_boltzmann,
    set_distances,
    set_floors,
    set_tilted,
    sum_at_own_floors,
    sum_at_shared_floor,
)
from immigrate.kernels.tile_scatter import add_tile, flush, set_couplings


class Tilt(NamedTuple):
    """sigma log n of each sample, see ``tile_energies``."""

    rows: np.ndarray  # (n_problems, n_rows)
    columns: np.ndarray  # (n_problems, n_columns + LANES)


class Sweep(NamedTuple):
    """What both sweeps read: the tables, the tiles, and W and sigma of each problem.

    None is a type of its own for the compiler: what only categories, gaps or counts need is not
    compiled for tables that have none.
    """

    tables: Tables
    tilt: Tilt | None  # None if every sample counts once
    tiles: np.ndarray  # (n_tiles + 1, N_FIELDS)
    weights: np.ndarray  # (n_problems, p, p) upper triangular, or (n_problems, p); see `packing`
    sigma: np.ndarray  # (n_problems,)


class Stretch(NamedTuple):
    """Consecutive tiles, and where their Boltzmann factors live."""

    first_tile: int
    last_tile: int
    boltzmann: np.ndarray  # (n_problems, n_places)
    floor: np.ndarray  # (n_problems, n_tiles): of every tile, not of these alone
    first_pair: int  # which pair has the first place
    is_kept: bool  # for the second sweep; otherwise each tile overwrites the one before


class Anchors(NamedTuple):
    """What the couplings are made of, beside q."""

    floor: np.ndarray  # (n_problems, 2, n): of the misses, of the hits
    pull: np.ndarray  # (n_problems, 2, n): D_n / Z_n
    negligible: float  # couplings below this do not change the sum


@jit_cached
def energy_sweep(sweep, stretch, buffers, state):
    """First sweep: floor, Z and Y of every (problem, class, sample) into `state`.

    With a state of no problems, the Boltzmann factors alone.
    """
    # Few names for what is read again and again: each look into a large tuple copies all of it,
    # which costs nothing when it runs but a lot when it is compiled.
    places, sums, block = buffers.places, buffers.sums, buffers.block
    all_q, all_tilted = buffers.q, buffers.tilted
    tables, tiles, weights, sigmas = sweep.tables, sweep.tiles, sweep.weights, sweep.sigma
    for t in range(stretch.first_tile, stretch.last_tile):
        tile = tiles[t]
        n_pairs = lay_rows(places, tile)
        set_distances(all_q, block, tables, weights, (places, tile))
        set_tilted(all_tilted, all_q, sweep.tilt, places, tile)
        for m in range(sigmas.shape[0]):
            q, tilted, sigma = all_q[m, :n_pairs], all_tilted[m, :n_pairs], sigmas[m]
            boltzmann = boltzmann_of(stretch, tile, m, n_pairs)
            floor = set_boltzmann(boltzmann, tilted, sigma)
            stretch.floor[m, t] = floor
            if state.shape[0] == 0:
                continue
            if floor < NOT_SHARED:
                set_floors(sums, places, tile, floor)
                sum_at_shared_floor(sums, places, tile, q, boltzmann)
            else:
                sum_at_own_floors(sums, places, tile, (q, tilted), sigma)
            merge_tile(state[m], sums, tile, sigma)


@jit_cached
def scatter_sweep(sweep, stretch, buffers, anchors, gradient):
    """Second sweep: the sum of +-c_ij d d' (or d) of every problem added to `gradient`."""
    places, sums, coupling = buffers.places, buffers.sums, buffers.coupling
    block, waiting = buffers.block, buffers.waiting
    tables, tiles, sigmas = sweep.tables, sweep.tiles, sweep.sigma
    # Problem by problem, where the first sweep goes tile by tile: pairs that wait belong to one
    # gradient, and `flush` empties the list before the next problem begins.
    for m in range(sigmas.shape[0]):
        for t in range(stretch.first_tile, stretch.last_tile):
            tile = tiles[t]
            n_pairs = lay_rows(places, tile)
            boltzmann = boltzmann_of(stretch, tile, m, n_pairs)
            at_floor = (m, stretch.floor[m, t], sigmas[m])
            set_couplings((coupling, sums, places), tile, boltzmann, anchors, at_floor)
            rooms = (block, coupling, waiting)
            add_tile(gradient[m], tables, rooms, (places, tile), anchors.negligible)
        flush(gradient[m], tables, block, waiting)


class Places(NamedTuple):
    """Where the pairs of the tile at hand are.

    Row r has the columns from first_column[r] on and its pairs have the places from at[r] on, a
    whole number of vectors. Padding places hold finite garbage with weight 0.
    """

    first_column: np.ndarray  # (n_rows,)
    at: np.ndarray  # (n_rows + 1,)


class Waiting(NamedTuple):
    """Single pairs that wait until they fill the buffer of differences."""

    i: np.ndarray  # (n_buffer,): unsigned, so that no index counts from the end
    j: np.ndarray
    scale: np.ndarray
    n_and_sign: np.ndarray  # (2,): how many pairs wait, and their sign


class Block(NamedTuple):
    """The buffer of differences."""

    D: np.ndarray  # (features, n_buffer): all features where W is a matrix, else PANEL of them
    ones: np.ndarray  # (n_buffer,)
    products: np.ndarray | None  # (ROWS, n_buffer): products of differences; None without triples


class Sums(NamedTuple):
    """Floor, Z and Y of the rows and columns of the tile at hand."""

    rows: np.ndarray  # (3, n_rows)
    columns: np.ndarray  # (3, n_columns)


class EnergyBuffers(NamedTuple):
    """What the first sweep writes to."""

    places: Places
    block: Block
    sums: Sums
    q: np.ndarray  # (n_problems, places of a tile)
    tilted: np.ndarray  # the same: q less sigma log of the counts; q itself where all are 1


class ScatterBuffers(NamedTuple):
    """What the second sweep writes to."""

    places: Places
    block: Block
    sums: Sums
    coupling: np.ndarray  # (places of a tile,)
    waiting: Waiting


class Buffers(NamedTuple):
    """Scratch memory of one thread, of which the sweeps share what both need.

    In small groups, because functions are compiled faster for the few arrays that they need.
    """

    energy: EnergyBuffers
    scatter: ScatterBuffers
