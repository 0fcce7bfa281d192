"""The first sweep on one tile: differences of its pairs, distances, Boltzmann factors, sums.

    D[a, k] = scale_k d_a(i, j)                            differences of the pairs k = (i, j)
    q_ij = d' W d  for a matrix W,   w' d  for a vector    distances
    Z_i = sum_j n_j exp((floor - q_ij) / sigma)            sums of Boltzmann factors,
    Y_i = sum_j n_j q_ij exp((floor - q_ij) / sigma)       and the same for the columns j

**Differences** are those of some rows, each against a run of columns, or of pairs picked one by
one. The kind of a feature is looked up once per feature and row, outside the loop over pairs, so
that categories and gaps cost n^2 p beside the n^2 p^2 of the form. For tables of plain numbers
`kinds` is None, and the branches for other kinds are not even compiled.

**Distances** cost p^2 / 2 multiply-adds per pair, or p, and one per triple. Rows of the tile go
through the buffer of differences in groups, as many as fit; for a vector W, PANEL features at a
time. The form is known when a function is compiled, by the dimensions of the weights and the type
of `products` (differences whose products stand in place of the first d, where triples have
weights), so each is machine code of its own.

**Boltzmann factors.** The floor is subtracted so that no exponent is above 0. One exponential per
pair, taken from the floor of the tile, its smallest q. Where a tile spans more than SHARED_SPAN
sigma, one floor would lose the rows far from it: each row and column then has its own, and a pair
needs two exponentials.

Counts n enter as a tilt of the distance, t_ij = q_ij - sigma log(n_i n_j), so that one exponential
of t serves both sides of a pair. The sums of sample i then come out n_i times too large, which
``passes`` corrects: it takes log n_i off log Z_i. Where nothing is counted t is q itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.compiling import jit, jit_cached, jit_inlined
from immigrate.kernels.layout import (
    COLUMN_CLASS,
    COMPLETE,
    FIRST_COLUMN,
    FIRST_PAIR,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
    ROW_CLASS,
    SERVES_COLUMNS,
    SERVES_ROWS,
    Kinds,
)
from immigrate.kernels.microkernels import (
    add_linear_form,
    add_product_form,
    add_quadratic_form,
    exponential,
    extent,
    whole_vectors,
)

FLOOR, PARTITION, MOMENT = 0, 1, 2  # floor, Z and Y in a state, (problem, class, 3, sample)
# In units of sigma: exp(600) and exp(-600) are both well within the range of float64.
SHARED_SPAN = 600.0
# Finite, because the difference of two infinities is no number.
EMPTY = 1e308  # floor of a set without members
NOT_SHARED = np.inf  # in place of the floor of a tile whose rows and columns have their own


class Tables(NamedTuple):
    """The samples that meet, feature by feature, and how their differences are taken."""

    rows: np.ndarray  # (p, n_rows + LANES)
    columns: np.ndarray  # (p, n_columns + LANES)
    kinds: Kinds | None  # None if all features are numbers without gaps
    products: np.ndarray | None  # see ``layout``; None if no triple has a weight


class Group(NamedTuple):
    """Rows of a tile whose pairs fill the buffer together, and the features at hand."""

    first_row: int
    first_column: np.ndarray  # (n_rows,): of each row
    at: np.ndarray  # (n_rows + 1,): first place of each row in the tile
    first_feature: int
    last_feature: int


@jit
def fill_group(D, tables, kinds, group, scale):
    """Differences of a group of rows.

    Whole vectors, up to LANES - 1 columns too many: the table of the columns goes on that long.
    """
    a, b = group.first_feature, group.last_feature
    for r in range(group.first_column.shape[0]):
        i, first = group.first_row + r, group.first_column[r]
        at, end = group.at[r] - group.at[0], group.at[r + 1] - group.at[0]
        if kinds is None:
            fill_row(D, tables.rows[a:b, i], tables.columns[a:b], (at, end, first), scale)
        else:
            for f in range(a, b):
                d = D[f - a, at:end]
                fill_run(d, tables, kinds, (f, i, first), scale[at:end])


@jit
def fill_row(D, x, X, run, scale):
    """D[a, k] = scale_k |x_a - X_aj| in the places k of one sample's run of columns j of X."""
    at, end, first = run
    for a in range(x.shape[0]):
        d, x_a, X_a, scale_k = D[a, at:end], x[a], X[a, first : first + end - at], scale[at:end]
        for k in range(end - at):
            d[k] = abs(x_a - X_a[k]) * scale_k[k]


