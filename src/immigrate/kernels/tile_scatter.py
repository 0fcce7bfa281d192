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

from immigrate.core.targets import HIT, MISS
from immigrate.kernels.compiling import jit, jit_inlined
from immigrate.kernels.layout import (
    COLUMN_CLASS,
    FIRST_COLUMN,
    FIRST_ROW,
    LAST_COLUMN,
    LAST_ROW,
    ROW_CLASS,
    SERVES_COLUMNS,
    SERVES_ROWS,
)
from immigrate.kernels.microkernels import (
    add_product_scatter,
    add_scatter,
    add_sums,
    exponential,
    whole_vectors,
)
from immigrate.kernels.tile_energies import (
    NOT_SHARED,
    SHARED_SPAN,
    end_of_group,
    fill_group,
    fill_pairs,
    group_of,
    row_of,
)


@jit
def set_couplings(buffers, tile, boltzmann, anchors, at_floor):
    """c_ij of every pair of a tile: what both anchors give it together."""
    (coupling, sums, places), (m, floor, sigma) = buffers, at_floor
    i0, j0 = tile[FIRST_ROW], tile[FIRST_COLUMN]
    kind = HIT if tile[ROW_CLASS] == tile[COLUMN_CLASS] else MISS
    floors, pull = anchors.floor[m, kind], anchors.pull[m, kind]
    row, column = sums.rows[0], sums.columns[0]
    # A sample that does not meet its references in this tile pulls at none of its pairs.
    row_part = 1.0 if tile[SERVES_ROWS] else 0.0
    column_part = 1.0 if tile[SERVES_COLUMNS] else 0.0
    if floor < NOT_SHARED:
        set_pulls(row, floors[i0 : tile[LAST_ROW]], pull[i0:], (floor, sigma, row_part))
        set_pulls(column, floors[j0 : tile[LAST_COLUMN]], pull[j0:], (floor, sigma, column_part))
    for r in range(tile[LAST_ROW] - i0):
        first = places.first_column[r]
        c, b_r = row_of(coupling, places, tile, r), row_of(boltzmann, places, tile, r)
        # Places that only fill the last vector must not count.
        coupling[places.at[r] + c.shape[0] : places.at[r + 1]] = 0
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
        # The bound is for samples that do not meet their references in this tile. Their pull is 0,
        # and 0 times infinity would be no number.
        mine = pull_i * exponential(min((floor_i - t[k]) * per_sigma, 0.0))
        c[k] = mine + part * pull[k] * exponential(min((floors[k] - t[k]) * per_sigma, 0.0))


@jit_inlined
def add_tile(gradient, tables, buffers, laid_tile, negligible):
    """Add a tile to the gradient: all pairs at once, or those that count to the waiting list."""
    block, coupling, waiting = buffers
    places, tile = laid_tile
    c = coupling[: places.at[tile[LAST_ROW] - tile[FIRST_ROW]]]
    n_counting = count_above(c, negligible)
    sign = 1 if tile[ROW_CLASS] == tile[COLUMN_CLASS] else -1
    # Reading pairs one by one is slower than reading runs of columns. It is worth while where at
    # most a third of the pairs count, or where the tile is too small to fill half a buffer.
    if 3 * n_counting > c.shape[0] and 2 * c.shape[0] > block.ones.shape[0]:
        add_all(gradient, tables, block, (c, sign), laid_tile)
    elif n_counting > 0:
        # The list has one sign for all. Tiles of hits come first, so that it changes once at most.
        if sign != waiting.n_and_sign[1]:
            flush(gradient, tables, block, waiting)
            waiting.n_and_sign[1] = sign
        for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
            c_r = c[places.at[r] : places.at[r + 1]]
            n_row = count_above(c_r, negligible)
            if waiting.n_and_sign[0] + n_row > waiting.scale.shape[0]:
                flush(gradient, tables, block, waiting)
            if n_row > 0:
                append_row(waiting, tile[FIRST_ROW] + r, places.first_column[r], c_r, negligible)


@jit_inlined
def add_all(gradient, tables, block, coupling, laid_tile):
    """Add every pair of a tile to the gradient."""
    (places, tile), (c, sign) = laid_tile, coupling
    at, n_rows, r = places.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    p, panel = tables.columns.shape[0], block.D.shape[0]
    share_out(c, gradient, tables.products)
    while r < n_rows:
        end = end_of_group(at, r, n_rows, block.ones.shape[0])
        c_group = c[at[r] : at[end]]
        for a in range(0, p, panel):
            b = min(a + panel, p)
            group = group_of(places, tile, (r, end), (a, b))
            scale = scale_of(block, c_group, tables.products)
            fill_group(block.D, tables, tables.kinds, group, scale)
            add_statistic(gradient, block, (c_group, sign), (a, b), tables.products)
        r = end


@jit
def count_above(c, negligible):
    """Number of couplings that can change the sum."""
    n = 0
    for k in range(c.shape[0]):
        n += c[k] > negligible
    return n


@jit
def append_row(waiting, i, first_column, c, negligible):
    """Put the pairs of a row that count on the waiting list."""
    at = waiting.n_and_sign[0]
    for k in range(c.shape[0]):
        if c[k] > negligible:
            waiting.i[at], waiting.j[at] = i, first_column + k
            waiting.scale[at] = c[k]
            at += 1
    waiting.n_and_sign[0] = at


@jit
def share_out(c, gradient, products):
    """Turn c into what a difference is multiplied by: in d d' each of the two has its root.

    Products of two and of three differences have no such share in common: there c stays as it is.
    """
    if products is None and gradient.ndim == 2:
        for k in range(c.shape[0]):
            c[k] = np.sqrt(c[k])


@jit_inlined
def scale_of(block, c, products):
    """What the differences of the buffer are multiplied by when it is filled."""
    return c if products is None else block.ones


@jit
def flush(gradient, tables, block, waiting):
    """Add the waiting pairs to the gradient."""
    n_pairs, sign = waiting.n_and_sign
    n_whole = whole_vectors(n_pairs)
    # Fills the last vector with pairs of an earlier round, which are valid and weigh nothing.
    waiting.scale[n_pairs:n_whole] = 0
    c = waiting.scale[:n_whole]
    share_out(c, gradient, tables.products)
    p, panel = tables.columns.shape[0], block.D.shape[0]
    for a in range(0, p if n_pairs > 0 else 0, panel):
        b = min(a + panel, p)
        picked = (waiting.i, waiting.j, scale_of(block, c, tables.products))
        fill_pairs(block.D, tables, tables.kinds, (a, b, n_whole), picked)
        add_statistic(gradient, block, (c, sign), (a, b), tables.products)
    waiting.n_and_sign[0] = 0


@jit
def add_statistic(gradient, block, coupling, features, products):
    """Add +-(sum of d d') for a matrix; for a vector, +-(sum of d) of the features at hand."""
    (c, sign), n_pairs = coupling, coupling[0].shape[0]
    plus_or_minus = 1.0 if sign > 0 else -1.0
    if products is None:
        if gradient.ndim == 2:
            add_scatter(gradient, block.D, plus_or_minus, n_pairs)
        else:
            add_sums(gradient[features[0] : features[1]], block.D, plus_or_minus, n_pairs)
    else:
        add_product_scatter(gradient, block, products, c, plus_or_minus)
