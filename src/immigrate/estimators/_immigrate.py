"""IMMIGRATE: which features matter, and which pairs, by the margin they leave."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.core.pruning import pruned
from immigrate.estimators import _validation as check
from immigrate.estimators._interactions import feature_share, interaction_table
from immigrate.estimators._margin_classifier import RULES, MarginClassifierMixin
from immigrate.solvers import SOLVERS, MarginProblem, Stop

INITS = ("identity", "random")
DEFAULT_MAX_ITER = {"paper": 10, "monotone": 100}


class ImmigrateClassifier(MarginClassifierMixin, BaseEstimator):
    """Margin-based classifier that weighs features and pairs of features.

    IMMIGRATE [1]_ learns a matrix W of unit norm in the distance q = d' W d between samples,
    d = |x_i - x_j|, such that samples are close to their own class and far from the others.
    The diagonal of W weighs single features, the rest weighs pairs. Who counts as near is
    soft: a hit or miss at distance q weighs exp(-q / sigma).

    Differences of features are added up, so features should be on one scale: put a
    `sklearn.preprocessing.StandardScaler` before this estimator, as the paper does.

    Parameters
    ----------
    sigma : float, default=1.0
        Width of the neighbourhood, in units of q. Small: only the nearest hit and miss
        count. Large: all samples do.
    solver : {"monotone", "paper"}, default="monotone"
        "paper" takes the full steps of Algorithm 2, whose cost can rise. "monotone" starts
        with the same step, never lets the cost rise, and stops at a stationary point.
    constraint : {"psd", "nonnegative", "both", "clip"}, default="psd"
        Where W lives: positive semi-definite (Theorem 3.1), element-wise non-negative, both,
        or "clip", the R package's step (the PSD step with negative weights set to 0
        afterwards), which is no projection and so is offered for ``solver="paper"`` only.
    rule : {"distance", "energy"}, default="distance"
        Score of a class: its expected distance (Eq. 9), or its free energy
        -sigma log sum exp(-q / sigma), which gives better probabilities.
    init : {"identity", "random"} or array-like of shape (n_features, n_features), \
default="identity"
        Where W starts. "random" draws a symmetric non-negative matrix, as in the paper.
    prune : None, "auto" or float, default=None
        After the fit, set weights below this size to 0 and rescale; "auto" is the paper's
        limit, 1 / n_features.
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
        W: symmetric, with Frobenius norm 1.
    feature_importances_ : ndarray of shape (n_features,)
        Row sums of |W| scaled to sum 1: a feature's own weight and half of each of its
        pairs', since the other half belongs to the partner.
    sigma_ : float
        The sigma used.
    classes_ : ndarray of shape (n_classes,)
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The cost (Eq. 10, anchors weighing 1 / n_samples each by default) at the start and
        after each step, before pruning.
    gap_ : float
        Relative Frank-Wolfe gap at the end: 0 at a stationary point. NaN where it is not
        defined ("clip", or no direction improves the margin).
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
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
    """

    def __init__(
        self,
        sigma=1.0,
        *,
        solver="monotone",
        constraint="psd",
        rule="distance",
        init="identity",
        prune=None,
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
        problem = MarginProblem(
            X, codes, anchor_weight=anchor_weight, n_threads=check.n_threads(self.n_jobs)
        )
        self.sigma_ = check.check_positive("sigma", self.sigma)
        solution = SOLVERS[self.solver](
            problem,
            self._start(X.shape[1]),
            self.sigma_,
            MATRIX_SETS[self.constraint],
            max_iter=self.max_iter or DEFAULT_MAX_ITER[self.solver],
            tol=self.tol,
            on_step=_print_step if self.verbose else None,
        )
        self._keep(solution)
        self._fit_samples = X, codes
        self._prune_weights(problem, solution)
        return self

    def interactions(self, top=None):
        """Every feature and every pair of features with its weight, strongest first.

        A weight says how much the model uses a feature or pair to tell the classes apart.
        It does **not** prove that two features act together: two features with strong
        effects of their own raise the weight of their pair, and a pair that matters only
        together can have a small one.

        Parameters
        ----------
        top : int, optional
            Only the strongest so many rows. By default all p (p + 1) / 2.

        Returns
        -------
        pandas.DataFrame
            Columns `feature_1`, `feature_2` (the same twice for a main effect), `kind`
            ("main" or "pair"), `weight` (the entry of W), `share` (of the sum of |weight| over
            the whole table) and `rank`.
        """
        check_is_fitted(self)
        return interaction_table(self.weight_matrix_, _check_feature_names_in(self), top)

    @property
    def feature_importances_(self):
        """Row sums of |W|, scaled to sum 1."""
        check_is_fitted(self)
        return feature_share(self.weight_matrix_)

    @property
    def _weights(self):
        return self.weight_matrix_

    def _check_parameters(self):
        check.check_option("solver", self.solver, SOLVERS)
        check.check_option("constraint", self.constraint, MATRIX_SETS)
        check.check_option("rule", self.rule, RULES)
        check.check_not_negative("tol", self.tol)
        if isinstance(self.init, str):
            check.check_option("init", self.init, INITS)
        if self.max_iter is not None:
            check.check_count("max_iter", self.max_iter)
        if isinstance(self.prune, str):
            check.check_option("prune", self.prune, ("auto",))
        elif self.prune is not None:
            check.check_not_negative("prune", self.prune)
        if self.constraint == "clip" and self.solver == "monotone":
            raise ValueError(
                "constraint='clip' is not a projection, so descent cannot be guaranteed; "
                "use it with solver='paper', or take constraint='both'."
            )

    def _start(self, n_features):
        if isinstance(self.init, str):
            W = np.eye(n_features)
            if self.init == "random":
                W = check_random_state(self.random_state).uniform(size=(n_features, n_features))
                W = W + W.T
        else:
            W = check.check_weight_matrix(self.init, n_features)
        if self.solver == "monotone":
            # Descent is from a point of the constraint set; the paper's steps start anywhere.
            W = MATRIX_SETS[self.constraint].project(W)
        return unit(W)

    def _keep(self, solution):
        self.weight_matrix_ = solution.weights
        self.objective_path_ = np.array(solution.objective_path)
        self.gap_ = np.nan if self.constraint == "clip" else solution.gap
        self.n_iter_ = solution.n_iter
        self.converged_ = solution.converged
        if solution.stop is Stop.NO_DIRECTION:
            warnings.warn(
                "No admissible direction improves the margin: the weights are where they were "
                "before. Check that the features are not constant and that they carry "
                "information about the classes.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif not solution.converged:
            warnings.warn(
                f"Stopped after {solution.n_iter} steps because {solution.stop.value} "
                f"(relative gap {solution.gap:.2g}). Raise max_iter or tol"
                + (", or use solver='monotone'." if self.solver == "paper" else "."),
                ConvergenceWarning,
                stacklevel=3,
            )

    def _prune_weights(self, problem, solution):
        self._loo_scores = solution.scores
        if self.prune is None:
            return
        limit = 1 / len(solution.weights) if self.prune == "auto" else self.prune
        self.weight_matrix_ = pruned(solution.weights, below=limit)
        # The leave-one-out scores at the pruned weights; no gradient is wanted.
        at_pruned = problem.evaluate(self.weight_matrix_, self.sigma_, reject_above=-np.inf)
        self._loo_scores = at_pruned.scores


def _print_step(n_iter, cost, gap):
    print(f"step {n_iter:3d}   cost {cost: .6e}   relative gap {gap:.1e}")
