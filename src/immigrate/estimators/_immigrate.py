"""IMMIGRATE: which features matter, and which pairs, by the margin they leave."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.core.cones import MATRIX_SETS
from immigrate.core.pruning import pruned
from immigrate.estimators import _validation as check
from immigrate.estimators._margin_classifier import RULES, MarginClassifierMixin
from immigrate.estimators._sigma import resolved_sigma
from immigrate.estimators._weight_matrix import WeightMatrixMixin


class ImmigrateClassifier(WeightMatrixMixin, MarginClassifierMixin, BaseEstimator):
    """Margin-based classifier that weighs features and pairs of features.

    IMMIGRATE [1]_ learns a matrix W of unit norm in the distance q = d' W d between samples,
    d = |x_i - x_j|, such that samples are close to their own class and far from the others.
    The diagonal of W weighs single features, the rest weighs pairs. Who counts as near is
    soft: a hit or miss at distance q weighs exp(-q / sigma).

    Differences of features are added up, so features should be on one scale: put a
    `sklearn.preprocessing.StandardScaler` before this estimator, as the paper does.

    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Width of the neighbourhood, in units of q. Small: only the nearest hit and miss
        count. Large: all samples do. "auto" is 1/8 of the median of q over pairs of
        samples under the starting W, so the units of the table do not matter.
    solver : {"monotone", "paper"}, default="monotone"
        "paper" takes the full steps of Algorithm 2, whose cost can rise. "monotone" starts
        with the same step, never lets the cost rise, and stops at a stationary point.
    constraint : {"psd", "nonnegative", "both", "clip"}, default="psd"
        Where W lives: positive semi-definite (Theorem 3.1), element-wise non-negative, both,
        or "clip", the R package's step (the PSD step with negative weights set to 0
        afterwards), which is no projection and so is offered for ``solver="paper"`` only.
    rule : {"energy", "distance"}, default="energy"
        Score of a class: its free energy -sigma log sum exp(-q / sigma), or its expected
        distance (Eq. 9), as in the paper. Free energies predict better at the default sigma
        and give better probabilities.
    init : {"auto", "identity", "random", "im4e"} or array-like of shape \
