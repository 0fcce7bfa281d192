"""The share of one tile in the gradient.

    sum_{i < j} +-c_ij d d',   c_ij = D_i / Z_i exp((floor_i - t_ij) / sigma) + the same for j

or d in place of d d' where W is a vector; floor and Z are those of the hits in a pair of one
class, of the misses in any other. D_n / Z_n is called the pull of anchor n. Z enters and not the
free energy, because floor - sigma log Z is the floor itself where sigma is small.

p^2 / 2 multiply-adds per pair whose coupling c counts, none for the others: where few count, as
they do at small sigma, they are picked one by one and wait until they fill the buffer of
differences.
"""

from __future__ import annotations

import numpy as np

from immigrate.kernels.compiling import jit
from immigrate.kernels.microkernels import (
    add_scatter,
    add_sums,
    exponential,
    whole_vectors,
)
from immigrate.kernels.tile_differences import fill_mixed_pairs, fill_pairs
from immigrate.kernels.tile_distances import (
    end_of_group,
    fill_group,
    fill_mixed_group,
    row_of,
)
from immigrate.kernels.tile_energies import HIT, MISS, NOT_SHARED, SHARED_SPAN
from immigrate.kernels.tiles import (
    COLUMN_CLASS,
    FIRST_COLUMN,
    FIRST_ROW,
    LAST_COLUMN,
    LAST_ROW,
    ROW_CLASS,
    SERVES_COLUMNS,
    SERVES_ROWS,
)


@jit
def set_couplings(buffers, tile, boltzmann, anchors, at_floor):
    """c_ij of every pair of a tile: what both anchors give it together."""
    m, floor, sigma = at_floor
    i0, j0 = tile[FIRST_ROW], tile[FIRST_COLUMN]
    kind = HIT if tile[ROW_CLASS] == tile[COLUMN_CLASS] else MISS
    floors, pull = anchors.floor[m, kind], anchors.pull[m, kind]
    row, column = buffers.row_sums[0], buffers.column_sums[0]
    # A sample that does not meet its references in this tile pulls at none of its pairs.
    row_part = 1.0 if tile[SERVES_ROWS] else 0.0
    column_part = 1.0 if tile[SERVES_COLUMNS] else 0.0
    if floor < NOT_SHARED:
        set_pulls(row, floors[i0 : tile[LAST_ROW]], pull[i0:], (floor, sigma, row_part))
        set_pulls(column, floors[j0 : tile[LAST_COLUMN]], pull[j0:], (floor, sigma, column_part))
    for r in range(tile[LAST_ROW] - i0):
        first = buffers.first_column[r]
        c, b_r = row_of(buffers.coupling, buffers, tile, r), row_of(boltzmann, buffers, tile, r)
        buffers.coupling[buffers.at[r] + c.shape[0] : buffers.at[r + 1]] = 0
        if floor < NOT_SHARED:
            pull_r, pull_c = row[r], column[first - j0 :]
            for k in range(c.shape[0]):
                c[k] = b_r[k] * (pull_r + pull_c[k])
        else:
            anchor = (floors[i0 + r], row_part * pull[i0 + r])
            couple_row(c, b_r, anchor, (floors[first:], pull[first:], column_part), sigma)


@jit
def set_pulls(pull_here, floors, pull, at_floor):
    """D_n / Z_n brought to the floor of a tile: what a Boltzmann factor there is multiplied by.

    An anchor's floor is at most any of its t, so the exponent is below SHARED_SPAN; the bound
    is for anchors at a corner of the diagonal that have no pair in the tile.
    """
    floor, sigma, part = at_floor
    per_sigma = 1.0 / sigma
    for k in range(floors.shape[0]):
        exponent = min((floors[k] - floor) * per_sigma, SHARED_SPAN)
        pull_here[k] = part * pull[k] * exponential(exponent)


@jit
def couple_row(c, t, anchor, others, sigma):
    """c_ij of one anchor with a run of others, an exponential for each side."""
    floor_i, pull_i = anchor
    floors, pull, part = others
    per_sigma = 1.0 / sigma
    for k in range(c.shape[0]):
        mine = pull_i * exponential(min((floor_i - t[k]) * per_sigma, 0.0))
        c[k] = mine + part * pull[k] * exponential(min((floors[k] - t[k]) * per_sigma, 0.0))


