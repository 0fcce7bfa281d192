"""The two sweeps over all pairs of samples, tile by tile.

    first    Z_nc = sum_{j in c} exp(-q_nj / sigma),   Y_nc = sum_{j in c} q_nj exp(-q_nj / sigma)
    second   Sigma = sum_{i < j} +-c_ij d d',
             c_ij = D_i exp((F_i - q_ij) / sigma) + D_j exp((F_j - q_ij) / sigma)

with F the free energy of an anchor's hits in a pair of one class (sign +), of its misses in any
other pair (sign -). A pair is visited once and serves both its anchors. Cost for n samples and a
p x p matrix W: n^2 p^2 / 4 multiply-adds and n^2 / 2 exponentials a sweep; for a vector W, p in
place of p^2. Memory: one tile of pairs and one buffer of differences, and what the first sweep
stores for the second if there is room for it, n^2 / 2 numbers a problem.

Exponents are taken from the level of a tile, its smallest q, which keeps them at or below 0.
Where a tile spans more than SHARED_SPAN sigma, one level would lose the rows far from it: every
row and column then has its own, and a pair needs two exponentials.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.microkernels import (
    LANES,
    add_linear_form,
    add_quadratic_form,
    add_scatter,
    add_sums,
    aligned_buffer,
    exponential,
    fill_pairs,
    fill_row,
    jit,
)
from immigrate.kernels.tiles import (
    COLUMN_CLASS,
    FIRST_COLUMN,
    FIRST_PAIR,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
    ROW_CLASS,
    TileShape,
)

LEVEL, PARTITION, MOMENT = 0, 1, 2  # level, Z and Y of every (problem, class, sample)
MISS, HIT = 0, 1

SHARED_SPAN = 600.0
FAR = 1e308  # level of a set without members; also marks a tile that has no shared level
PANEL = 32  # features in the buffer at a time where W is a vector


class Sweep(NamedTuple):
    """What both sweeps read: feature-major tables, the tiles, and W and sigma of each problem."""

    rows: np.ndarray  # (p, n_rows)
    columns: np.ndarray  # (p, n)
    tiles: np.ndarray  # (n_tiles + 1, 8)
    weights: np.ndarray  # (n_problems, p, p) upper triangular, or (n_problems, p)
    sigma: np.ndarray  # (n_problems,)
    shape: TileShape
    is_symmetric: bool  # rows and columns are the same samples


class Store(NamedTuple):
    """What the first sweep leaves for the second."""

    boltzmann: np.ndarray  # (n_problems, n_pairs), or (n_problems, 0): compute it again
    level: np.ndarray  # (n_problems, n_tiles)


class Anchors(NamedTuple):
    """What the couplings are made of, beside q."""

    weight: np.ndarray  # (n,)
    free_energy: np.ndarray  # (n_problems, 2, n): of the misses, of the hits
    negligible: float  # couplings below this do not change the sum


class Buffers(NamedTuple):
    """Scratch memory of one call.

    Row r of the tile at hand has the columns first_column[r] : and the pairs at[r] : at[r + 1].
    """

    first_column: np.ndarray
    at: np.ndarray
    D: np.ndarray  # (p or PANEL, n_buffer)
    ones: np.ndarray  # (n_buffer,)
    q: np.ndarray  # (n_problems, pairs of a tile)
    boltzmann: np.ndarray  # (n_problems, pairs of a tile)
    coupling: np.ndarray  # (pairs of a tile,)
    row_sums: np.ndarray  # (3, n_rows): level, Z, Y
    column_sums: np.ndarray  # (3, n_columns)


class Pending(NamedTuple):
    """Single pairs that wait until they fill the buffer."""

    i: np.ndarray  # (n_buffer,)
    j: np.ndarray
    scale: np.ndarray
    count_and_sign: np.ndarray  # (2,)


@jit
def energy_sweep(sweep, tile_range, store, state):
    """First sweep: level, Z and Y of every (problem, class, sample) into `state`."""
    buffers = new_buffers(sweep)
    n_problems = sweep.sigma.shape[0]
    for t in range(tile_range[0], tile_range[1]):
        tile = sweep.tiles[t]
        n_pairs = lay_rows(buffers, tile)
        set_distances(buffers, sweep, tile, (0, n_problems))
        for m in range(n_problems):
            q, sigma = buffers.q[m, :n_pairs], sweep.sigma[m]
            e = boltzmann_of(store, buffers, tile, m, n_pairs)
            level = set_boltzmann(e, q, sigma)
            store.level[m, t] = level
            if level < FAR:
                sum_at_shared_level(buffers, tile, q, e, level)
            else:
                sum_at_own_levels(buffers, tile, q, sigma)
            merge_tile(state[:, m], buffers, tile, sigma, sweep.is_symmetric)


@jit
def scatter_sweep(sweep, tile_range, store, anchors, gradient):
    """Second sweep: the sum of +-c_ij d d' (or d) of every problem added to `gradient`."""
    buffers, pending = new_buffers(sweep), new_pending(sweep)
    for m in range(sweep.sigma.shape[0]):
        for t in range(tile_range[0], tile_range[1]):
            tile = sweep.tiles[t]
            n_pairs = lay_rows(buffers, tile)
            e = boltzmann_of(store, buffers, tile, m, n_pairs)
            if store.boltzmann.shape[1] == 0:
                set_distances(buffers, sweep, tile, (m, m + 1))
                set_boltzmann(e, buffers.q[m, :n_pairs], sweep.sigma[m])
            set_couplings(buffers, tile, e, anchors, (m, store.level[m, t], sweep.sigma[m]))
            add_tile(gradient[m], sweep, buffers, pending, (t, anchors.negligible))
        flush(gradient[m], sweep, buffers, pending)


