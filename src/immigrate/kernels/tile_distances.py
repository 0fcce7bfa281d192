"""Distances of the pairs of one tile.

    q_ij = d' W d  for a matrix W,   w' d  for a vector,   d the differences of the pair

and with products of differences in place of the first d where triples have weights (``products``).
p^2 / 2 multiply-adds per pair, or p, and one per triple. Rows of the tile go through the buffer of
differences in groups, as many as fit; for a vector W, PANEL features at a time. The form is known
when a function is compiled, by the dimensions of the weights and the type of `products`, so each
is machine code of its own.
"""

from __future__ import annotations

from immigrate.kernels.compiling import jit, jit_inlined
from immigrate.kernels.microkernels import (
    add_linear_form,
    add_quadratic_form,
    whole_vectors,
)
from immigrate.kernels.products import add_product_form
from immigrate.kernels.tile_differences import Group, fill_group
from immigrate.kernels.tiles import (
    FIRST_COLUMN,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
)


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
