"""One self-contained page about a table and a label: summarise, draw, render.

    report  →  input  →  fit, test  →  panels: answers, evidence, performance, model  →  page

A panel is a stem: ``performance.py`` says what it found (``summary(context) -> dict``),
``performance.html.jinja`` and ``performance.js`` show it, and ``page.PANELS`` names it.
"""

from __future__ import annotations

from html import escape
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from immigrate.checks import check_count, check_jobs, check_option
from immigrate.estimators import InteractionTest
from immigrate.estimators.weight_matrix import evidence_table
from immigrate.files import json_text, write_text_whole
from immigrate.outcomes import OUTCOMES
from immigrate.report import page
from immigrate.report.answers import in_lines
from immigrate.report.input import ReportInput, fitted_and_tested, last_step

__all__ = ["Report"]


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
        outcome: str = "auto",
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
            Class labels or numbers, or the name of the column of `X` that holds them.
        estimator : estimator, optional
            `ImmigrateClassifier`, `ImmigrateClassifierCV`, `BoostedImmigrateClassifier`, or a
            pipeline that ends in one; `ImmigrateRegressor` for numbers. A clone is fitted. By
            default ``ImmigrateClassifierCV()`` or ``ImmigrateRegressor()`` with a fixed seed.
            With more than 150 features it has a screen, made anew in every fold, that keeps at
            most 100 of them and those of the strongest pairs.
        title : str, default="IMMIGRATE report"
        outcome : {"auto", "class", "number"}, default="auto"
            What the label is. "auto" goes by the test, then by the estimator, and else by the
            values, as in `InteractionTest`.
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
            them; the default model takes ``circular_features`` from the test.
        n_jobs : int, default=None
            Threads of the fit and of the test, processes over folds. The page does not depend
            on it.
        verbose : bool, default=False
            Whether to print a line for every stage and every fold.

        Returns
        -------
        Report
        """
        # Said at once, and not after minutes of work.
        if find_spec("jinja2") is None:
            raise ImportError("The report needs jinja2: pip install 'immigrate[report]'")
        # Anything else is a splitter or a list of splits, which scikit-learn checks.
        if isinstance(cv, int | np.integer | float | str) and check_count("cv", cv) < 2:
            raise ValueError("cv must be at least 2: one fold leaves nothing to learn from.")
        check_jobs(n_jobs)
        if not isinstance(title, str):
            raise TypeError(f"title must be a text, got {title!r}.")
        if estimator is not None:
            _check_has_pairs(last_step(estimator))
        if test is not None:
            _check_test(test)
        if check_option("outcome", outcome, OUTCOMES) == "auto":
            outcome = "auto" if test is None else test.outcome
        if outcome == "auto" and estimator is not None:
            outcome = "number" if is_regressor(last_step(estimator)) else "class"
        drops_dates, options = not isinstance(estimator, Pipeline), {"cv": cv, "n_jobs": n_jobs}
        given = ReportInput.of(
            X,
            y,
            groups=groups,
            outcome=outcome,
            drops_dates=drops_dates,
            verbose=verbose,
            **options,
        )
        context = fitted_and_tested(given, estimator, test)
        summary = page.summarised(context, title)
        return cls(summary=summary, estimator=context.fitted, test=context.test)

    @property
    def table(self) -> pd.DataFrame:
        """Every feature and pair with its evidence and its weight, strongest evidence first."""
        weights = last_step(self.estimator).interactions()
        return weights if self.test is None else evidence_table(weights, self.test)

    def html(self) -> str:
        """The page.

        Returns
        -------
        str
        """
        return page.html(self.summary)

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
        return write_text_whole(path, json_text(self.summary, indent=1))

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


def _check_has_pairs(model: Any) -> None:
    if not hasattr(model, "interactions"):
        raise TypeError(
            f"{type(model).__name__} has no weights of pairs to report; use ImmigrateClassifier, "
            "ImmigrateClassifierCV, BoostedImmigrateClassifier or ImmigrateRegressor, alone or at "
            "the end of a pipeline."
        )


def _check_test(test: Any) -> None:
    """Refuse what is no test of pairs in a table with classes."""
    if not isinstance(test, InteractionTest):
        raise TypeError(f"test must be an InteractionTest or None, got {test!r}.")
    if test.order != 2:
        raise ValueError(
            f"The report shows pairs, and {test!r} is about something else. Fit it on its own, "
            "and print its summary()."
        )
    test._check_parameters()
