"""`Report`: what a model found in a table, on one page."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from immigrate.checks import check_count, check_jobs
from immigrate.durations import is_wide
from immigrate.estimators import InteractionTest
from immigrate.estimators.default_model import default_model, words_of_screen
from immigrate.estimators.model_evidence import given_table
from immigrate.estimators.weight_table import evidence_table
from immigrate.files import write_text_whole
from immigrate.progress import collected_warnings, print_line
from immigrate.report._answers import in_lines
from immigrate.report._evidence import Evidence
from immigrate.report._given import Given
from immigrate.report._page import as_json, page, template_environment
from immigrate.report._performance import performance
from immigrate.report._summary import summarised
from immigrate.table import ColumnWarning

# Of wide tables, whose models are screened in every fold anew, there are fewer folds.
FOLDS, FOLDS_OF_WIDE = 10, 5


class Report:
    """One HTML page, nothing to load from elsewhere: evidence, predictions, weights, pictures.

    Use :meth:`of`; the constructor takes what :meth:`of` found.

    Parameters
    ----------
    summary : dict
        Everything the page says, as JSON can hold it; `format` is its version.
    estimator : estimator
        The model behind it, fitted on all samples.
    test : InteractionTest, optional
        The test behind it, fitted on all samples; None where none could be made.

    Examples
    --------
    >>> from immigrate import Report
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()
    >>> report = Report.of(X, y, title="MONK-1", cv=3)
    >>> found = report.summary["test"]["found"]
    >>> [(pair["feature_1"], pair["feature_2"]) for pair in found]
    [('head_shape', 'body_shape')]
    >>> [feature["feature"] for feature in report.summary["test"]["shown"]]
    ['jacket_color']
    >>> report.save("monk1.html")  # doctest: +SKIP
    """

    def __init__(
        self, *, summary: dict[str, Any], estimator: Any, test: InteractionTest | None = None
    ) -> None:
        self.summary = summary
        self.estimator = estimator
        self.test = test

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        estimator: Any = None,
        *,
        title: str = "IMMIGRATE report",
        cv: Any = None,
        groups: Any = None,
        test: InteractionTest | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Self:
        """Fit, test features and pairs, cross-validate, and sum up.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Numbers, flags, categories, text and missing values, as they are. Columns that cannot
            be features are left out, and the page says which and why.
        y : array-like of shape (n_samples,) or str
            Class labels, or the name of the column of `X` that holds them.
        estimator : estimator, optional
            `ImmigrateClassifier`, `ImmigrateClassifierCV`, `BoostedImmigrateClassifier`, or a
            pipeline that ends in one. A clone is fitted. By default ``ImmigrateClassifierCV()``
            with a fixed seed. With more than 150 features it has a screen, made anew
            in every fold, that keeps at most 100 of them and those of the strongest pairs.
        title : str, default="IMMIGRATE report"
        cv : int, splitter or iterable of splits, default=None
            A number of folds, two at least, and fewer where a class is too small for so many;
            they are shuffled with a fixed seed. None is 10, or 5 for more than 150 features. A
            splitter or splits are taken as they are.
        groups : array-like of shape (n_samples,) or str, optional
            The person or group that each sample belongs to, or the name of the column of `X`
            that says so. No group is on both sides of a fold. If a group has more than one
            sample, features and pairs are not tested, because the test assumes independence.
        test : InteractionTest, optional
            How features and pairs are tested; a clone is fitted. By default
            ``InteractionTest()``. ``InteractionTest(alpha=0.1)`` names features and pairs up to
            an adjusted p of 0.1, ``adjust_for=["age"]`` keeps a covariate in the model and out
            of all pairs, ``pairs="dose"`` tests the pairs of one feature, and ``split=0.5``
            measures effects on samples that chose no pair. Columns are read as the model reads
            them.
        n_jobs : int, default=None
            Threads of the fit and of the test, processes over folds. The page does not depend
            on it.
        verbose : bool, default=False
            Whether to print a line for every stage and every fold.

        Returns
        -------
        Report
        """
        # Fails at once where jinja2 is missing, and not after minutes of work.
        template_environment()
        _check_folds(cv)
        check_jobs(n_jobs)
        if not isinstance(title, str):
            raise TypeError(f"title must be a text, got {title!r}.")
        test = InteractionTest() if test is None else _checked_test(test)
        if estimator is not None:
            _check_has_weights(_last_step(estimator))
        given = Given.of(X, y, reads_table=not isinstance(estimator, Pipeline), groups=groups)
        say = print_line if verbose else _silence
        n_features = np.shape(given.X)[1]
        choices = _words_of_test(test)
        if estimator is None:
            estimator = default_model(n_features)
            choices = [*_words_of_screen(n_features), *choices]
        folds = (FOLDS_OF_WIDE if is_wide(n_features) else FOLDS) if cv is None else cv
        say(f"fit of {type(_last_step(estimator)).__name__} on all samples")
        model, warned = _fitted(estimator, given, n_jobs)
        last = _last_step(model)
        evidence = _evidence(given, last, _with_jobs(test, n_jobs, verbose), say)
        found = performance(given, estimator, folds, n_jobs=n_jobs, verbose=verbose)
        say("joint effects and the page")
        summary = summarised(
            given,
            model,
            last,
            evidence,
            title=title,
            performance=found,
            warned=warned,
            choices=choices,
            settings=repr(test),
        )
        return cls(summary=summary, estimator=model, test=evidence.test)

    @property
    def table(self) -> pd.DataFrame:
        """Every feature and pair with its evidence and its weight, strongest evidence first."""
        weights = _last_step(self.estimator).interactions()
        return weights if self.test is None else evidence_table(weights, self.test)

    def html(self) -> str:
        """The page.

        Returns
        -------
        str
        """
        return page(self.summary)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page, all of it or nothing: an error leaves the file that was there.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        pathlib.Path
            Where it is.
        """
        return write_text_whole(path, self.html())

    def save_json(self, path: str | PathLike[str]) -> Path:
        """Write what the page says as JSON, all of it or nothing.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        pathlib.Path
            Where it is.
        """
        return write_text_whole(path, as_json(self.summary, indent=1) + "\n")

    def __str__(self) -> str:
        return in_lines(self.summary["title"], self.summary["answers"])

    def __repr__(self) -> str:
        data = self.summary["data"]
        return (
            f"<Report {self.summary['title']!r}: {data['n_samples']} samples, "
            f"{data['n_features']} features>"
        )

    def _repr_html_(self) -> str:
        # In a frame, so that the page's style and the notebook's leave each other alone.
        return (
            f'<iframe srcdoc="{escape(self.html())}" width="100%" height="700" '
            'style="border:0"></iframe>'
        )