@jit
def new_buffers(sweep):
    """Scratch memory for tiles of the sweep's shape."""
    shape, X = sweep.shape, sweep.columns
    n_problems, n_pairs = sweep.sigma.shape[0], shape.n_rows * shape.n_columns
    return Buffers(
        np.empty(shape.n_rows, np.int64),
        np.empty(shape.n_rows + 1, np.int64),
        aligned_buffer(panel_size(sweep.weights), shape.n_buffer, X),
        np.ones(shape.n_buffer, X.dtype),
        aligned_buffer(n_problems, n_pairs + LANES, X),
        np.empty((n_problems, n_pairs)),
        np.empty(n_pairs, X.dtype),
        np.empty((3, shape.n_rows)),
        np.empty((3, shape.n_columns)),
    )


@jit
def new_pending(sweep):
    """An empty list of pairs; unsigned numbers need no check for counting from the end."""
    n = sweep.shape.n_buffer
    i, j = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    return Pending(i, j, np.zeros(n, sweep.columns.dtype), np.zeros(2, np.int64))


@jit
def panel_size(weights):
    """Features that must be in the buffer together: all of them where W is a matrix."""
    if weights.ndim == 3:
        return weights.shape[1]
    return min(weights.shape[1], PANEL)


@jit
def lay_rows(buffers, tile):
    """Number the pairs of a tile row after row; returns how many there are."""
    at = 0
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        first = tile[FIRST_COLUMN] + (r + 1 if tile[IS_DIAGONAL] else 0)
        buffers.first_column[r], buffers.at[r] = first, at
        at += tile[LAST_COLUMN] - first
        buffers.at[r + 1] = at
    return at


@jit
def end_of_group(at, r, n_rows, n_buffer):
    """End of the group of rows, from r on, whose pairs go into the buffer together."""
    end = r + 1
    while end < n_rows and at[end + 1] - at[r] <= n_buffer:
        end += 1
    return end


