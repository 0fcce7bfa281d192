"""Screening: which features enter the weight matrix of a wide table, section 3.6 of the paper.

    weigh the features -> those at or above the limit, the strongest first -> and those named

Each stage gives a weight or a mask over all features; a screen that looks at pairs joins as one
more mask.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from immigrate.arrays import Array, Mask
from immigrate.checks import check_count, check_not_negative, check_option
from immigrate.core.cones import VECTOR_SETS, Cone, share
from immigrate.core.forms import LINEAR
from immigrate.durations import announce
from immigrate.kernels.threads import n_threads, one_blas_thread
from immigrate.margin.encoding import Encoding
from immigrate.margin.problem import MarginProblem
from immigrate.progress import Run, report_progress, warn_user
from immigrate.solvers import Solution, Solver, even_start, warn_unless_converged
from immigrate.table import SampleWeight, Table
from immigrate.table.weights import is_comparable

# Features that stay where none passes, and features of pairs that "pairs" adds.
N_BEST = 5
N_OF_PAIRS = 20
LEAST_SHARE = 1e-6
SCREENS = ("im4e", "pairs")
# Of IM4E: weights sum to about 1, and so distances are about 1 in units of the deviation.
DEFAULT_SIGMA = 0.125


class Screened(NamedTuple):
    """What a screen says.

    Attributes
    ----------
    is_kept : ndarray of shape (n_features,)
    importances : ndarray of shape (n_features,)
        Sizes that sum to 1.
    """

    is_kept: Mask
    importances: Array


class Screen(BaseEstimator):
    """Which features enter the weight matrix: a first look at tables of any width.

    A weight matrix has a number for every pair of features, so more than a few hundred features
    are too many. A screen weighs the features one by one, and only those that pass enter. One
    that looks at single features can lose features that matter only together: "pairs" looks
    at pairs too.

    Parameters
    ----------
    by : "im4e", "pairs" or estimator, default="im4e"
        What weighs the features. "im4e" is the paper's IM4E-IMMIGRATE; "pairs" keeps what
        "im4e" keeps and the 20 features of the strongest pairs of `InteractionTest`; an
        estimator needs `feature_importances_` or `coef_`.
    threshold : float or None, default=None
        Features pass with an importance of at least this, where all importances sum to 1.
        None is the paper's limit, 2 / n_features: twice the average, where columns that are
        no features do not count. If none passes, the best five do, with a warning.
    max_features : int or None, default=200
        Most features that may pass, the strongest first; None is no limit. W has this number
        squared, and time grows with it: 2 / n_features can let thousands of genes pass. The
        features of `keep`, and of the pairs with ``by="pairs"``, come on top.
    keep : array-like of str or int, default=None
        Names or indices of features that stay whatever the screen says.

    See Also
    --------
    ImmigrateClassifier : Takes a screen as `screen`.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import Screen
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()
    >>> screen = Screen(threshold=0.3, keep=["has_tie"])
    >>> list(ImmigrateClassifier(screen=screen).fit(X, y).get_feature_names_out())
    ['head_shape', 'body_shape', 'jacket_color', 'has_tie']
    """

    def __init__(
        self,
        by: Any = "im4e",
        *,
        threshold: float | None = None,
        max_features: int | None = 200,
        keep: Any = None,
    ) -> None:
        self.by = by
        self.threshold = threshold
        self.max_features = max_features
        self.keep = keep

    def passed(
        self, data: Table, solver: Solver, encoding: Encoding, n_jobs: int | None = None
    ) -> Screened:
        """Which features pass, and with what importance.

        Parameters
        ----------
        data : Table
        solver : Solver
            IM4E takes steps of the same kind.
        encoding : Encoding
            What the values of the table are in units of.
        n_jobs : int, optional
            Threads.

        Returns
        -------
        Screened
        """
        self._check_parameters()
        p = data.values.shape[1]
        is_named = named_features(self.keep, data.feature_names, p)
        # Dates, identifiers and columns without a value are no features, whoever names them.
        is_used = data.reader.is_used
        importance = np.zeros(p)
        importance[is_used] = self._importances(data, solver, encoding, n_jobs)
        limit = 2 / is_used.sum() if self.threshold is None else self.threshold
        is_kept = is_named & is_used
        # Importances of columns that are no features take no part, not even as the weakest.
        is_kept[is_used] |= passes(importance[is_used], limit, self.max_features)
        if isinstance(self.by, str) and self.by == "pairs":
            is_kept |= in_strong_pairs(data, n_jobs)
        return Screened(is_kept, importance)

    def _check_parameters(self) -> None:
        if isinstance(self.by, str):
            check_option("by", self.by, SCREENS)
        elif not hasattr(self.by, "fit") or isinstance(self.by, type):
            raise TypeError(
                f"by is one of {sorted(SCREENS)} or an estimator with feature_importances_ or "
                f"coef_; got {self.by!r}."
            )
        if self.threshold is not None:
            check_not_negative("threshold", self.threshold)
        if self.max_features is not None:
            check_count("max_features", self.max_features)

    def _importances(
        self, data: Table, solver: Solver, encoding: Encoding, n_jobs: int | None
    ) -> Array:
        if isinstance(self.by, str):
            return im4e_importances(data, solver, encoding, n_jobs)
        # A regularised screen reads weights as counts: D sums to 1, counts to the sample size.
        weight = None if data.anchor_weight is None else data.anchor_weight * len(data.values)
        is_used = data.reader.is_used
        X = data.values if is_used.all() else data.values[:, is_used]
        return importances(clone(self.by), X, data.outcome.classes[data.outcome.codes], weight)


def resolved_screen(screen: Any) -> Screen | None:
    """The screen that a name stands for; a `Screen`, and None, stay the same."""
    if isinstance(screen, str):
        return Screen(check_option("screen", screen, SCREENS))
    if screen is not None and not isinstance(screen, Screen):
        raise TypeError(
            f"screen must be None, 'im4e', 'pairs' or a Screen, got {screen!r}. An estimator that "
            "weighs features goes into one: screen=Screen(estimator)."
        )
    return screen


def in_strong_pairs(data: Table, n_jobs: int | None = None) -> Mask:
    """Mask of the features of the strongest pairs, in the order of the interaction test."""
    # Here, because other fits need nothing of the test.
    from immigrate.additive.design import table_design
    from immigrate.additive.null_model import null_model
    from immigrate.interactions.adjustments import ADJUSTMENTS
    from immigrate.interactions.question import Question
    from immigrate.interactions.search import Search, first_round, predicted_duration

    reader = data.reader
    # A column of one value is in no pair.
    is_varying = reader.is_used & ~reader.is_constant
    if is_varying.sum() < 2:
        return is_varying
    is_strong = np.zeros(data.values.shape[1], dtype=bool)
    count = None
    if data.weight is not None:
        count = data.weight.as_counts()
        # A sample that counts a millionth of another says nothing, and leaves the test no digits.
        count = np.where(count > 0, np.maximum(count, LEAST_SHARE * count.max()), 0.0)
        if not is_comparable(data.outcome.codes, count):
            return is_strong
    weight = None if count is None else SampleWeight(count, "count")
    table = replace(data.features(is_varying), weight=weight).counted()
    run = Run(n_jobs, report_progress, 0.0)
    # One round of the test: a screen needs the order of the pairs and no list of finds, so that
    # nothing is adjusted and alpha means nothing.
    search = Search(Question(), ADJUSTMENTS[None], alpha=1.0, run=run)
    with one_blas_thread():
        design = table_design(table, run=run)
        seconds = predicted_duration(search, design).seconds
        announce("screen='pairs'", seconds, "n_jobs=-1 uses all cores, screen='im4e' is faster")
        tested = first_round(search, null_model(design), search.question)
    in_order = design.columns[tested.terms.ravel()]
    _, first = np.unique(in_order, return_index=True)
    strongest = in_order[np.sort(first)][:N_OF_PAIRS]
    is_strong[np.flatnonzero(is_varying)[strongest]] = True
    return is_strong


def im4e_importances(data: Table, solver: Solver, encoding: Encoding, n_jobs: int | None) -> Array:
    """Feature weights of IM4E by steps of the kind of `solver`, with limits of their own.

    Only of the columns that are features.
    """
    is_used = data.reader.is_used
    encoding = encoding.columns(is_used)
    problem = MarginProblem(
        data.values if is_used.all() else data.values[:, is_used],
        data.outcome.codes if data.outcome.numbers is None else data.outcome.numbers,
        form=LINEAR,
        kinds=encoding.kinds,
        anchor_weight=data.anchor_weight,
        n_threads=n_threads(n_jobs),
    )
    # The user's limits on steps are meant for the matrix.
    own_limits = type(solver)()
    solution = feature_weights(problem, own_limits)
    warn_unless_converged(solution, own_limits)
    return as_shares(share(solution.weights))


def importances(screen: Any, X: Any, y: Any, sample_weight: Array | None = None) -> Array:
    """Importances that `screen` learns, as sizes that sum to 1."""
    if sample_weight is not None and has_fit_parameter(screen, "sample_weight"):
        screen.fit(X, y, sample_weight=sample_weight)
    else:
        screen.fit(X, y)
    if hasattr(screen, "feature_importances_"):
        size = np.abs(screen.feature_importances_)
    elif hasattr(screen, "coef_"):
        size = np.abs(screen.coef_).reshape(-1, X.shape[1]).sum(axis=0)
    else:
        raise ValueError(
            f"{screen!r} has neither feature_importances_ nor coef_ after fit, so it cannot "
            "weigh features; use one that has."
        )
    return as_shares(size)


def as_shares(size: Array) -> Array:
    """Sizes that sum to 1."""
    # A screen that sees no difference, such as a lasso with nothing left, weighs all alike.
    return share(size) if size.any() else np.full(len(size), 1 / len(size))


def passes(importance: Array, limit: float, n_max: int | None = None) -> Mask:
    """Mask of the features of at least `limit`, the `n_max` strongest; the best few if none."""
    if (importance >= limit).any():
        return chosen_by_importance(importance, limit, n_max)
    n_best = min(N_BEST, len(importance))
    warn_user(
        f"No feature's screening weight is {limit:.3g} or more (the largest is "
        f"{importance.max():.3g}); the best {n_best} stay. Lower the threshold of the screen "
        "to keep more, or name features in its keep.",
        UserWarning,
    )
    return chosen_by_importance(importance, None, min(n_best, n_max or n_best))


def named_features(keep: Any, names: np.ndarray | None, n_features: int) -> Mask:
    """Mask of the features that `keep` lists by name or by index."""
    is_named = np.zeros(n_features, dtype=bool)
    if keep is None:
        return is_named
    if not isinstance(keep, str | Integral | Iterable):
        raise ValueError(f"keep lists names or indices of features, got {keep!r}.")
    for feature in [keep] if isinstance(keep, str | Integral) else keep:
        is_named[_index(feature, names, n_features)] = True
    return is_named


def _index(feature: Any, names: np.ndarray | None, n_features: int) -> int:
    if not isinstance(feature, str):
        if not isinstance(feature, Integral) or isinstance(feature, bool):
            raise ValueError(f"keep lists names or indices of features, got {feature!r}.")
        if not -n_features <= int(feature) < n_features:
            raise ValueError(f"keep lists feature {feature}, but X has {n_features} features.")
        return int(feature)
    if names is None:
        raise ValueError(
            f"keep lists {feature!r}, but X came without column names; "
            "give indices, or a DataFrame."
        )
    if feature not in names:
        raise ValueError(f"keep lists {feature!r}, which is not a column of X.")
    return list(names).index(feature)


def vector_set(solver: Solver) -> Cone:
    """Where the weights of features live."""
    # Scaled to sum 1, the step is not the best of its set, and descent along it ends at a
    # few features (docs/deviations.md): for solvers that do not ask for a projection.
    return VECTOR_SETS["sphere" if solver.needs_projection else "sum"]


def feature_weights(
    problem: MarginProblem, solver: Solver, sigma: float = DEFAULT_SIGMA
) -> Solution:
    """What IM4E finds for a problem with a linear form."""
    start = even_start(solver, problem.n_features)
    return solver.solution(problem, start, sigma, vector_set(solver))


def chosen_by_importance(
    importance: Array, threshold: float | None, count: int | float | None
) -> Mask:
    """Features of at least `threshold`, and of these the `count` most important.

    Parameters
    ----------
    importance : ndarray of shape (n_features,)
    threshold : float or None
        Least importance of a chosen feature; None is no limit.
    count : int, float or None
        How many; a float is a share of all features, one feature at least. None is no limit.
        Ties go to the first.
    """
    mask: Mask = np.ones(len(importance), dtype=bool)
    if threshold is not None:
        mask = importance >= threshold
    if count is not None:
        is_share = not isinstance(count, Integral)
        n_kept = max(1, round(count * len(importance))) if is_share else int(count)
        # Stable, so that the answer does not depend on how a sort breaks ties.
        mask[np.argsort(-importance, kind="stable")[n_kept:]] = False
    return mask