def _check_folds(cv: Any) -> None:
    # Anything else is a splitter or a list of splits, which scikit-learn checks.
    if isinstance(cv, int | np.integer | float | str) and check_count("cv", cv) < 2:
        raise ValueError("cv must be at least 2: one fold leaves nothing to learn from.")


def _checked_test(test: Any) -> InteractionTest:
    """The test itself, if it is one of pairs in a table with classes."""
    if not isinstance(test, InteractionTest):
        raise TypeError(f"test must be an InteractionTest or None, got {test!r}.")
    if test.order != 2 or test.outcome == "number":
        raise ValueError(
            f"The report shows pairs and classes, and {test!r} is about something else. Fit it "
            "on its own, and print its summary()."
        )
    test._check_parameters()
    return test


def _with_jobs(test: InteractionTest, n_jobs: int | None, verbose: bool) -> InteractionTest:
    """A clone that works with as many threads as the report, unless the user gave it a number."""
    own = clone(test)
    return own.set_params(n_jobs=n_jobs if own.n_jobs is None else own.n_jobs, verbose=verbose)


def _words_of_screen(n_features: int) -> list[str]:
    words = words_of_screen(n_features)
    more = (
        " The screen is made anew in every fold, without the samples held out. The test looks at "
        "all features and all pairs."
    )
    return [words + more] if words else []


def _words_of_test(test: InteractionTest) -> list[str]:
    """What the test leaves out by the user's wish."""
    words = []
    if test.adjust_for is not None:
        covariates = ", ".join(map(str, np.atleast_1d(test.adjust_for)))
        words.append(
            f"The test is adjusted for {covariates}: in its model of the features' own effects, "
            "tested neither alone nor in a pair."
        )
    if test.pairs is not None:
        words.append(
            "Only the pairs that were asked for are tested, and p-values are adjusted for these."
        )
    return words


def _silence(line: str) -> None:
    """Print nothing: progress was not asked for."""


def _evidence(given: Given, model: Any, test: InteractionTest, say: Any) -> Evidence:
    """What the test says of the features that a model was given."""
    read = given_table(model)
    if given.has_repeats:
        why = (
            "Some groups have more than one sample, and the test takes samples to be independent. "
            "Give one sample of each, or their mean."
        )
        return Evidence(test.alpha, read, why_untested=why)
    say(f"test of {model.n_features_in_} features and their pairs")
    return Evidence.of(model, read, test)


def _fitted(estimator: Any, given: Given, n_jobs: int | None = None) -> tuple[Any, list[str]]:
    """A fitted clone, with the names of columns where all its steps can pass them on; warnings.

    The warnings are those of this library; what other steps of a pipeline warn of reaches the
    user and not the page.
    """
    estimator = clone(estimator)
    # A number that the user gave to the model stays; the page shows the settings without ours.
    is_free = _last_step(estimator).get_params(deep=False).get("n_jobs", 0) is None
    if is_free:
        _last_step(estimator).set_params(n_jobs=n_jobs)
    # What there is to say about columns is in the summary.
    with collected_warnings(unsaid=ColumnWarning) as heard:
        model = _fitted_with_names(estimator, given.X, given.y)
    if is_free:
        _last_step(model).set_params(n_jobs=None)
    return model, list(dict.fromkeys(heard))


def _fitted_with_names(estimator: Any, X: Any, y: Any) -> Any:
    if not isinstance(estimator, Pipeline) or not hasattr(X, "columns"):
        return clone(estimator).fit(X, y)
    try:
        return clone(estimator).set_output(transform="pandas").fit(X, y)
    except ValueError:
        # A step without output in pandas, or an error that comes again.
        return clone(estimator).fit(X, y)


def _last_step(model: Any) -> Any:
    return model[-1] if isinstance(model, Pipeline) else model


def _check_has_weights(model: Any) -> None:
    if not hasattr(model, "interactions"):
        raise TypeError(
            f"{type(model).__name__} has no weights of pairs to report; use ImmigrateClassifier, "
            "ImmigrateClassifierCV or BoostedImmigrateClassifier, alone or at the end of a "
            "pipeline."
        )
