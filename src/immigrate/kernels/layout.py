r"""How tables, pairs and weights lie in memory for the compiled sweeps.

**A table** lies feature by feature, padded to whole vectors:

    values     x00 x01 x02 ... x0n  0 0 0 0 0 0 0 0      feature 0 of all samples, LANES zeros
               x10 x11 x12 ... x1n  0 0 0 0 0 0 0 0      feature 1

so that one instruction takes the differences of LANES pairs. A run of columns may be read up to
LANES - 1 samples too far: what is there is finite and gets weight 0.

**Pairs** are cut into tiles: some rows against some columns, in one pair of classes. Samples are
sorted by class, and inside a class by the part they play, which makes runs of equal samples.
Between two runs the tiles are rectangles; inside a run they cover the pairs above the diagonal,
because a pair is visited once and serves both its samples:

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

**Weights** are packed by the form that they belong to:

==========  ===================================  =============================================
linear      (p,)                                 w
quadratic   (p, p), upper triangular             U with d'Ud = d'Wd: what is below the diagonal
                                                 is added to what is above
cubic       (n_rows, p)                          q = sum_r P_r sum_c M_rc d_c, with P_r = d_a for
                                                 a row of U, P_r = d_a d_b for a pair
==========  ===================================  =============================================

The rows of a cubic form are the pairs (a, b) that some triple a < b < c begins with; what they
hold is at c. With the first column that counts they are listed in a table (a, b, first column),
b = NONE for the rows of U, in the order of the first column, so that rows that are taken together
begin at about the same column. Rows of zeros fill up the last group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.differences import ColumnDifferences, Samples, gaps
from immigrate.core.forms import LINEAR, N_ORDERS, QUADRATIC, Cubic, Form
from immigrate.core.targets import ClassTarget

if TYPE_CHECKING:
    from immigrate.kernels import Pieces

LANES = 8  # the pairs of a row take up whole vectors of this many
COMPLETE = -1  # of a feature without gaps

# Fields of a tile.
FIRST_ROW, LAST_ROW, FIRST_COLUMN, LAST_COLUMN = 0, 1, 2, 3
ROW_CLASS, COLUMN_CLASS, IS_DIAGONAL, FIRST_PAIR = 4, 5, 6, 7
# Whether the rows are anchors that find references in the columns, and the other way round.
SERVES_ROWS, SERVES_COLUMNS = 8, 9
N_FIELDS = 10

ROWS = 4  # rows of a cubic form that are taken together
FEATURE, PARTNER, FIRST_PRODUCT = 0, 1, 2  # columns of the table of rows
NONE = -1
PANEL = 32  # features in the buffer at a time where weights are a vector

NO_GAPS = np.empty((0, 0))  # expected differences of plain numbers

# Seconds of one core of a middling machine: per pair of samples, and per pair and weight.
SECONDS_PER_PAIR = 5e-9
SECONDS_PER_WEIGHT = 5e-11


class LaidOut(NamedTuple):
    """Samples, feature by feature."""

    values: np.ndarray  # (p, n + LANES)
    expected: np.ndarray  # (g, n + LANES): difference from a sample whose value is missing


class Kinds(NamedTuple):
    """How the difference of each feature is taken, where not all are numbers without gaps."""

    is_nominal: np.ndarray  # (p,)
    gap: np.ndarray  # (p,): row of `expected`, or COMPLETE
    mismatch: np.ndarray  # (p,): difference between two levels
    period: np.ndarray  # (p,): after which numbers come round; infinite on a line
    row_expected: np.ndarray  # `expected` of the table of the rows
    column_expected: np.ndarray  # and of that of the columns


class TileShape(NamedTuple):
    """Rows and columns of a tile, and pairs in the buffer of differences (at least a row)."""

    n_rows: int
    n_columns: int  # a multiple of n_rows
    n_buffer: int  # a multiple of LANES


class Run(NamedTuple):
    """Samples of one class that play the same part, next to each other in the table."""

    first: int
    last: int
    label: int
    is_anchor: bool
    is_reference: bool


@dataclass(frozen=True, eq=False)
class Layout:
    """One table, laid out once for all of its passes.

    Attributes
    ----------
    pieces : Pieces
        What the pass is made of. Values are scaled by the caller so that differences are of the
        order of 1, float64 or float32. Every anchor has a hit and a miss.
    packing : Packing
        How the sweeps take the weights of the form.
    order : ndarray of shape (n,)
        Samples by class, and in a class those that are both, mere anchors, mere references.
    runs : list of Run
    anchors : slice or ndarray of int
        Where the anchors are in that order; a slice if they are everywhere, which copies nothing.
    starts : ndarray of shape (n_classes + 1,)
        Where the classes begin, and the end.
    table : LaidOut
        The samples in that order.
    kinds : Kinds or None
        Of the differences between two samples of the table.
    log_count : ndarray of shape (n,) or None
        Logarithms of the counts; None if every sample counts once.
    shape : TileShape
    """

    pieces: Pieces
    packing: Packing
    order: Codes
    runs: list[Run]
    anchors: slice | Codes
    starts: Codes
    table: LaidOut
    kinds: Kinds | None
    log_count: Array | None
    shape: TileShape

    def packed(self, Ws: Sequence[Array]) -> Array:
        """Weights of several problems, as the sweeps read them."""
        return self.packing.packed(Ws).astype(self.table.values.dtype, copy=False)

    def new_rows(self, X_new: Array) -> tuple[LaidOut, Kinds | None]:
        """New samples, and the kinds of their differences from the table."""
        if self.kinds is None:
            return laid_out(Samples(X_new, NO_GAPS)), None
        rows = laid_out(self.pieces.differences.samples(X_new))
        return rows, self.kinds._replace(row_expected=rows.expected)

    def with_gaps_of(self, X_new: Array) -> Layout:
        """The same table with room for the gaps of new samples."""
        pieces = self.pieces
        if not (gaps(X_new) & ~pieces.differences.has_gap).any():
            return self
        differences = pieces.differences.with_gaps_of(X_new)
        samples = differences.samples(pieces.samples.values)
        table = laid_out(samples, self.order)
        return replace(
            self,
            pieces=replace(pieces, samples=samples, differences=differences),
            table=table,
            kinds=kinds_of(differences, table, table),
        )


def layout_of(pieces: Pieces) -> Layout | None:
    """The table laid out for the compiled sweeps; None for a form or target they do not know."""
    values, target = pieces.samples.values, pieces.target
    packing = packing_for(pieces.form, values.shape[1])
    if packing is None or not isinstance(target, ClassTarget):
        return None
    is_anchor = np.zeros(len(values), dtype=bool)
    is_anchor[pieces.pairs.anchors] = True
    is_reference = target.count > 0
    order = np.lexsort((~is_anchor, ~is_reference, target.y))
    table = laid_out(pieces.samples, order)
    # Samples that are no references count 0, which has no logarithm; as anchors they are not
    # tilted.
    log_count = np.log(np.where(is_reference, target.count, 1.0))[order]
    tilt = log_count if log_count.any() else None
    runs = runs_of(target.y[order], is_anchor[order], is_reference[order])
    anchors = slice(None) if is_anchor.all() else np.flatnonzero(is_anchor[order])
    starts = np.concatenate([[0], np.cumsum(np.bincount(target.y))])
    kinds = kinds_of(pieces.differences, table, table)
    shape = tile_shape(values.shape[1], values.itemsize)
    return Layout(pieces, packing, order, runs, anchors, starts, table, kinds, tilt, shape)


def laid_out(samples: Samples, order: Codes | slice = slice(None)) -> LaidOut:
    """Samples in some order, as the sweeps read them."""
    both = []
    for rows in (samples.values.T, samples.expected):
        padded = np.zeros((rows.shape[0], rows.shape[1] + LANES), dtype=rows.dtype)
        padded[:, : rows.shape[1]] = rows[:, order]
        both.append(padded)
    return LaidOut(*both)


def kinds_of(differences: ColumnDifferences, rows: LaidOut, columns: LaidOut) -> Kinds | None:
    """What kind of difference each feature has; None for plain numbers.

    None is a type of its own for the compiler: the sweeps over plain numbers are compiled without
    the code for other kinds, and never wait for it.
    """
    if differences.is_plain:
        return None
    kinds, has_gap = differences.kinds, differences.has_gap
    period = np.full(len(has_gap), np.inf) if kinds.period is None else kinds.period
    return Kinds(
        kinds.is_nominal,
        np.where(has_gap, np.cumsum(has_gap) - 1, COMPLETE),
        np.asarray(kinds.mismatch).astype(columns.values.dtype),
        period.astype(columns.values.dtype),
        rows.expected,
        columns.expected,
    )


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


def tile_shape(n_features: int, itemsize: int) -> TileShape:
    """Tiles whose buffer of differences stays in the second-level cache."""
    # 512 pairs of 1,200 bytes are 600 KB; wider tables have half as many pairs in the buffer.
    is_narrow = n_features * itemsize <= 1200
    return TileShape(n_rows=32, n_columns=128, n_buffer=512 if is_narrow else 256)


def symmetric_tiles(runs: list[Run], shape: TileShape) -> Codes:
    """Tiles over the unordered pairs of one table in which one sample is a reference of the other.

    For example (sample that is both) x (mere reference) serves the rows alone, and two mere
    references have nothing to do with each other.
    """
    hits: list[Codes] = []
    misses: list[Codes] = []
    for k, column in enumerate(runs):
        for row in runs[: k + 1]:
            serves_rows = row.is_anchor and column.is_reference
            serves_columns = column.is_anchor and row.is_reference
            if serves_rows or serves_columns:
                tiles = _tiles(row, column, shape, (serves_rows, serves_columns))
                (hits if row.label == column.label else misses).append(tiles)
    return _numbered(hits + misses)


def rectangular_tiles(n_rows: int, references: list[Run], shape: TileShape) -> Codes:
    """Tiles over all pairs of `n_rows` new samples with the references of each class."""
    rows = Run(0, n_rows, label=0, is_anchor=True, is_reference=False)
    return _numbered([_tiles(rows, run, shape, (True, False)) for run in references])


def _tiles(row: Run, column: Run, shape: TileShape, serves: tuple[bool, bool]) -> Codes:
    """Tiles of one pair of runs, (n_tiles, N_FIELDS), pairs not numbered yet."""
    is_triangle = serves[1] and row == column
    # A width near n_columns that cuts the columns evenly: no sliver is left over.
    size = column.last - column.first
    width = -(-size // (-(-size // shape.n_columns) * shape.n_rows)) * shape.n_rows
    i0 = np.arange(row.first, row.last, shape.n_rows)[:, None]
    j0 = np.arange(column.first, column.last, width)
    tiles = np.zeros((len(i0), len(j0), N_FIELDS), dtype=np.int64)
    tiles[:, :, FIRST_ROW], tiles[:, :, LAST_ROW] = i0, np.minimum(i0 + shape.n_rows, row.last)
    tiles[:, :, LAST_COLUMN] = np.minimum(j0 + width, column.last)
    tiles[:, :, ROW_CLASS], tiles[:, :, COLUMN_CLASS] = row.label, column.label
    tiles[:, :, SERVES_ROWS], tiles[:, :, SERVES_COLUMNS] = serves
    if not is_triangle:
        tiles[:, :, FIRST_COLUMN] = j0
        return tiles.reshape(-1, N_FIELDS)
    # Tiles are a whole number of row steps wide, so that the diagonal only enters a tile at its
    # corner. What is left of the diagonal is cut away.
    tiles[:, :, FIRST_COLUMN], tiles[:, :, IS_DIAGONAL] = np.maximum(j0, i0), j0 <= i0
    above: Codes = tiles[tiles[:, :, LAST_COLUMN] > i0 + 1]
    return above


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
    on = np.flatnonzero(tiles[:, IS_DIAGONAL])
    row = np.arange(n_rows[on].max(initial=0))
    in_row = whole_vectors(n_columns[on, None] - 1 - row)
    places[on] = np.where(row < n_rows[on, None], in_row, 0).sum(axis=1)
    tiles[1:, FIRST_PAIR] = np.cumsum(places)[:-1]
    return tiles


class Packing(Protocol):
    """What the compiled pass asks of the layout of weights."""

    @property
    def products(self) -> Codes | None:
        """The table of rows of a cubic form; None for the others."""

    @property
    def n_together(self) -> int:
        """Features that the buffer of differences holds at a time."""

    def packed(self, Ws: Sequence[Array]) -> Array:
        """Weights of several problems, as the sweeps read them."""

    def unpacked(self, gradients: Array) -> Array:
        """Gradients of several problems, shaped like their weights."""


@dataclass(frozen=True)
class VectorPacking:
    """Weights that are a vector, whose features go through the buffer in panels."""

    n_together: int
    products: None = None

    def packed(self, Ws: Sequence[Array]) -> Array:
        """The vectors."""
        return np.array(Ws, dtype=np.float64)

    def unpacked(self, gradients: Array) -> Array:
        """The gradients."""
        return gradients


@dataclass(frozen=True)
class MatrixPacking:
    """Weights that are a symmetric matrix; the buffer holds all features."""

    n_together: int
    products: None = None

    @cached_property
    def _upper_half(self) -> Array:
        """1 above the diagonal, 1/2 on it: W = A + A' for A = W * _upper_half."""
        p = self.n_together
        return np.triu(np.ones((p, p))) - 0.5 * np.eye(p)

    def packed(self, Ws: Sequence[Array]) -> Array:
        """U with d'Ud = d'Wd."""
        packed: Array = np.array(Ws, dtype=np.float64)
        packed *= 2.0 * self._upper_half
        return packed

    def unpacked(self, gradients: Array) -> Array:
        """Symmetric gradients."""
        gradients *= self._upper_half
        both: Array = gradients + gradients.transpose(0, 2, 1)
        return both


