"""Distances of the pairs of one tile.

    q_ij = d' W d  for a matrix W,   w' d  for a vector,   d the differences of the pair

p^2 / 2 multiply-adds per pair, or p. Rows of the tile go through the buffer of differences in
groups, as many as fit; for a vector W, PANEL features at a time. The number of dimensions of the
weights is known when a function is compiled, so each form is machine code of its own.
"""

from __future__ import annotations

from immigrate.kernels.compiling import jit, jit_view
from immigrate.kernels.microkernels import (
    add_linear_form,
    add_quadratic_form,
    whole_vectors,
)
from immigrate.kernels.tile_differences import fill_mixed_row, fill_row
from immigrate.kernels.tiles import (
    FIRST_COLUMN,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
)


@jit
def lay_rows(buffers, tile):
    """Give each pair of a tile a place, row after row; returns how many places there are."""
    at = 0
    for r in range(tile[LAST_ROW] - tile[FIRST_ROW]):
        first = tile[FIRST_COLUMN] + (r + 1 if tile[IS_DIAGONAL] else 0)
        buffers.first_column[r], buffers.at[r] = first, at
        at += whole_vectors(tile[LAST_COLUMN] - first)
        buffers.at[r + 1] = at
    return at


@jit_view
def row_of(values, buffers, tile, r):
    """Values of the pairs of one row, without the places added to fill the last vector."""
    n_pairs = tile[LAST_COLUMN] - buffers.first_column[r]
    return values[buffers.at[r] : buffers.at[r] + n_pairs]


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
        first = buffers.at[s] - start
        x, X = sweep.rows.values[a:b, tile[FIRST_ROW] + s], sweep.columns.values[a:b]
        columns = (buffers.first_column[s], tile[LAST_COLUMN])
        fill_row(buffers.D, first, x, X, columns, scale[first:])


@jit
def fill_mixed_group(buffers, sweep, tile, group, scale):
    """`fill_group` for features of any kind.

    A function of its own, so that the compiler still sets the short one into its callers.
    """
    r, end, a, b = group
    start = buffers.at[r]
    for s in range(r, end):
        first = buffers.at[s] - start
        row, columns = (tile[FIRST_ROW] + s, a, b), (buffers.first_column[s], tile[LAST_COLUMN])
        fill_mixed_row(buffers.D, first, sweep, row, columns, scale[first:])


@jit
def set_distances(buffers, sweep, tile, first, last):
    """Distances q of all pairs of a tile for the problems first : last; they share differences."""
    at, n_rows, r = buffers.at, tile[LAST_ROW] - tile[FIRST_ROW], 0
    p, panel = sweep.columns.values.shape[0], buffers.D.shape[0]
    while r < n_rows:
        end = end_of_group(at, r, n_rows, sweep.shape.n_buffer)
        buffers.q[first:last, at[r] : at[end]] = 0
        for a in range(0, p, panel):
            b = min(a + panel, p)
            if sweep.is_plain:
                fill_group(buffers, sweep, tile, (r, end, a, b), buffers.ones)
            else:
                fill_mixed_group(buffers, sweep, tile, (r, end, a, b), buffers.ones)
            for m in range(first, last):
                add_form(buffers.q[m, at[r] : at[end]], buffers.D, sweep.weights[m], a, b)
        r = end


@jit
def add_form(q, D, W, a, b):
    """q_k += d' W d for a matrix; for a vector, the part w' d of the features a : b."""
    if W.ndim == 2:
        add_quadratic_form(q, D, W)
    else:
        add_linear_form(q, D, W[a:b])
