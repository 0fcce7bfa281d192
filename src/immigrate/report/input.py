"""The table and the label of a report, and what its panels are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d

from immigrate.checks import meant_name
from immigrate.estimators import InteractionTest
from immigrate.kinds.column import Content
from immigrate.outcomes import read_classes, warn_of_other_order
from immigrate.outcomes.classes import Labels
from immigrate.table import Note, Reason, Table, check_is_table, messages
from immigrate.table.open import opened


@dataclass(frozen=True, eq=False)
class ReportInput:
    """What a report is about.

    Attributes
    ----------
    X : data frame or array-like of shape (n, p)
        The features, without the target and without dates.
    outcome : Labels
        Classes, the class of each sample, and what the label is called.
    dates : tuple of Note
        Columns of dates and times, which no model takes.
    groups : ndarray of shape (n,) or None
        The person or group that each sample belongs to.
    """

    X: Any
    outcome: Labels
    dates: tuple[Note, ...] = ()
    groups: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, y: Any, *, groups: Any = None, drops_dates: bool = True) -> ReportInput:
        """Table and target, checked; `y` and `groups` may be names of columns of `X`.

        Dates stay for a pipeline: a step of it may have a use for them.
        """
        check_is_table(X)
        if len(np.shape(X)) != 2:
            raise ValueError(
                f"X has shape {np.shape(X)}; a table of rows and columns was expected."
            )
        name = y if isinstance(y, str) else str(getattr(y, "name", None) or "")
        if isinstance(groups, str):
            X, groups = without_column(X, groups, "groups")
        if isinstance(y, str):
            X, y = without_column(X, y, "y")
        warn_of_other_order(X, y)
        outcome = replace(read_classes(column_or_1d(y, warn=True)), name=name)
        if groups is not None:
            groups = _checked_groups(groups, len(outcome.codes))
        dates: tuple[Note, ...] = ()
        # Arrays hold no dates, and in most tables all columns are numbers.
        is_numeric = isinstance(X, pd.DataFrame) and all(one.kind in "biuf" for one in X.dtypes)
        if drops_dates and hasattr(X, "columns") and not is_numeric:
            dates = tuple(
                Note(j, column.name, Reason.DATES, column.type_name)
                for j, column in enumerate(opened(X).columns or ())
                if column.content is Content.DATES
            )
        if dates:
            X = _without(X, [note.column for note in dates])
            if not X.shape[1]:
                raise ValueError(
                    "X has no column that can be used as a feature: " + " ".join(messages(dates))
                )
        return cls(X, outcome, dates, groups)


@dataclass(frozen=True, eq=False)
class Context:
    """What the panels are made from.

    Attributes
    ----------
    given : ReportInput
    estimator : estimator
        What is cross-validated, not fitted.
    fitted : estimator
        The same, fitted on all samples.
    model : estimator with `interactions`
        `fitted`, or its last step.
    table : Table
        The features as `model` reads them, whatever it keeps of the samples.
    test : InteractionTest or None
        Fitted on all samples; None where these are not independent.
    unfitted_test : InteractionTest
        The test with its options, not fitted.
    cv : int, splitter or iterable of splits
    n_jobs : int or None
    verbose : bool
    warned : tuple of str
        Warnings of the fit.
    choice : str
        What was decided for the user about the model, in words.
    found : mapping
        What the panels before this one found, as the page shows it.
    """

    given: ReportInput
    estimator: Any
    fitted: Any
    model: Any
    table: Table
    test: InteractionTest | None
    unfitted_test: InteractionTest
    cv: Any
    n_jobs: int | None
    verbose: bool
    warned: tuple[str, ...]
    choice: str
    found: Mapping[str, Any]


def last_step(estimator: Any) -> Any:
    """The estimator itself, or the one that a pipeline ends in."""
    return estimator[-1] if isinstance(estimator, Pipeline) else estimator


def as_last_step_gets(fitted: Any, X: Any) -> Any:
    """A table after the first steps of a fitted pipeline; without such steps the table itself."""
    has_steps_before = isinstance(fitted, Pipeline) and len(fitted) > 1
    return fitted[:-1].transform(X) if has_steps_before else X


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


def _without(table: Any, columns: list[int]) -> Any:
    is_kept = np.ones(table.shape[1], dtype=bool)
    is_kept[columns] = False
    if isinstance(table, pd.DataFrame):
        return table.loc[:, is_kept]
    return table[:, np.flatnonzero(is_kept).tolist()]
