"""`ColumnReader`: what fit learned of the columns of a table, applied to every later one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Mask
from immigrate.columns.choice import FROM_DTYPE, chosen_mask
from immigrate.columns.kinds import Column, Content, Kind
from immigrate.columns.levels import Levels, column_values, fitted_kind
from immigrate.columns.notes import Described, Note, Reason, table_notes
from immigrate.columns.tables import NUMERIC, Table, default_names, opened
from immigrate.columns.units import difference_units


@dataclass(frozen=True)
class ColumnReader:
    """Reads a table as numbers, by kinds and levels that were learned once.

    Numbers stay what they are, flags are 0 and 1, ordered categories 0, 1, ... in their order,
    and nominal columns the index of their level. A level that was not there in fit has the next
    free index, and so differs from all known ones. Missing values are NaN. Columns that are no
    feature (dates and numbers written as text, identifiers, columns without a value) read as 0
    in every row: no two samples differ in them, so that no method can give them a weight.

    Attributes
    ----------
    names : tuple of str
        Distinct names; x0, x1, ... where the table has none.
    kinds : tuple of Kind
    levels : tuple of tuple
        Levels of nominal and ordered columns, empty for the others.
    notes : tuple of Note
        What fit has to say about columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.columns import ColumnReader
    >>> table = pd.DataFrame({"size": [1.5, 2.0, None], "colour": ["red", "blue", "red"]})
    >>> reader, values = ColumnReader.fit(table)
    >>> values
    array([[1.5, 1. ],
           [2. , 0. ],
           [nan, 1. ]])
    >>> reader.read(pd.DataFrame({"size": [1.0, 2.0], "colour": ["green", None]}))
    array([[ 1.,  2.],
           [ 2., nan]])
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    levels: tuple[Levels, ...]
    notes: tuple[Note, ...] = ()

    @classmethod
    def fit(
        cls, X: Any, categorical_features: Any = FROM_DTYPE
    ) -> tuple[ColumnReader, NDArray[Any]]:
        """The reader of tables like `X`, and the values of `X`.

        Parameters
        ----------
        X : data frame of pandas or polars, table of Arrow, or array-like of shape (n, p)
        categorical_features : "from_dtype", array-like of names, indices or bool, or None
            Columns whose levels have no order. "from_dtype" takes text and categories that
            are not ordered; None says that no column is categorical.

        Returns
        -------
        reader : ColumnReader
        values : ndarray of shape (n, p)
            float64, or float32 where all of `X` is.
        """
        return read_first(opened(X), categorical_features).finished()

    @property
    def is_nominal(self) -> Mask:
        """Mask of the columns whose values are codes without order."""
        return np.array([kind is Kind.NOMINAL for kind in self.kinds], dtype=bool)

    @property
    def level_names(self) -> list[Levels]:
        """What the values of each column are called; nothing for numbers."""
        return [
            (False, True) if kind is Kind.FLAG else levels
            for kind, levels in zip(self.kinds, self.levels)
        ]

    @property
    def is_used(self) -> Mask:
        """Mask of the columns that a model may use."""
        mask = np.ones(len(self.names), dtype=bool)
        mask[[note.column for note in self.notes if note.is_left_out]] = False
        return mask

    @property
    def is_constant(self) -> Mask:
        """Mask of the columns that had one value in all rows in fit."""
        mask = np.zeros(len(self.names), dtype=bool)
        mask[[note.column for note in self.notes if note.reason is Reason.CONSTANT]] = True
        return mask

    def read(self, X: Any) -> NDArray[Any]:
        """The values of another table with the same columns.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        values : ndarray of shape (n, p)
            `X` itself where it is an array of floats and there is nothing to do.
        """
        return self.read_opened(opened(X))

    def read_opened(self, source: Any) -> NDArray[Any]:
        """The values of what `opened` gave."""
        array = source if not isinstance(source, Table) else None
        if array is not None:
            _check_numeric(array)
        n_columns = len(source.columns) if array is None else array.shape[1]
        if n_columns != len(self.names):
            raise ValueError(
                f"X has {n_columns} columns, but {len(self.names)} were expected, as in fit. "
                "Give the columns of the table of fit."
            )
        return self._table_values(source) if array is None else self._array_values(array)

    def units(self, values: Array, scale: str | None = "std") -> Array:
        """What a difference of 1 is in each column: see `difference_units`.

        Parameters
        ----------
        values : ndarray of shape (n, p)
            What the reader gave for the training table.
        scale : {"std", "range", None}, default="std"

        Returns
        -------
        ndarray of shape (p,)
        """
        return difference_units(values, self.is_nominal, scale)

    def __getstate__(self) -> dict[str, Any]:
        """Plain values, which skops can store and later versions can read."""
        notes = tuple((n.column, n.name, n.reason.value, n.detail) for n in self.notes)
        kinds = tuple(kind.value for kind in self.kinds)
        return {**vars(self), "kinds": kinds, "notes": notes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        notes = tuple(Note(j, name, Reason(why), what) for j, name, why, what in state["notes"])
        # Frozen for everybody else.
        vars(self).update(state, kinds=tuple(map(Kind, state["kinds"])), notes=notes)

    def _table_values(self, table: Table) -> NDArray[Any]:
        # A float32 of zeros takes the type of the columns beside it.
        nothing = np.zeros(table.n_rows, dtype=np.float32)
        columns = [
            column_values(column, kind, levels) if is_used else nothing
            for column, kind, levels, is_used in zip(
                table.columns, self.kinds, self.levels, self.is_used
            )
        ]
        values = np.column_stack(columns) if columns else np.empty((table.n_rows, 0))
        return np.ascontiguousarray(values)

    def _array_values(self, array: NDArray[Any]) -> NDArray[Any]:
        values = _floats(array)
        coded, unused = np.flatnonzero(self.is_nominal & self.is_used), ~self.is_used
        # The array itself: a large table of numbers is not copied.
        if not coded.size and not unused.any():
            return values
        # A copy, because columns are written over and the array is the user's.
        values = np.array(values)
        for j in coded:
            values[:, j] = column_values(
                _array_column(self.names[j], array[:, j]), Kind.NOMINAL, self.levels[j]
            )
        values[:, unused] = 0.0
        return values


@dataclass(frozen=True, eq=False)
class FirstReading:
    """A table as fit reads it, before the columns are judged by their values."""

    reader: ColumnReader
    values: NDArray[Any]
    described: Described

    def finished(self) -> tuple[ColumnReader, NDArray[Any]]:
        """The reader with its notes, and the values without what is no feature."""
        notes = table_notes(self.described, self.values)
        reader = replace(self.reader, notes=notes)
        if reader.is_used.all():
            return reader, self.values
        return reader, np.where(reader.is_used, self.values, self.values.dtype.type(0))


def read_first(source: Any, categorical_features: Any = FROM_DTYPE) -> FirstReading:
    """What `opened` gave as numbers, with all that there is to know for the notes."""
    if isinstance(source, Table):
        return _first_of_table(source, chosen_mask(categorical_features, _names(source)))
    _check_numeric(source)
    names = default_names(source.shape[1])
    mask = chosen_mask(categorical_features, names)
    return _first_of_array(source, names, np.zeros(len(names), bool) if mask is None else mask)


def _first_of_table(table: Table, mask: Mask | None) -> FirstReading:
    fitted = [
        fitted_kind(column, None if mask is None else bool(mask[j]))
        for j, column in enumerate(table.columns)
    ]
    kinds, levels = tuple(kind for kind, _ in fitted), tuple(levels for _, levels in fitted)
    names = _names(table)
    is_text = [
        column.content is Content.NAMES and column.categories is None for column in table.columns
    ]
    is_listed = np.zeros(len(names), dtype=bool) if mask is None else mask
    described = Described(
        names, kinds, levels, np.array(is_text, dtype=bool), is_listed, table.repeated
    )
    reader = ColumnReader(names, kinds, levels)
    return FirstReading(reader, reader.read_opened(table), described)


def _first_of_array(array: NDArray[Any], names: list[str], mask: Mask) -> FirstReading:
    plain = Kind.FLAG if array.dtype.kind == "b" else Kind.NUMBER
    kinds: list[Kind] = [plain] * len(names)
    levels: list[Levels] = [()] * len(names)
    for j in np.flatnonzero(mask):
        kinds[j], levels[j] = fitted_kind(_array_column(names[j], array[:, j]), True)
    reader = ColumnReader(tuple(names), tuple(kinds), tuple(levels))
    described = Described(names, kinds, levels, np.zeros_like(mask), mask, ())
    return FirstReading(reader, reader.read_opened(array), described)


def _names(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns)


def _array_column(name: str, values: NDArray[Any]) -> Column:
    return Column(name, Content.NUMBERS, _floats(values), str(values.dtype))


def _floats(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _check_numeric(array: Any) -> None:
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in NUMERIC:
        raise ValueError(
            f"A table of rows and columns was expected, got {_described(array)}. Give a data "
            "frame or an array of two dimensions."
        )


def _described(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return f"an array of shape {array.shape} and type {array.dtype}"
    return f"a {type(array).__name__}"
