"""The table and the label of a report, from what the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from immigrate.columns import Note, Reason, column_notes, read_labels
from immigrate.typing import Codes


@dataclass(frozen=True, eq=False)
class Given:
    """What a report is about.

    Attributes
    ----------
    X : data frame or array-like of shape (n, p)
        The features, without the target and without dates.
    classes : ndarray
    codes : ndarray of shape (n,)
        Index of each sample's class.
    dates : tuple of Note
        Columns of dates and times, which no model takes.
    """

    X: Any
    classes: NDArray[Any]
    codes: Codes
    dates: tuple[Note, ...] = ()

    @property
    def y(self) -> NDArray[Any]:
        """Class labels."""
        return self.classes[self.codes]

    @classmethod
    def of(cls, X: Any, y: Any, *, reads_table: bool) -> Given:
        """`y` may be the name of a column of `X`.

        `reads_table` says whether the model sees `X` itself; a step before it may have a use
        for dates.
        """
        if isinstance(y, str):
            X, y = without_target(X, y)
        labels = read_labels(column_or_1d(y, warn=True))
        dates = date_columns(X) if reads_table and hasattr(X, "columns") else ()
        if dates:
            X = _without(X, [note.column for note in dates])
        return cls(X, *labels, dates)


def without_target(table: Any, name: str) -> tuple[Any, Any]:
    """The other columns of a data frame, and the one of this name."""
    columns = list(getattr(table, "columns", ()))
    if columns.count(name) != 1:
        listed = ", ".join(map(repr, columns[:10])) + (", ..." if len(columns) > 10 else "")
        raise ValueError(
            f"y={name!r} is to name one column of the table, which has {listed or 'no names'}. "
            "Give the name of the target column, or the labels."
        )
    return _without(table, [columns.index(name)]), table[name]


def date_columns(X: Any) -> tuple[Note, ...]:
    """Notes about the columns that hold dates or times."""
    return tuple(note for note in column_notes(X) if note.reason is Reason.DATES)


def _without(table: Any, columns: list[int]) -> Any:
    is_kept = np.ones(table.shape[1], dtype=bool)
    is_kept[columns] = False
    if isinstance(table, pd.DataFrame):
        return table.loc[:, is_kept]
    return table[:, np.flatnonzero(is_kept).tolist()]
