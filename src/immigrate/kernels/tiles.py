r"""All pairs of samples cut into tiles: some rows against some columns, in one pair of classes.

Samples are sorted by class, and inside a class by the part they play, which makes runs of equal
samples. Between two runs the tiles are rectangles; inside a run they cover the pairs above the
diagonal, because a pair is visited once and serves both its samples:

                 class 0           class 1
              +---+---+---+     +---+---+---+
              | \ | h | h |     | m | m | m |        h  hits, \ only j > i
    class 0   +---+---+---+     +---+---+---+        m  misses
              |   | \ | h |     | m | m | m |
              +---+---+---+     +---+---+---+
                                | \ | h | h |
    class 1                     +---+---+---+
                                |   | \ | h |

Hits come before misses, so that the sign of a sum over the tiles changes once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from immigrate.arrays import Codes, Mask

FIRST_ROW, LAST_ROW, FIRST_COLUMN, LAST_COLUMN = 0, 1, 2, 3
ROW_CLASS, COLUMN_CLASS, IS_DIAGONAL, FIRST_PAIR = 4, 5, 6, 7
# Whether the rows are anchors that find references in the columns, and the other way round.
SERVES_ROWS, SERVES_COLUMNS = 8, 9
N_FIELDS = 10

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


class Run(NamedTuple):
    """Samples of one class that play the same part, next to each other in the table."""

    first: int
    last: int
    label: int
    is_anchor: bool
    is_reference: bool


def runs_of(y: Codes, is_anchor: Mask, is_reference: Mask) -> list[Run]:
    """Runs of a table that is sorted by class and then by part."""
    if not len(y):
        return []
    kinds = np.column_stack([y, is_anchor, is_reference])
    edges = np.flatnonzero((kinds[1:] != kinds[:-1]).any(axis=1)) + 1
    bounds = zip([0, *edges.tolist()], [*edges.tolist(), len(y)])
    return [
        Run(first, last, int(y[first]), bool(is_anchor[first]), bool(is_reference[first]))
        for first, last in bounds
    ]


def symmetric_tiles(runs: list[Run], shape: TileShape) -> Codes:
    """Tiles over the unordered pairs of one table in which one sample is a reference of the other.

    For example (sample that is both) x (mere reference) serves the rows alone, and two mere
    references have nothing to do with each other.
    """
    hits: list[Codes] = []
    misses: list[Codes] = []
    for k, column in enumerate(runs):
        for row in runs[: k + 1]:
            serves = (
                row.is_anchor and column.is_reference,
                column.is_anchor and row.is_reference,
            )
            if not any(serves):
                continue
            tiles = _tiles(row, column, shape, serves)
            (hits if row.label == column.label else misses).append(tiles)
    return _numbered(hits + misses)


def rectangular_tiles(n_rows: int, references: list[Run], shape: TileShape) -> Codes:
    """Tiles over all pairs of `n_rows` new samples with the references of each class."""
    rows = Run(0, n_rows, label=0, is_anchor=True, is_reference=False)
    return _numbered([_tiles(rows, run, shape, (True, False)) for run in references])


def _tiles(row: Run, column: Run, shape: TileShape, serves: tuple[bool, bool]) -> Codes:
    """Tiles of one pair of runs, (n_tiles, N_FIELDS), pairs not numbered yet."""
    is_triangle = serves[1] and row == column
    i0, i1 = _edges(row.first, row.last, shape.n_rows)
    j0, j1 = _edges(column.first, column.last, _even_width(column.last - column.first, shape))
    i0, i1 = np.repeat(i0, len(j0)), np.repeat(i1, len(j0))
    j0, j1 = np.tile(j0, len(i0) // len(j0)), np.tile(j1, len(i0) // len(j1))
    # Tiles are a whole number of row steps wide, so that the diagonal only enters a tile at its
    # corner. What is left of the diagonal is cut away.
    if is_triangle:
        is_above = j1 > i0 + 1
        i0, i1, j0, j1 = i0[is_above], i1[is_above], np.maximum(j0, i0)[is_above], j1[is_above]
    tiles = np.zeros((len(i0), N_FIELDS), dtype=np.int64)
    tiles[:, FIRST_ROW], tiles[:, LAST_ROW] = i0, i1
    tiles[:, FIRST_COLUMN], tiles[:, LAST_COLUMN] = j0, j1
    tiles[:, ROW_CLASS], tiles[:, COLUMN_CLASS] = row.label, column.label
    tiles[:, IS_DIAGONAL] = is_triangle & (i0 == j0)
    tiles[:, SERVES_ROWS], tiles[:, SERVES_COLUMNS] = serves
    return tiles


def _edges(first: int, last: int, step: int) -> tuple[Codes, Codes]:
    starts = np.arange(first, last, step)
    return starts, np.minimum(starts + step, last)


def _even_width(size: int, shape: TileShape) -> int:
    """Width near n_columns that cuts `size` evenly: no sliver is left over."""
    n_blocks = -(-size // shape.n_columns)
    return -(-size // (n_blocks * shape.n_rows)) * shape.n_rows


def whole_vectors(n_pairs: Any) -> Any:
    """`n_pairs` rounded up to whole vectors."""
    return -(-n_pairs // LANES) * LANES


def _numbered(parts: list[Codes]) -> Codes:
    """All tiles in one table, each with the place of its first pair; the last row has the end."""
    tiles = np.concatenate([*parts, np.zeros((1, N_FIELDS), dtype=np.int64)])
    n_rows = tiles[:, LAST_ROW] - tiles[:, FIRST_ROW]
    n_columns = tiles[:, LAST_COLUMN] - tiles[:, FIRST_COLUMN]
    places = n_rows * whole_vectors(n_columns)
    # Each row of a diagonal tile is one pair shorter than the one above it.
    for t in np.flatnonzero(tiles[:, IS_DIAGONAL]):
        places[t] = whole_vectors(n_columns[t] - 1 - np.arange(n_rows[t])).sum()
    tiles[1:, FIRST_PAIR] = np.cumsum(places)[:-1]
    return tiles
