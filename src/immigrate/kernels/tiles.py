"""All pairs of samples cut into tiles: some rows against some columns, in one pair of classes.

Samples are sorted by class. Between two classes the tiles are rectangles; inside a class they
cover the pairs above the diagonal. Hits come before misses, so that the sign of a sum over the
tiles changes once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FIRST_ROW, LAST_ROW, FIRST_COLUMN, LAST_COLUMN = 0, 1, 2, 3
ROW_CLASS, COLUMN_CLASS, IS_DIAGONAL, FIRST_PAIR = 4, 5, 6, 7


LANES = 8  # the pairs of a row take up whole vectors of this many


class TileShape(NamedTuple):
    """Rows and columns of a tile, and pairs in the buffer of differences (at least a row)."""

    n_rows: int
    n_columns: int  # a multiple of n_rows
    n_buffer: int  # a multiple of LANES

    @property
    def n_places(self) -> int:
        """Most places that the pairs of a tile take up."""
        return self.n_rows * whole_vectors(self.n_columns)


def symmetric_tiles(starts, shape: TileShape):
    """Tiles over the unordered pairs of one table; class c has samples starts[c]:starts[c + 1]."""
    classes = range(len(starts) - 1)
    hits = [_tiles(starts, starts, (c, c), shape, is_triangle=True) for c in classes]
    misses = [_tiles(starts, starts, (b, c), shape) for c in classes for b in range(c)]
    return _numbered(hits + misses)


def rectangular_tiles(n_rows, starts, shape: TileShape):
    """Tiles over all pairs of `n_rows` new samples with the samples of each class."""
    rows = np.array([0, n_rows])
    return _numbered([_tiles(rows, starts, (0, c), shape) for c in range(len(starts) - 1)])


def _tiles(row_starts, column_starts, classes, shape, is_triangle=False):
    """Tiles of one pair of classes, (n_tiles, 8), pairs not numbered yet."""
    row_class, column_class = classes
    i0, i1 = _edges(*row_starts[row_class : row_class + 2], shape.n_rows)
    j0, j1 = _edges(
        *column_starts[column_class : column_class + 2],
        _even_width(column_starts[column_class + 1] - column_starts[column_class], shape),
    )
    i0, i1 = np.repeat(i0, len(j0)), np.repeat(i1, len(j0))
    j0, j1 = np.tile(j0, len(i0) // len(j0)), np.tile(j1, len(i0) // len(j1))
    if is_triangle:
        is_above = j1 > i0 + 1
        i0, i1, j0, j1 = i0[is_above], i1[is_above], np.maximum(j0, i0)[is_above], j1[is_above]
    tiles = np.zeros((len(i0), 8), dtype=np.int64)
    tiles[:, FIRST_ROW], tiles[:, LAST_ROW] = i0, i1
    tiles[:, FIRST_COLUMN], tiles[:, LAST_COLUMN] = j0, j1
    tiles[:, ROW_CLASS], tiles[:, COLUMN_CLASS] = classes
    tiles[:, IS_DIAGONAL] = is_triangle & (i0 == j0)
    return tiles


def _edges(first, last, step):
    starts = np.arange(first, last, step)
    return starts, np.minimum(starts + step, last)


def _even_width(size, shape):
    """Width near n_columns that cuts `size` evenly: no sliver is left over."""
    n_blocks = -(-size // shape.n_columns)
    return -(-size // (n_blocks * shape.n_rows)) * shape.n_rows


def whole_vectors(n_pairs):
    """`n_pairs` rounded up to whole vectors."""
    return -(-n_pairs // LANES) * LANES


def _numbered(parts):
    """All tiles in one table, each with the place of its first pair; the last row has the end."""
    tiles = np.concatenate([*parts, np.zeros((1, 8), dtype=np.int64)])
    n_rows = tiles[:, LAST_ROW] - tiles[:, FIRST_ROW]
    n_columns = tiles[:, LAST_COLUMN] - tiles[:, FIRST_COLUMN]
    places = n_rows * whole_vectors(n_columns)
    for t in np.flatnonzero(tiles[:, IS_DIAGONAL]):
        places[t] = whole_vectors(n_columns[t] - 1 - np.arange(n_rows[t])).sum()
    tiles[1:, FIRST_PAIR] = np.cumsum(places)[:-1]
    return tiles
