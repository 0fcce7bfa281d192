"""Boltzmann factors of the pairs of one tile, and their sums over its rows and columns.

    Z_i = sum_j exp((level - q_ij) / sigma),   Y_i = sum_j q_ij exp((level - q_ij) / sigma)

and the same for the columns j. One exponential a pair, taken from the level of the tile, its
smallest q, which keeps exponents at or below 0. Where a tile spans more than SHARED_SPAN sigma,
one level would lose the rows far from it: each row and column then has its own, and a pair
needs two exponentials.
"""

from __future__ import annotations

import numpy as np

from immigrate.kernels.compiling import jit, jit_cached, jit_view
from immigrate.kernels.microkernels import exponential, extent
from immigrate.kernels.tile_distances import row_of
from immigrate.kernels.tiles import (
    COLUMN_CLASS,
    FIRST_COLUMN,
    FIRST_PAIR,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
    ROW_CLASS,
)

LEVEL, PARTITION, MOMENT = 0, 1, 2  # level, Z and Y in a state, (problem, class, 3, sample)
MISS, HIT = 0, 1
SHARED_SPAN = 600.0
FAR = 1e308  # level of a set without members; also marks a tile that has no shared level


@jit_view
def boltzmann_of(store, tile, m, n_places):
    """Where the Boltzmann factors of a tile live: in a place of their own, or in the scratch."""
    is_kept = tile[FIRST_PAIR] + n_places <= store.n_kept
    first = tile[FIRST_PAIR] if is_kept else store.scratch
    return store.boltzmann[m, first : first + n_places]


@jit
def set_boltzmann(e, q, sigma):
    """Set e = exp((level - q) / sigma), level = min q; e = q and level FAR where q spans a lot."""
    low, high = extent(q)
    level, per_sigma = np.float64(low), 1.0 / sigma
    if high - level >= SHARED_SPAN * sigma:
        for k in range(q.shape[0]):
            e[k] = q[k]
        return FAR
    for k in range(q.shape[0]):
        e[k] = exponential((level - q[k]) * per_sigma)
    return level


@jit
def sum_at_shared_level(buffers, tile, q, e, level):
    """Level, Z and Y of the rows and columns of a tile from one exponential a pair."""
    row, column = buffers.row_sums, buffers.column_sums
    row[LEVEL], column[LEVEL] = level, level
    column[PARTITION], column[MOMENT] = 0.0, 0.0
    forget_corners(buffers, tile)
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        q_r, e_r = row_of(q, buffers, tile, r), row_of(e, buffers, tile, r)
        skip = buffers.first_column[r] - tile[FIRST_COLUMN]
        z_c, y_c = column[PARTITION, skip:], column[MOMENT, skip:]
        z = y = 0.0
        for k in range(q_r.shape[0]):
            moment = e_r[k] * q_r[k]
            z, y = z + e_r[k], y + moment
            z_c[k] += e_r[k]
            y_c[k] += moment
        row[PARTITION, r], row[MOMENT, r] = z, y


@jit
def forget_corners(buffers, tile):
    """A tile on the diagonal has no pair for its first column, nor for a row that ends there."""
    last = tile[LAST_ROW] - tile[FIRST_ROW] - 1
    if buffers.first_column[last] == tile[LAST_COLUMN]:
        buffers.row_sums[LEVEL, last] = FAR
    if tile[IS_DIAGONAL]:
        buffers.column_sums[LEVEL, 0] = FAR


@jit
def sum_at_own_levels(buffers, tile, q, sigma):
    """The same with a level for each row and column: two exponentials a pair."""
    row, column = buffers.row_sums, buffers.column_sums
    column[LEVEL], column[PARTITION], column[MOMENT] = FAR, 0.0, 0.0
    n_rows = tile[LAST_ROW] - tile[FIRST_ROW]
    for r in range(n_rows):
        q_r = row_of(q, buffers, tile, r)
        level = column[LEVEL, buffers.first_column[r] - tile[FIRST_COLUMN] :]
        row[LEVEL, r] = extent(q_r)[0] if q_r.shape[0] > 0 else FAR
        for k in range(q_r.shape[0]):
            level[k] = min(level[k], q_r[k])
    for r in range(n_rows):
        q_r = row_of(q, buffers, tile, r)
        skip = buffers.first_column[r] - tile[FIRST_COLUMN]
        row[PARTITION, r], row[MOMENT, r] = row_sums(q_r, row[LEVEL, r], sigma)
        add_column_sums(run(column, skip, q_r.shape[0]), q_r, sigma)


@jit
def row_sums(q, level, sigma):
    """Z and Y of one row."""
    z, y, per_sigma = 0.0, 0.0, 1.0 / sigma
    for k in range(q.shape[0]):
        e = exponential((level - q[k]) * per_sigma)
        z, y = z + e, y + e * q[k]
    return z, y


@jit
def add_column_sums(sums, q, sigma):
    """Add one row to Z and Y of its columns."""
    level, z, y = sums
    per_sigma = 1.0 / sigma
    for k in range(q.shape[0]):
        e = exponential((level[k] - q[k]) * per_sigma)
        z[k] += e
        y[k] += e * q[k]


@jit
def merge_tile(state, buffers, tile, sigma, is_symmetric):
    """Add the sums of a tile to the state of its rows and, if they are anchors, its columns."""
    i, j = tile[FIRST_ROW], tile[FIRST_COLUMN]
    n_rows, n_columns = tile[LAST_ROW] - i, tile[LAST_COLUMN] - j
    merge(run(state[tile[COLUMN_CLASS]], i, n_rows), run(buffers.row_sums, 0, n_rows), sigma)
    if is_symmetric:
        sums = run(buffers.column_sums, 0, n_columns)
        merge(run(state[tile[ROW_CLASS]], j, n_columns), sums, sigma)


@jit_view
def run(sums, first, n):
    """(level, Z, Y) of a run of samples; three plain vectors, which the compiler likes best."""
    last = first + n
    return sums[LEVEL, first:last], sums[PARTITION, first:last], sums[MOMENT, first:last]


@jit
def merge(sums, others, sigma):
    """Bring two sets of (level, Z, Y) to the lower of their levels and add them up."""
    level, other_level, per_sigma = sums[LEVEL], others[LEVEL], 1.0 / sigma
    for kind in (PARTITION, MOMENT):
        total, other = sums[kind], others[kind]
        for k in range(level.shape[0]):
            low = min(level[k], other_level[k])
            mine = total[k] * exponential((low - level[k]) * per_sigma)
            total[k] = mine + other[k] * exponential((low - other_level[k]) * per_sigma)
    for k in range(level.shape[0]):
        level[k] = min(level[k], other_level[k])


@jit_cached
def merge_states(state, other, sigma):
    """Add the state of another part of the tiles to `state`."""
    n_problems, n_classes, _, n = state.shape
    for m in range(n_problems):
        for c in range(n_classes):
            merge(run(state[m, c], 0, n), run(other[m, c], 0, n), sigma[m])


@jit_cached
def split_hits_and_misses(state, starts, sigma, out):
    """(level, Z, Y) of each anchor's misses and hits, (problem, 2, 3, n), from those by class."""
    n_problems, n_classes, _, _ = state.shape
    for m in range(n_problems):
        for own in range(n_classes):
            first, n = starts[own], starts[own + 1] - starts[own]
            for c in range(n_classes):
                kind = HIT if c == own else MISS
                merge(run(out[m, kind], first, n), run(state[m, c], first, n), sigma[m])
