"""`Report`: what a model found in a table, on one page."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Self

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from immigrate.checks import check_count, check_share
from immigrate.columns import ColumnWarning
from immigrate.estimators import ImmigrateClassifierCV, InteractionTest
from immigrate.files import write_text_whole
from immigrate.messages import heard_warnings, progress
from immigrate.report._given import Given
from immigrate.report._page import check_can_be_drawn, page
from immigrate.report._summary import Evidence, summarised


class Report:
    """One HTML page, nothing to load from elsewhere: evidence, predictions, weights, pictures.

    Use :meth:`of`; the constructor takes what :meth:`of` found.

    Parameters
    ----------
    summary : dict
        Everything the page says: numbers, words, and under "table" what `interactions` of the
        model returns.
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
        cv: int = 10,
        alpha: float = 0.05,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Self:
        """Fit, test features and pairs, cross-validate, and sum up.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            As it is: numbers, flags, categories, text and missing values. Columns that can be
            no feature are left out, and the page says which and why.
        y : array-like of shape (n_samples,) or str
            Class labels, or the name of the column of `X` that holds them.
        estimator : estimator, optional
            `ImmigrateClassifier`, `ImmigrateClassifierCV`, `BoostedImmigrateClassifier`, or a
            pipeline that ends in one. A clone is fitted. By default
            ``ImmigrateClassifierCV()``.
        title : str, default="IMMIGRATE report"
        cv : int, default=10
            Folds of cross-validation, two at least, and fewer where a class is too small for
            so many. They are shuffled with a fixed seed.
        alpha : float, default=0.05
            Adjusted p-value up to which a feature is said to matter, and two features to act
            together.
        n_jobs : int, default=None
            Processes over folds.
        verbose : bool, default=False
            Whether to print one line per stage: the fit, the test, the cross-validation.

        Returns
        -------
        Report
        """
        check_can_be_drawn()
        if check_count("cv", cv) < 2:
            raise ValueError("cv must be at least 2: one fold leaves nothing to learn from.")
        check_share("alpha", alpha)
        estimator = ImmigrateClassifierCV() if estimator is None else estimator
        _check_has_weights(_last_step(estimator))
        given = Given.of(X, y, reads_table=not isinstance(estimator, Pipeline))
        if verbose:
            progress(f"fit of {type(_last_step(estimator)).__name__} on all samples")
        model, warned = _fitted(estimator, given)
        last = _last_step(model)
        if verbose:
            progress(f"test of {last.n_features_in_} features and their pairs")
        evidence = Evidence.of(last, alpha)
        summary = summarised(
            given,
            model,
            last,
            evidence,
            title=title,
            n_folds=cv,
            warned=warned,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return cls(summary=summary, estimator=model, test=evidence.test)

    def html(self) -> str:
        """The page.

        Returns
        -------
        str
        """
        return page(self.summary, _last_step(self.estimator), self.test)

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

    def _repr_html_(self) -> str:
        # In a frame, so that the page's style and the notebook's leave each other alone.
        return (
            f'<iframe srcdoc="{escape(self.html())}" width="100%" height="700" '
            'style="border:0"></iframe>'
        )


def _fitted(estimator: Any, given: Given) -> tuple[Any, list[str]]:
    """A fitted clone, with the names of columns where all its steps can pass them on; warnings.

    The warnings are those of this library; what other steps of a pipeline warn of reaches the
    user and not the page.
    """
    # What there is to say about columns is in the summary.
    with heard_warnings(unsaid=ColumnWarning) as heard:
        model = _fitted_with_names(estimator, given.X, given.y)
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