@dataclass(frozen=True, eq=False)
class ProductPacking:
    """Weights of features, pairs and triples."""

    form: Cubic

    @property
    def n_together(self) -> int:
        """All."""
        return self.form.n_features

    @cached_property
    def _matrix(self) -> MatrixPacking:
        return MatrixPacking(self.form.n_features)

    @cached_property
    def _pairs(self) -> tuple[Codes, Codes]:
        """Pairs that triples begin with, and which of them each triple has."""
        pairs, which = np.unique(self.form.triples[:, :2], axis=0, return_inverse=True)
        return pairs, which.ravel()

    @cached_property
    def _order(self) -> Codes:
        """Rows of U and then pairs, by their first column."""
        return np.argsort(self._unordered[:, FIRST_PRODUCT], kind="stable")

    @cached_property
    def _unordered(self) -> Codes:
        features = np.arange(self.form.n_features)
        of_matrix = np.column_stack([features, np.full_like(features, NONE), features])
        pairs, which = self._pairs
        first = np.full(len(pairs), self.form.n_features)
        np.minimum.at(first, which, self.form.triples[:, 2])
        return np.concatenate([of_matrix, np.column_stack([pairs, first])])

    @cached_property
    def products(self) -> Codes:
        """The table of rows, (n_rows, 3)."""
        n_rows = len(self._order)
        # Filled up with the last row, whose weights are 0 here and whose gradient is never read.
        filled = np.append(self._order, np.full(-n_rows % ROWS, self._order[-1]))
        return np.ascontiguousarray(self._unordered[filled], dtype=np.int64)

    @cached_property
    def _place(self) -> Codes:
        """Where the rows of U and then the pairs are in the table."""
        return np.argsort(self._order)

    @cached_property
    def _triple_rows(self) -> Codes:
        return self._place[self.form.n_features + self._pairs[1]]

    def packed(self, Ws: Sequence[Array]) -> Array:
        """M of several problems, (n_problems, n_rows, p)."""
        p = self.form.n_features
        packed = np.zeros((len(Ws), len(self.products), p))
        packed[:, self._place[:p]] = self._matrix.packed([self.form.matrix(W) for W in Ws])
        # The tensor holds a triple in all six orders, this table once.
        of_triples = [N_ORDERS * self.form.triple_weights(W) for W in Ws]
        packed[:, self._triple_rows, self.form.triples[:, 2]] = of_triples
        return packed

    def unpacked(self, gradients: Array) -> Array:
        """Gradients as vectors, (n_problems, p^2 + m)."""
        matrices = self._matrix.unpacked(gradients[:, self._place[: self.form.n_features]])
        of_triples = gradients[:, self._triple_rows, self.form.triples[:, 2]]
        return np.array([self.form.weights(*both) for both in zip(matrices, of_triples)])


def packing_for(form: Form, n_features: int) -> Packing | None:
    """How the compiled sweeps take the weights of a form; None for forms that they do not know."""
    if form == LINEAR:
        return VectorPacking(min(n_features, PANEL))
    if form == QUADRATIC:
        return MatrixPacking(n_features)
    return ProductPacking(form) if isinstance(form, Cubic) else None


def pass_seconds(n_pairs: float, n_weights: int) -> float:
    """Seconds of one core, roughly, for a pass over so many pairs with so many weights.

    ``benchmarks/speed/cost_model.py`` measures such formulas with care; one line is enough to cut
    the work into parts, to decide between all pairs and a sample of them, and to warn of minutes.

    Examples
    --------
    >>> from immigrate.kernels import pass_seconds
    >>> round(pass_seconds(10_000**2 / 2, 20 * 20), 2)
    1.25
    """
    return n_pairs * (SECONDS_PER_PAIR + SECONDS_PER_WEIGHT * n_weights)
