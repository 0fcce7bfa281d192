"""The table and the label of a report, from what the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from immigrate.arrays import Codes
from immigrate.checks import meant_name
from immigrate.outcomes import read_classes, warn_of_other_order
from immigrate.table import Note, Reason, check_is_table, column_notes, messages


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
    target : str
        Name of the label; "" where it has none.
    groups : ndarray of shape (n,) or None
        The person or group that each sample belongs to.
    """

    X: Any
    classes: NDArray[Any]
    codes: Codes
    dates: tuple[Note, ...] = ()
    target: str = ""
    groups: NDArray[Any] | None = None

    @property
    def y(self) -> NDArray[Any]:
        """Class labels."""
        return self.classes[self.codes]

    @property
    def labels(self) -> list[str]:
        """The classes as text."""
        return [str(label) for label in self.classes]

    @classmethod
    def of(cls, X: Any, y: Any, *, reads_table: bool, groups: Any = None) -> Given:
        """`y` and `groups` may be names of columns of `X`.

        `reads_table` says whether the model sees `X` itself; a step before it may have a use
        for dates.
        """
        check_is_table(X)
        if len(np.shape(X)) != 2:
            raise ValueError(
                f"X has shape {np.shape(X)}; a table of rows and columns was expected."
            )
        target = y if isinstance(y, str) else str(getattr(y, "name", None) or "")
        if isinstance(groups, str):
            X, groups = without_column(X, groups, "groups")
        if isinstance(y, str):
            X, y = without_column(X, y, "y")
        warn_of_other_order(X, y)
        labels = read_classes(column_or_1d(y, warn=True))
        if groups is not None:
            groups = _checked_groups(groups, len(labels.codes))
        dates = date_columns(X) if reads_table and hasattr(X, "columns") else ()
        if dates:
            X = _without(X, [note.column for note in dates])
            if not X.shape[1]:
                raise ValueError(
                    "X has no column that can be used as a feature: " + " ".join(messages(dates))
                )
        return cls(X, labels.classes, labels.codes, dates, target, groups)

    @property
    def has_repeats(self) -> bool:
        """Whether a group has more than one sample."""
        return self.groups is not None and len(pd.unique(self.groups)) < len(self.groups)


def without_column(table: Any, name: str, what: str) -> tuple[Any, Any]:
    """The other columns of a data frame, and the one of this name."""
    columns = list(getattr(table, "columns", ()))
    if columns.count(name) > 1:
        raise ValueError(
            f"{what}={name!r} names {columns.count(name)} columns of the table; give each column "
            "a name of its own."
        )
    if columns.count(name) != 1:
        listed = ", ".join(map(repr, columns[:10])) + (", ..." if len(columns) > 10 else "")
        meant = meant_name(name, columns)
        if not meant and name in getattr(table, "index", ()):
            meant = f" {name!r} is a row of it; a row is to be a sample: transpose it, table.T."
        raise ValueError(
            f"{what}={name!r} is to name one column of the table, which has "
            f"{listed or 'no names'}.{meant} Give the name of the "
            + ("target column, or the labels." if what == "y" else "column, or its values.")
        )
    return _without(table, [columns.index(name)]), table[name]


def _checked_groups(groups: Any, n_samples: int) -> NDArray[Any]:
    """One group per sample, in a form that can be sorted."""
    groups = column_or_1d(groups)
    if len(groups) != n_samples:
        raise ValueError(
            f"groups has {len(groups)} entries for {n_samples} samples; give one for each."
        )
    is_missing = np.asarray(pd.isna(groups))
    if is_missing.any():
        raise ValueError(
            f"groups is missing (NaN) in {is_missing.sum()} of {n_samples} samples, first in row "
            f"{np.flatnonzero(is_missing)[0]}. Say whom each sample is of, or drop these rows."
        )
    try:
        np.unique(groups)
    except TypeError:  # names and numbers side by side
        return pd.factorize(groups)[0]
    return groups


def date_columns(X: Any) -> tuple[Note, ...]:
    """Notes about the columns that hold dates or times."""
    return tuple(note for note in column_notes(X) if note.reason is Reason.DATES)


def _without(table: Any, columns: list[int]) -> Any:
    is_kept = np.ones(table.shape[1], dtype=bool)
    is_kept[columns] = False
    if isinstance(table, pd.DataFrame):
        return table.loc[:, is_kept]
    return table[:, np.flatnonzero(is_kept).tolist()]