(n_features, n_features), default="auto"
        Where W starts. "auto" is the identity or, after a screen, a diagonal of the screen's
        weights. "random" draws a symmetric non-negative matrix, as in the paper. "im4e" is a
        diagonal of the weights of `IM4EClassifier`.
    prune : None, "auto" or float, default=None
        After the fit, set weights below this size to 0 and rescale; "auto" is the paper's
        limit, 1 over the number of features in W.
    screen : None, "im4e", "pairs" or estimator, default=None
        What weighs the features first, so that only those that pass enter W: for tables with
        more than a few hundred features. "im4e" is the paper's IM4E-IMMIGRATE; an estimator
        needs `feature_importances_` or `coef_`. A screen that looks at one feature at a time
        can lose features that matter only together: "pairs" keeps what "im4e" keeps and the
        20 features of the strongest pairs of `InteractionTest`.
    screen_threshold : "auto" or float, default="auto"
        Features pass a screen with a weight above this, where all weights sum to 1. "auto" is
        the paper's limit, 2 / n_features: twice the average.
    screen_max : int or None, default=200
        Most features that may pass, the strongest first; None is no limit. W has this number
        squared, and time grows with it: 2 / n_features can let thousands of genes pass. The
        features of `keep`, and of the pairs with ``screen="pairs"``, come on top.
    keep : array-like of str or int, default=None
        Names or indices of features that stay whatever the screen says, beyond `screen_max`.
    max_iter : int, default=None
        Limit on steps. None is 10 for ``solver="paper"``, as in the paper, and 100 for
        "monotone".
    tol : float, default=1e-3
        "monotone" stops when the relative Frank-Wolfe gap is at most this; "paper" when the
        cost changes by less.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``.
    verbose : bool, default=False
        Print one line a step.

    Attributes
    ----------
    weight_matrix_ : ndarray of shape (n_features, n_features)
        W: symmetric, with Frobenius norm 1. After a screen it covers the kept features, in
        the order of `get_feature_names_out`.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Row sums of |W| scaled to sum 1: a feature's own weight and half of each of its
        pairs', since the other half belongs to the partner. 0 for screened-out features.
    screen_importances_ : ndarray of shape (n_features_in_,)
        What the screen said, scaled to sum 1. Only with a screen.
    sigma_ : float
        The sigma used.
    classes_ : ndarray of shape (n_classes,)
    objective_path_ : ndarray of shape (n_steps + 1,)
        The cost (Eq. 10, anchors weighing 1 / n_samples each by default) at the start and
        after each step, before pruning.
    gap_ : float
        Relative Frank-Wolfe gap at the end: 0 at a stationary point. NaN where it is not
        defined ("clip", or no direction improves the margin).
    n_iter_ : int
        Steps taken; 1 also if the start was stationary and took none.
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    IM4EClassifier : A weight for each feature and none for pairs; the paper's screen.
    sklearn.feature_selection.SelectFromModel : Selects features by `feature_importances_`.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.datasets import make_monk1
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = make_monk1()  # 1 if head and body have one shape, or the jacket is red
    >>> scaler = StandardScaler().set_output(transform="pandas")  # keeps the names
    >>> model = make_pipeline(scaler, ImmigrateClassifier(sigma=0.5)).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> table = model[-1].interactions(top=3)  # feature_1, feature_2, kind, weight, ...
    >>> sorted(table["feature_1"])
    ['body_shape', 'head_shape', 'jacket_color']

    A screen for wide tables, and features that stay whatever it says:

    >>> model = ImmigrateClassifier(screen="im4e", screen_threshold=0.3, keep=["has_tie"])
    >>> model.fit(scaler.fit_transform(X), y).get_feature_names_out()
    array(['head_shape', 'body_shape', 'jacket_color', 'has_tie'], dtype=object)
    """

    def __init__(
        self,
        sigma="auto",
        *,
        solver="monotone",
        constraint="psd",
        rule="energy",
        init="auto",
        prune=None,
        screen=None,
        screen_threshold="auto",
        screen_max=200,
        keep=None,
        max_iter=None,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.sigma = sigma
        self.solver = solver
        self.constraint = constraint
        self.rule = rule
        self.init = init
        self.prune = prune
        self.screen = screen
        self.screen_threshold = screen_threshold
        self.screen_max = screen_max
        self.keep = keep
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Learn the weight matrix.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts (D of Eq. 10). It weighs the sample as an
            anchor, not as a neighbour of others, so a weight of 2 is not the same as
            repeating the row: a repeated row is its own hit at distance 0.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, codes, anchor_weight = check.check_training_data(self, X, y, sample_weight)
        problem, start = self._problem(X, codes, anchor_weight)
        self.sigma_ = resolved_sigma(self.sigma, self._fit_samples[0], start)
        self._adopt(self._solution(problem, start, MATRIX_SETS[self.constraint]))
        if self.prune is not None:
            self._prune_weights(problem)
        return self

    @property
    def _weights(self):
        return self.weight_matrix_

    def _check_parameters(self):
        self._check_margin_parameters()
        self._check_screen_parameters()
        self._check_choices()
        self._check_matrix_parameters()

    def _check_choices(self):
        check.check_option("rule", self.rule, RULES)
        check.check_prune("prune", self.prune)

    def _adopt(self, solution):
        """Become the model that `solution` found."""
        self._keep(solution)
        self.weight_matrix_ = solution.weights
        if self.constraint == "clip":
            self.gap_ = np.nan

    def _prune_weights(self, problem):
        limit = prune_limit(self.prune, len(self.weight_matrix_))
        self.weight_matrix_ = pruned(self.weight_matrix_, below=limit)
        self._loo_scores = problem.loo_scores(self.weight_matrix_, self.sigma_)


def prune_limit(prune, n_features):
    """Size below which weights are pruned; "auto" is the paper's 1 / A."""
    return 1 / n_features if prune == "auto" else prune