@jit_inlined
def fill_run(d, tables, kinds, start, scale):
    """Differences of one feature of any kind, one sample against a run of columns."""
    (f, i, first), n_pairs = start, d.shape[0]
    x, X = tables.rows[f, i], tables.columns[f, first : first + n_pairs]
    gap, zero = kinds.gap[f], d.dtype.type(0)
    # The whole run at once: the difference from a missing value depends on the column only.
    if gap != COMPLETE and x != x:  # not a number: the value of the row is missing
        expected = kinds.column_expected[gap, first : first + n_pairs]
        for k in range(n_pairs):
            d[k] = expected[k] * scale[k]
        return
    # One loop per kind, each a line without branches, which the compiler turns into vectors.
    expected_i = zero if gap == COMPLETE else kinds.row_expected[gap, i]
    if kinds.is_nominal[f]:
        mismatch = kinds.mismatch[f]
        for k in range(n_pairs):
            d[k] = (expected_i if X[k] != X[k] else mismatch if x != X[k] else zero) * scale[k]
    elif kinds.period[f] < np.inf:
        period = kinds.period[f]
        for k in range(n_pairs):
            line = abs(x - X[k])
            d[k] = (expected_i if X[k] != X[k] else min(line, period - line)) * scale[k]
    elif gap == COMPLETE:
        for k in range(n_pairs):
            d[k] = abs(x - X[k]) * scale[k]
    else:
        for k in range(n_pairs):
            d[k] = (expected_i if X[k] != X[k] else abs(x - X[k])) * scale[k]


@jit
def fill_pairs(D, tables, kinds, features, picked):
    """Differences of the first of some pairs, picked one by one, in the features a : b."""
    (a, b, n_pairs), (i, j, scale) = features, picked
    for f in range(a, b):
        d, x, X = D[f - a], tables.rows[f], tables.columns[f]
        for k in range(n_pairs):
            if kinds is None:
                d[k] = abs(x[i[k]] - X[j[k]]) * scale[k]
            else:
                d[k] = difference(tables, kinds, f, i[k], j[k]) * scale[k]


@jit
def difference(tables, kinds, f, i, j):
    """Difference of one pair in a feature of any kind."""
    x, X = tables.rows[f, i], tables.columns[f, j]
    gap = kinds.gap[f]
    if gap != COMPLETE:
        if x != x:
            return kinds.column_expected[gap, j]
        if X != X:
            return kinds.row_expected[gap, i]
    if kinds.is_nominal[f]:
        return kinds.mismatch[f] if x != X else kinds.mismatch.dtype.type(0)
    line = abs(x - X)
    return min(line, kinds.period[f] - line)  # on a line the period is infinite


@jit
def lay_rows(places, tile):
    """Give each pair of a tile a place, row after row; returns how many places there are."""
    at = 0
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        first = tile[FIRST_COLUMN] + (r + 1 if tile[IS_DIAGONAL] else 0)
        places.first_column[r], places.at[r] = first, at
        at += whole_vectors(tile[LAST_COLUMN] - first)
        places.at[r + 1] = at
    return at


@jit_inlined
def row_of(values, places, tile, r):
    """Values of the pairs of one row, without the places added to fill the last vector."""
    n_pairs = tile[LAST_COLUMN] - places.first_column[r]
    return values[places.at[r] : places.at[r] + n_pairs]


@jit
def end_of_group(at, r, n_rows, n_buffer):
    """End of the group of rows, from r on, whose pairs go into the buffer together."""
    # One row always fits: the buffer is at least as long as a row of a tile.
    end = r + 1
    while end < n_rows and at[end + 1] - at[r] <= n_buffer:
        end += 1
    return end


@jit_inlined
def group_of(places, tile, rows, features):
    """Some rows of a tile, and the features of them that are at hand."""
    r, end = rows
    first_column, at = places.first_column[r:end], places.at[r : end + 1]
    return Group(tile[FIRST_ROW] + r, first_column, at, features[0], features[1])


@jit_inlined
def set_distances(q, block, tables, weights, laid_tile):
    """Distances q of all pairs of a tile for all problems, which share the differences."""
    places, tile = laid_tile
    at, n_rows, r = places.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    (p, panel), n_buffer = (tables.columns.shape[0], block.D.shape[0]), block.ones.shape[0]
    while r < n_rows:
        end = end_of_group(at, r, n_rows, n_buffer)
        for m in range(q.shape[0]):
            # Forms are added up: a vector meets its features panel by panel.
            q[m, at[r] : at[end]] = 0
        for a in range(0, p, panel):
            b = min(a + panel, p)
            group = group_of(places, tile, (r, end), (a, b))
            # Once for all problems: they differ in weights and sigma and share the differences.
            fill_group(block.D, tables, tables.kinds, group, block.ones)
            for m in range(q.shape[0]):
                add_form(q[m, at[r] : at[end]], block, weights[m], (a, b), tables.products)
        r = end


@jit
def add_form(q, block, W, features, products):
    """q_k += d' W d for a matrix; for a vector, the part w' d of the features at hand."""
    if products is None:
        if W.ndim == 2:
            add_quadratic_form(q, block.D, W)
        else:
            add_linear_form(q, block.D, W[features[0] : features[1]])
    else:
        add_product_form(q, block, W, products)


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
