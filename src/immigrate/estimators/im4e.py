"""IM4E: a weight for each feature, by the margin that it leaves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_option
from immigrate.core.cones import share
from immigrate.estimators.base import MarginClassifier
from immigrate.margin.encoding import Columns, resolved_columns
from immigrate.margin.model import RULES
from immigrate.margin.options import VectorOptions
from immigrate.margin.path import fitted
from immigrate.margin.screen import DEFAULT_SIGMA
from immigrate.progress import fitting
from immigrate.solvers import Solver, resolved_solver


class IM4EClassifier(MarginClassifier):
    """Margin-based classifier that weighs features one by one, for tables of any width.

    IM4E [1]_ learns weights w >= 0 in the distance q = w' |x_i - x_j| between samples, such
    that samples are close to their own class and far from the others. Who counts as near is
    soft: a hit or miss at distance q weighs exp(-q / sigma). It is IMMIGRATE [2]_ with a
    weight vector in place of the matrix, so its cost grows with the number of features and
    not with its square; `ImmigrateClassifier` uses it as a screen.

    A feature's weight grows with how much further apart misses are than hits *in that feature*.
    Features that matter only together may therefore get no weight.

    Tables come as they are: numbers are compared in units of their standard deviation, text and
    categories by their levels, and values may be missing (see `Columns`).

    Parameters
    ----------
    sigma : float or "auto", default=0.125
        Width of the neighbourhood, in units of q. Small: only the nearest hit and miss
        count. Large: all samples do. Weights sum to about 1, so q is about 1 in units of
        the standard deviation, and the default is an eighth of it. "auto" is 1/8 of the median of
        q over pairs of samples under even weights, whatever the units of the table.
    solver : str or solver, default="monotone"
        One of those of `ImmigrateClassifier`. "paper" is ``FullSteps()``, the R package's steps: w
        is the positive part of minus the gradient, scaled to sum 1, and the cost can rise.
        "monotone" is ``Descent()``: it takes the same step as long as the cost falls and stops at
        a stationary point. It holds the Euclidean norm of w at 1 / sqrt(n_features), that of even
        weights which sum to 1, because on the sum itself the cost is lowest at a handful of
        features or one.
    rule : {"distance", "energy"}, default="distance"
        Score of a class: its expected distance (Eq. 9 of [2]_), or its free energy
        -sigma log sum exp(-q / sigma), which gives better probabilities.
    references : {"auto", "all"}, int, float or `ClassCentres`, default="auto"
        What new samples are compared with, as in `ImmigrateClassifier`: all training samples, or
        centres of them.
    columns : Columns, default=None
        How columns are read and compared. None is ``Columns()``.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For drawing samples of a large table, and for centres.
    verbose : bool, default=False
        Whether to print one line per step.

    Attributes
    ----------
    model_ : MarginModel
        All that predicting needs: references (the training samples), weights, sigma, rule.
    feature_weights_ : ndarray of shape (n_features,)
        w, scaled to sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        The same, under the name that scikit-learn looks for.
    sigma_ : float
        The sigma used.
    classes_ : ndarray of shape (n_classes,)
    objective_path_ : ndarray of shape (n_steps + 1,)
        The cost, anchors weighing 1 / n_samples each by default, at the start and after
        each step.
    gap_ : float
        Relative Frank-Wolfe gap at the end: 0 at a stationary point. NaN where no direction
        improves the margin.
    n_iter_ : int
        Steps taken; 1 also if the start was stationary and took none.
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ImmigrateClassifier : Weighs pairs of features too.
    sklearn.feature_selection.SelectFromModel : Selects features by `feature_importances_`.

    References
    ----------
    .. [1] Y. Bei and P. Hong, "Maximizing margin quality and quantity", IEEE 25th International
       Workshop on Machine Learning for Signal Processing, 2015.
    .. [2] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import IM4EClassifier
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = IM4EClassifier().fit(X, y)
    >>> import pandas as pd
    >>> pd.Series(model.feature_weights_, model.feature_names_in_).nlargest(3).round(2)
    proline            0.14
    alcohol            0.13
    color_intensity    0.12
    dtype: float64
    """

    def __init__(
        self,
        sigma: str | float = DEFAULT_SIGMA,
        *,
        solver: str | Solver = "monotone",
        rule: str = "distance",
        references: Any = "auto",
        columns: Columns | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.sigma = sigma
        self.solver = solver
        self.rule = rule
        self.references = references
        self.columns = columns
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the feature weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts, as an anchor and not as a neighbour of others.

        Returns
        -------
        self
        """
        with fitting(self):
            rule = check_option("rule", self.rule, RULES)
            options = VectorOptions.of(self)
            table = options.read(self, X, y, sample_weight)
            self._adopt(table, *fitted(options, table, self.sigma, None, rule))
        return self

    def _part(self, name: str, value: Any) -> Any:
        makers: dict[str, Any] = {"solver": resolved_solver, "columns": resolved_columns}
        return makers[name](value) if name in makers else value

    @property
    def feature_weights_(self) -> Array:
        """The weight of each feature, scaled to sum 1."""
        check_is_fitted(self)
        references = self.model_.references
        full = np.zeros(len(references.is_used))
        full[references.is_used] = share(references.encoding.folded(self.model_.weights))
        return full

    @property
    def feature_importances_(self) -> Array:
        """The weight of each feature, scaled to sum 1."""
        return self.feature_weights_