@jit
def add_tile(gradient, sweep, buffers, tile_and_limit):
    """Add a tile to the gradient: all pairs at once, or those that count to the waiting list."""
    t, negligible = tile_and_limit
    tile = sweep.tiles[t]
    c = buffers.coupling[: buffers.at[tile[LAST_ROW] - tile[FIRST_ROW]]]
    n_counting = count_above(c, negligible)
    if n_counting == 0:
        return
    sign = 1 if tile[ROW_CLASS] == tile[COLUMN_CLASS] else -1
    if 3 * n_counting > c.shape[0] and 2 * c.shape[0] > sweep.shape.n_buffer:
        share_out(c, gradient)
        add_all(gradient, sweep, buffers, tile, sign)
    else:
        if sign != buffers.waiting[1]:
            flush(gradient, sweep, buffers)
            buffers.waiting[1] = sign
        for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
            c_r = c[buffers.at[r] : buffers.at[r + 1]]
            n_row = count_above(c_r, negligible)
            if n_row == 0:
                continue
            if buffers.waiting[0] + n_row > buffers.scale.shape[0]:
                flush(gradient, sweep, buffers)
            append_row(buffers, tile[FIRST_ROW] + r, buffers.first_column[r], c_r, negligible)


@jit
def count_above(c, negligible):
    """Number of couplings that can change the sum."""
    n = 0
    for k in range(c.shape[0]):
        n += c[k] > negligible
    return n


@jit
def append_row(buffers, i, first_column, c, negligible):
    """Put the pairs of a row that count on the waiting list."""
    at = buffers.waiting[0]
    for k in range(c.shape[0]):
        if c[k] > negligible:
            buffers.i[at], buffers.j[at] = i, first_column + k
            buffers.scale[at] = c[k]
            at += 1
    buffers.waiting[0] = at


@jit
def share_out(c, gradient):
    """Turn c into what a difference is multiplied by: in d d' each of the two has its root."""
    if gradient.ndim == 2:
        for k in range(c.shape[0]):
            c[k] = np.sqrt(c[k])


@jit
def add_all(gradient, sweep, buffers, tile, sign):
    """Add every pair of a tile to the gradient."""
    at, n_rows, r = buffers.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    p, panel = sweep.columns.values.shape[0], buffers.D.shape[0]
    while r < n_rows:
        end = end_of_group(at, r, n_rows, sweep.shape.n_buffer)
        for a in range(0, p, panel):
            b = min(a + panel, p)
            if sweep.is_plain:
                fill_group(buffers, sweep, tile, (r, end, a, b), buffers.coupling[at[r] :])
            else:
                fill_mixed_group(buffers, sweep, tile, (r, end, a, b), buffers.coupling[at[r] :])
            add_statistic(gradient, buffers.D, sign * (at[end] - at[r]), a, b)
        r = end


@jit
def flush(gradient, sweep, buffers):
    """Add the waiting pairs to the gradient."""
    n_pairs, sign = buffers.waiting
    n_whole = whole_vectors(n_pairs)
    buffers.scale[n_pairs:n_whole] = 0
    scale = buffers.scale[:n_whole]
    share_out(scale, gradient)
    p, panel = sweep.columns.values.shape[0], buffers.D.shape[0]
    for a in range(0, p if n_pairs > 0 else 0, panel):
        b = min(a + panel, p)
        if sweep.is_plain:
            x, X = sweep.rows.values[a:b], sweep.columns.values[a:b]
            fill_pairs(buffers.D, x, X, buffers.i, buffers.j, scale)
        else:
            fill_mixed_pairs(buffers.D, sweep, (a, b), buffers.i, buffers.j, scale)
        add_statistic(gradient, buffers.D, sign * n_whole, a, b)
    buffers.waiting[0] = 0


@jit
def add_statistic(gradient, D, signed_count, a, b):
    """Add +-(sum of d d') for a matrix; for a vector, +-(sum of d) of the features a : b."""
    sign = 1.0 if signed_count > 0 else -1.0
    if gradient.ndim == 2:
        add_scatter(gradient, D, sign, abs(signed_count))
    else:
        add_sums(gradient[a:b], D, sign, abs(signed_count))
