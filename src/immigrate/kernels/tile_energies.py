"""Boltzmann factors of the pairs of one tile, and their sums over its rows and columns.

    Z_i = sum_j n_j exp((floor - q_ij) / sigma),   Y_i = sum_j n_j q_ij exp((floor - q_ij) / sigma)

and the same for the columns j. The floor is subtracted so that no exponent is above 0. One
exponential per pair, taken from the floor of the tile, its smallest q. Where a tile spans more
than SHARED_SPAN sigma, one floor would lose the rows far from it: each row and column then has
its own, and a pair needs two exponentials.

Counts n enter as a tilt of the distance, t_ij = q_ij - sigma log(n_i n_j), so that one exponential
of t serves both sides of a pair. The sums of sample i then come out n_i times too large, which
``states`` corrects: it takes log n_i off log Z_i. Where nothing is counted t is q itself.
"""

from __future__ import annotations

import numpy as np

from immigrate.kernels.compiling import jit, jit_cached, jit_inlined
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
    SERVES_COLUMNS,
    SERVES_ROWS,
)

FLOOR, PARTITION, MOMENT = 0, 1, 2  # floor, Z and Y in a state, (problem, class, 3, sample)
# In units of sigma: exp(600) and exp(-600) are both well within the range of float64.
SHARED_SPAN = 600.0
# Finite, because the difference of two infinities is no number.
EMPTY = 1e308  # floor of a set without members
NOT_SHARED = np.inf  # in place of the floor of a tile whose rows and columns have their own


@jit_inlined
def boltzmann_of(stretch, tile, m, n_places):
    """Where the Boltzmann factors of a tile live: in a place of their own, or all in the same."""
    first = tile[FIRST_PAIR] - stretch.first_pair if stretch.is_kept else 0
    return stretch.boltzmann[m, first : first + n_places]


@jit
def set_tilted(tilted, q, tilt, places, tile):
    """t_ij = q_ij - sigma log n_i - sigma log n_j of all pairs of a tile, for all problems."""
    if tilt is None:
        return
    for m in range(q.shape[0]):
        for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
            at, end, first = places.at[r], places.at[r + 1], places.first_column[r]
            own = tilt.rows[m, tile[FIRST_ROW] + r]
            # Padding lies beyond the last column; the tilts are padded with zeros for it.
            others = tilt.columns[m, first : first + end - at]
            for k in range(end - at):
                tilted[m, at + k] = q[m, at + k] - (own + others[k])


@jit
def set_boltzmann(boltzmann, t, sigma):
    """Set exp((floor - t) / sigma), floor = min t; t itself and NOT_SHARED where t spans a lot."""
    # The places that fill the last vector take part: what is in them is finite, and at worst
    # lowers the floor or widens the span.
    low, high = extent(t)
    floor, per_sigma = np.float64(low), 1.0 / sigma
    if high - floor >= SHARED_SPAN * sigma:
        for k in range(t.shape[0]):
            boltzmann[k] = t[k]
        return NOT_SHARED
    for k in range(t.shape[0]):
        boltzmann[k] = exponential((floor - t[k]) * per_sigma)
    return floor


@jit
def set_floors(sums, places, tile, floor):
    """Give the rows and columns of a tile its floor, unless they have no pair in it.

    That is the first column of a tile on the diagonal, and a row that ends there.
    """
    sums.rows[FLOOR], sums.columns[FLOOR] = floor, floor
    last = tile[LAST_ROW] - tile[FIRST_ROW] - 1
    if places.first_column[last] == tile[LAST_COLUMN]:
        sums.rows[FLOOR, last] = EMPTY
    if tile[IS_DIAGONAL]:
        sums.columns[FLOOR, 0] = EMPTY


@jit
def sum_at_shared_floor(sums, places, tile, q, boltzmann):
    """Z and Y of the rows and columns of a tile from one exponential per pair."""
    row, column = sums.rows, sums.columns
    column[PARTITION], column[MOMENT] = 0.0, 0.0
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        q_r, b_r = row_of(q, places, tile, r), row_of(boltzmann, places, tile, r)
        skip = places.first_column[r] - tile[FIRST_COLUMN]
        z_c, y_c = column[PARTITION, skip:], column[MOMENT, skip:]
        z = y = 0.0
        for k in range(q_r.shape[0]):
            moment = b_r[k] * q_r[k]
            z, y = z + b_r[k], y + moment
            z_c[k] += b_r[k]
            y_c[k] += moment
        row[PARTITION, r], row[MOMENT, r] = z, y