@jit
def fill_group(buffers, sweep, tile, group, scale):
    """Differences of the features a : b for the rows r : end of a tile, into the buffer."""
    r, end, a, b = group
    start = buffers.at[r]
    for s in range(r, end):
        first, last = buffers.at[s] - start, buffers.at[s + 1] - start
        x = sweep.rows[a:b, tile[FIRST_ROW] + s]
        columns = (buffers.first_column[s], tile[LAST_COLUMN])
        fill_row(buffers.D[:, first:last], x, sweep.columns[a:b], columns, scale[first:last])


@jit
def set_distances(buffers, sweep, tile, problems):
    """Q of every pair of a tile, for a range of problems; the differences are shared."""
    at, n_rows, r = buffers.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    p, panel = sweep.columns.shape[0], buffers.D.shape[0]
    while r < n_rows:
        end = end_of_group(at, r, n_rows, sweep.shape.n_buffer)
        # Whole vectors: what runs over is set anew by the next group, or never read.
        last = at[r] + whole_vectors(at[end] - at[r])
        buffers.q[problems[0] : problems[1], at[r] : last] = 0
        for a in range(0, p, panel):
            b = min(a + panel, p)
            fill_group(buffers, sweep, tile, (r, end, a, b), buffers.ones)
            for m in range(problems[0], problems[1]):
                add_form(buffers.q[m, at[r] : last], buffers.D, sweep.weights[m], a, b)
        r = end


