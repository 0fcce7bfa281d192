"""Table and label of a report, its model and its test: what the panels are made from."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d

from immigrate.arrays import Array, Codes
from immigrate.checks import meant_name
from immigrate.estimators import InteractionTest
from immigrate.estimators.immigrate_cv import default_model, is_wide, words_of_screen
from immigrate.estimators.interaction_test import fitted_on_table
from immigrate.kinds.column import Content
from immigrate.outcomes import (
    is_number_outcome,
    read_classes,
    read_numbers,
    warn_of_other_order,
)
from immigrate.outcomes.classes import Labels
from immigrate.progress import collected_warnings, print_line
from immigrate.table import (
    ColumnWarning,
    Note,
    Reason,
    Table,
    check_is_table,
    messages,
    read_table,
)
from immigrate.table.open import opened

SCREENED_ANEW = (
    "The screen is made anew in every fold, without the samples held out. The test looks at all "
    "features and all pairs."
)


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
    cv : int, splitter, iterable of splits or None
    n_jobs : int or None
    verbose : bool
    """

    X: Any
    outcome: Labels
    dates: tuple[Note, ...] = ()
    groups: NDArray[Any] | None = None
    cv: Any = None
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        outcome: str = "class",
        drops_dates: bool = True,
        cv: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> ReportInput:
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
        y = column_or_1d(y, warn=True)
        is_number = outcome == "number" or (outcome == "auto" and is_number_outcome(y))
        labels = replace(read_numbers(y) if is_number else read_classes(y), name=name)
        if groups is not None:
            groups = _checked_groups(groups, len(labels.codes))
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
        return cls(X, labels, dates, groups, cv, n_jobs, verbose)


class Thirds(NamedTuple):
    """A number in three parts of like size, where pictures and tables need few groups."""

    labels: list[str]
    codes: Codes

    @classmethod
    def of(cls, numbers: Array) -> Thirds:
        """Parts between the quantiles 1/3 and 2/3; fewer where many numbers are equal."""
        cuts = np.unique(np.quantile(numbers, [1 / 3, 2 / 3], method="lower"))
        cuts = cuts[cuts < numbers.max()]
        texts = [f"{cut:.4g}".replace("-", "−") for cut in cuts]
        labels = [f"above {a} to {b}" for a, b in itertools.pairwise(texts)]
        if not texts:
            return cls(["all"], np.zeros(len(numbers), dtype=np.intp))
        return cls(
            [f"up to {texts[0]}", *labels, f"above {texts[-1]}"],
            np.searchsorted(cuts, numbers, side="left"),
        )


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
        The features as the model reads them, whatever it keeps of the samples.
    test : InteractionTest or None
        Fitted on all samples; None where these are not independent.
    unfitted_test : InteractionTest
        The test with its options, not fitted.
    warned : sequence of str
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
    warned: Sequence[str]
    choice: str
    found: Mapping[str, Any] = field(default_factory=dict)


def fitted_and_tested(
    given: ReportInput, estimator: Any, unfitted_test: InteractionTest | None
) -> Context:
    """The model and the test, fitted on all samples."""
    n_features, choice = np.shape(given.X)[1], ""
    if estimator is None:
        # The model that we choose reads columns as the test does.
        circular, numbers = (
            getattr(unfitted_test, "circular_features", None),
            given.outcome.numbers,
        )
        estimator = default_model(n_features, circular, is_number=numbers is not None)
        choice = f"{words_of_screen(n_features)} {SCREENED_ANEW}" if is_wide(n_features) else ""
    if given.verbose:
        print_line(f"fit of {type(last_step(estimator)).__name__} on all samples")
    fitted, warned = fitted_clone(estimator, given)
    model, reader = last_step(fitted), last_step(fitted).column_reader_
    values = read_table(model, as_last_step_gets(fitted, given.X))
    # Columns that are no features are not in the model, and are not tested either.
    table = Table.of_values(reader, values, given.outcome).features(reader.is_used)
    test, unfitted_test = None, InteractionTest() if unfitted_test is None else unfitted_test
    # A test takes samples to be independent, and those of one group are not.
    if given.groups is None or len(pd.unique(given.groups)) == len(given.groups):
        if given.verbose:
            print_line(f"test of {model.n_features_in_} features and their pairs")
        test = clone(unfitted_test)
        test.verbose = given.verbose
        # As many threads as the report, unless the user gave the test a number.
        test.n_jobs = given.n_jobs if test.n_jobs is None else test.n_jobs
        test = fitted_on_table(test, table)
        test.column_reader_ = reader
    return Context(given, estimator, fitted, model, table, test, unfitted_test, warned, choice)


def fitted_clone(estimator: Any, given: ReportInput) -> tuple[Any, list[str]]:
    """A fitted clone of the estimator, and the warnings of its fit.

    Its steps get names of columns where all of them can pass them on. The warnings are those of
    this library; what other steps of a pipeline warn of reaches the user and not the page.
    """
    estimator, X, labels = clone(estimator), given.X, given.outcome
    y = labels.classes[labels.codes] if labels.numbers is None else labels.numbers
    # A number that the user gave to the model stays; the page shows the settings without ours.
    is_free = getattr(last_step(estimator), "n_jobs", 0) is None
    if is_free:
        last_step(estimator).n_jobs = given.n_jobs
    # What there is to say about columns is in the summary.
    with collected_warnings(hidden=ColumnWarning) as heard:
        if isinstance(estimator, Pipeline) and hasattr(X, "columns"):
            try:
                fitted = clone(estimator).set_output(transform="pandas").fit(X, y)
            except ValueError:
                # A step without output in pandas, or an error that comes again.
                fitted = estimator.fit(X, y)
        else:
            fitted = estimator.fit(X, y)
    if is_free:
        last_step(fitted).n_jobs = None
    return fitted, list(dict.fromkeys(heard))


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
            f"{np.flatnonzero(is_missing)[0]}. Name the group of each sample, or drop these rows."
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