@jit
def sum_at_own_floors(sums, places, tile, q_and_t, sigma):
    """The same with a floor for each row and column: two exponentials per pair."""
    row, column, (q, t) = sums.rows, sums.columns, q_and_t
    column[FLOOR], column[PARTITION], column[MOMENT] = EMPTY, 0.0, 0.0
    n_rows = tile[LAST_ROW] - tile[FIRST_ROW]
    for r in range(n_rows):
        t_r = row_of(t, places, tile, r)
        floor = column[FLOOR, places.first_column[r] - tile[FIRST_COLUMN] :]
        row[FLOOR, r] = extent(t_r)[0] if t_r.shape[0] > 0 else EMPTY
        for k in range(t_r.shape[0]):
            floor[k] = min(floor[k], t_r[k])
    for r in range(n_rows):
        q_r, t_r = row_of(q, places, tile, r), row_of(t, places, tile, r)
        skip = places.first_column[r] - tile[FIRST_COLUMN]
        row[PARTITION, r], row[MOMENT, r] = row_sums(q_r, t_r, row[FLOOR, r], sigma)
        add_column_sums(run(column, skip, q_r.shape[0]), q_r, t_r, sigma)


@jit
def row_sums(q, t, floor, sigma):
    """Z and Y of one row."""
    z, y, per_sigma = 0.0, 0.0, 1.0 / sigma
    for k in range(q.shape[0]):
        boltzmann = exponential((floor - t[k]) * per_sigma)
        z, y = z + boltzmann, y + boltzmann * q[k]
    return z, y


@jit
def add_column_sums(sums, q, t, sigma):
    """Add one row to Z and Y of its columns."""
    floor, z, y = sums
    per_sigma = 1.0 / sigma
    for k in range(q.shape[0]):
        boltzmann = exponential((floor[k] - t[k]) * per_sigma)
        z[k] += boltzmann
        y[k] += boltzmann * q[k]


@jit_inlined
def merge_tile(state, sums, tile, sigma):
    """Add the sums of a tile to the state of those of its rows and columns that are anchors."""
    i, j = tile[FIRST_ROW], tile[FIRST_COLUMN]
    n_rows, n_columns = tile[LAST_ROW] - i, tile[LAST_COLUMN] - j
    if tile[SERVES_ROWS]:
        merge(run(state[tile[COLUMN_CLASS]], i, n_rows), run(sums.rows, 0, n_rows), sigma)
    if tile[SERVES_COLUMNS]:
        merge(run(state[tile[ROW_CLASS]], j, n_columns), run(sums.columns, 0, n_columns), sigma)


@jit_inlined
def run(sums, first, n):
    """(floor, Z, Y) of a run of samples; three plain vectors, which the compiler likes best."""
    last = first + n
    return sums[FLOOR, first:last], sums[PARTITION, first:last], sums[MOMENT, first:last]


@jit
def merge(sums, others, sigma):
    """Bring two sets of (floor, Z, Y) to the lower of their floors and add them up."""
    floor, other_floor, per_sigma = sums[FLOOR], others[FLOOR], 1.0 / sigma
    for kind in (PARTITION, MOMENT):
        total, other = sums[kind], others[kind]
        for k in range(floor.shape[0]):
            # Exponents are never above 0. An empty set has Z = Y = 0, whatever its floor is.
            low = min(floor[k], other_floor[k])
            mine = total[k] * exponential((low - floor[k]) * per_sigma)
            total[k] = mine + other[k] * exponential((low - other_floor[k]) * per_sigma)
    for k in range(floor.shape[0]):
        floor[k] = min(floor[k], other_floor[k])


@jit_cached
def merge_states(state, other, sigma):
    """Add the state of another part of the tiles to `state`."""
    n_problems, n_classes, _, n = state.shape
    for m in range(n_problems):
        for c in range(n_classes):
            merge(run(state[m, c], 0, n), run(other[m, c], 0, n), sigma[m])