@jit
def whole_vectors(n_pairs):
    """`n_pairs` rounded up to whole vectors."""
    return -(-n_pairs // LANES) * LANES


@jit
def add_form(q, D, W, a, b):
    """q_k += d' W d for a matrix; for a vector, the part w' d of the features a : b."""
    if W.ndim == 2:
        add_quadratic_form(q, D, W)
    else:
        add_linear_form(q, D, W[a:b])


@jit
def boltzmann_of(store, buffers, tile, m, n_pairs):
    """Where the Boltzmann factors of a tile live: in the store if there is one."""
    if store.boltzmann.shape[1] > 0:
        return store.boltzmann[m, tile[FIRST_PAIR] : tile[FIRST_PAIR] + n_pairs]
    return buffers.boltzmann[m, :n_pairs]


@jit
def set_boltzmann(e, q, sigma):
    """E = exp((level - q) / sigma), level = min q; or e = q and FAR where q spans too much."""
    low = high = q[0]
    for k in range(q.shape[0]):
        low, high = min(low, q[k]), max(high, q[k])
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
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        q_r, e_r = q[buffers.at[r] : buffers.at[r + 1]], e[buffers.at[r] : buffers.at[r + 1]]
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
def sum_at_own_levels(buffers, tile, q, sigma):
    """The same with a level for each row and column: two exponentials a pair."""
    row, column, per_sigma = buffers.row_sums, buffers.column_sums, 1.0 / sigma
    row[LEVEL], column[LEVEL] = FAR, FAR
    column[PARTITION], column[MOMENT] = 0.0, 0.0
    n_rows = tile[LAST_ROW] - tile[FIRST_ROW]
    for r in range(n_rows):
        q_r = q[buffers.at[r] : buffers.at[r + 1]]
        level = column[LEVEL, buffers.first_column[r] - tile[FIRST_COLUMN] :]
        for k in range(q_r.shape[0]):
            row[LEVEL, r] = min(row[LEVEL, r], q_r[k])
            level[k] = min(level[k], q_r[k])
    for r in range(n_rows):
        q_r = q[buffers.at[r] : buffers.at[r + 1]]
        sums = column[:, buffers.first_column[r] - tile[FIRST_COLUMN] :]
        z = y = 0.0
        for k in range(q_r.shape[0]):
            e = exponential((row[LEVEL, r] - q_r[k]) * per_sigma)
            z, y = z + e, y + e * q_r[k]
            e = exponential((sums[LEVEL, k] - q_r[k]) * per_sigma)
            sums[PARTITION, k] += e
            sums[MOMENT, k] += e * q_r[k]
        row[PARTITION, r], row[MOMENT, r] = z, y


@jit
def merge_tile(state, buffers, tile, sigma, is_symmetric):
    """Add the sums of a tile to the state of its rows and, if they are anchors, its columns."""
    i0, i1, j0, j1 = tile[FIRST_ROW], tile[LAST_ROW], tile[FIRST_COLUMN], tile[LAST_COLUMN]
    merge(state[:, tile[COLUMN_CLASS], i0:i1], buffers.row_sums, sigma)
    if is_symmetric:
        merge(state[:, tile[ROW_CLASS], j0:j1], buffers.column_sums, sigma)


@jit
def merge(state, sums, sigma):
    """Bring two sets of (level, Z, Y) to the lower of their levels and add them up."""
    level, z, y = state[LEVEL], state[PARTITION], state[MOMENT]
    other_level, other_z, other_y = sums[LEVEL], sums[PARTITION], sums[MOMENT]
    per_sigma = 1.0 / sigma
    for k in range(level.shape[0]):
        theirs = other_level[k] if other_z[k] > 0 else FAR
        low = min(level[k], theirs)
        shrink = exponential((low - level[k]) * per_sigma)
        other_shrink = exponential((low - theirs) * per_sigma)
        level[k] = low
        z[k] = z[k] * shrink + other_z[k] * other_shrink
        y[k] = y[k] * shrink + other_y[k] * other_shrink


@jit
def set_couplings(buffers, tile, e, anchors, at_level):
    """c_ij of every pair of a tile: what both anchors give it together."""
    m, level, sigma = at_level
    i0, j0 = tile[FIRST_ROW], tile[FIRST_COLUMN]
    is_hit = HIT if tile[ROW_CLASS] == tile[COLUMN_CLASS] else MISS
    F, weight = anchors.free_energy[m, is_hit], anchors.weight
    if level < FAR:
        set_pulls(buffers.row_sums[0], F[i0 : tile[LAST_ROW]], weight[i0:], level, sigma)
        set_pulls(buffers.column_sums[0], F[j0 : tile[LAST_COLUMN]], weight[j0:], level, sigma)
    for r in range(tile[LAST_ROW] - i0):
        first = buffers.first_column[r]
        pairs = slice(buffers.at[r], buffers.at[r + 1])
        c, e_r = buffers.coupling[pairs], e[pairs]
        if level < FAR:
            pull, pulls = buffers.row_sums[0, r], buffers.column_sums[0, first - j0 :]
            for k in range(c.shape[0]):
                c[k] = e_r[k] * (pull + pulls[k])
        else:
            couple_row(c, e_r, (F[i0 + r], weight[i0 + r]), F[first:], weight[first:], sigma)


@jit
def set_pulls(pull, F, weight, level, sigma):
    """D_n exp((F_n - level) / sigma), what anchor n multiplies a Boltzmann factor by.

    F_n is at most any q of the anchor, so the exponent is below SHARED_SPAN; the bound is for
    anchors at a corner of the diagonal that have no pair in the tile.
    """
    per_sigma = 1.0 / sigma
    for k in range(F.shape[0]):
        exponent = min((F[k] - level) * per_sigma, SHARED_SPAN + 1.0)
        pull[k] = weight[k] * exponential(exponent)


@jit
def couple_row(c, q, anchor, F, weight, sigma):
    """c_ij of one anchor with a run of others, an exponential for each side."""
    F_i, weight_i = anchor
    per_sigma = 1.0 / sigma
    for k in range(c.shape[0]):
        mine = weight_i * exponential(min((F_i - q[k]) * per_sigma, 0.0))
        c[k] = mine + weight[k] * exponential(min((F[k] - q[k]) * per_sigma, 0.0))


@jit
def add_tile(gradient, sweep, buffers, pending, tile_and_limit):
    """Add a tile's pairs to the gradient: all at once, or the few that count to the waiting list."""
    t, negligible = tile_and_limit
    tile = sweep.tiles[t]
    c = buffers.coupling[: buffers.at[tile[LAST_ROW] - tile[FIRST_ROW]]]
    n_counting = count_above(c, negligible)
    if n_counting == 0:
        return
    sign = 1 if tile[ROW_CLASS] == tile[COLUMN_CLASS] else -1
    if 2 * n_counting > c.shape[0] and 2 * c.shape[0] > sweep.shape.n_buffer:
        set_scale(c, c, gradient)
        add_all(gradient, sweep, buffers, tile, sign)
    else:
        if sign != pending.count_and_sign[1]:
            flush(gradient, sweep, buffers, pending)
            pending.count_and_sign[1] = sign
        for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
            c_r = c[buffers.at[r] : buffers.at[r + 1]]
            n_row = count_above(c_r, negligible)
            if n_row == 0:
                continue
            if pending.count_and_sign[0] + n_row > pending.scale.shape[0]:
                flush(gradient, sweep, buffers, pending)
            append_row(pending, tile[FIRST_ROW] + r, buffers.first_column[r], c_r, negligible)


@jit
def count_above(c, negligible):
    """Number of couplings that can change the sum."""
    n = 0
    for k in range(c.shape[0]):
        n += c[k] > negligible
    return n


@jit
def append_row(pending, i, first_column, c, negligible):
    """Put the pairs of a row that count on the waiting list."""
    at = pending.count_and_sign[0]
    for k in range(c.shape[0]):
        if c[k] > negligible:
            pending.i[at], pending.j[at] = i, first_column + k
            pending.scale[at] = c[k]
            at += 1
    pending.count_and_sign[0] = at


@jit
def set_scale(scale, c, gradient):
    """What a difference is multiplied by: for d d' each of the two has the root of c."""
    if gradient.ndim == 2:
        for k in range(c.shape[0]):
            scale[k] = np.sqrt(c[k])


@jit
def add_all(gradient, sweep, buffers, tile, sign):
    """Add every pair of a tile to the gradient."""
    at, n_rows, r = buffers.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    p, panel = sweep.columns.shape[0], buffers.D.shape[0]
    while r < n_rows:
        end = end_of_group(at, r, n_rows, sweep.shape.n_buffer)
        n_pairs = at[end] - at[r]
        for a in range(0, p, panel):
            b = min(a + panel, p)
            fill_group(buffers, sweep, tile, (r, end, a, b), buffers.coupling[at[r] : at[end]])
            buffers.D[:, n_pairs : whole_vectors(n_pairs)] = 0
            add_statistic(gradient, buffers.D, sign * whole_vectors(n_pairs), a, b)
        r = end


@jit
def flush(gradient, sweep, buffers, pending):
    """Add the waiting pairs to the gradient."""
    n_pairs, sign = pending.count_and_sign
    n_whole = whole_vectors(n_pairs)
    pending.scale[n_pairs:n_whole] = 0
    scale = pending.scale[:n_whole]
    set_scale(scale, scale, gradient)
    p, panel = sweep.columns.shape[0], buffers.D.shape[0]
    for a in range(0, p if n_pairs > 0 else 0, panel):
        b = min(a + panel, p)
        fill_pairs(buffers.D, sweep.columns[a:b], pending.i, pending.j, scale)
        add_statistic(gradient, buffers.D, sign * n_whole, a, b)
    pending.count_and_sign[0] = 0


@jit
def add_statistic(gradient, D, signed_count, a, b):
    """Add +-(sum of d d') for a matrix; for a vector, +-(sum of d) of the features a : b."""
    sign = 1.0 if signed_count > 0 else -1.0
    if gradient.ndim == 2:
        add_scatter(gradient, D, sign, abs(signed_count))
    else:
        add_sums(gradient[a:b], D, sign, abs(signed_count))


@jit
def merge_states(state, other, sigma):
    """Add the state of another part of the tiles to `state`."""
    for m in range(sigma.shape[0]):
        for c in range(state.shape[2]):
            merge(state[:, m, c], other[:, m, c], sigma[m])
