"""IMMIGRATE with sigma and pruning chosen along a path."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from immigrate.core.cones import MATRIX_SETS
from immigrate.core.pruning import pruned
from immigrate.estimators import _validation as check
from immigrate.estimators._immigrate import ImmigrateClassifier, prune_limit
from immigrate.estimators._margin_classifier import RULES
from immigrate.estimators._selection import CRITERIA, Selection, selection_columns
from immigrate.estimators._sigma import sigma_grid
from immigrate.kernels.results import ClassScores
from immigrate.solvers import SOLVERS, Solution, weight_path
from immigrate.typing import Array

# Choosing needs predictions, not the last digits: fits along a warm path stop at a gap this
# many times wider, and the chosen one is then finished.
PATH_TOLERANCE = 10


class ImmigrateClassifierCV(ImmigrateClassifier):
    """IMMIGRATE with sigma, pruning and prediction rule chosen along a path of sigma.

    The path runs from the largest sigma to the smallest, each fit starting where the one
    before ended where that is safe (``solver="monotone"`` and ``constraint="psd"``; with
    non-negative weights a start from a large sigma can end in a poor solution). The choice
    is made by leave-one-out predictions of the training samples, which every fit gives away
    for free, or by cross-validation as in the paper [1]_.

    **The score by which sigma is chosen is not an estimate of performance.** Leave-one-out
    predictions use weights that have seen the sample, and any best of many is optimistic: on
    permuted labels the criterion reads well above chance. Estimate performance with
    `sklearn.model_selection.cross_val_score` around this estimator.

    Parameters
    ----------
    sigmas : {"auto", "paper"} or list of float, default="auto"
        "auto": 1, 1/2, ..., 1/32 times the median of q over pairs of samples under the
        starting W. "paper": 4, halved until it is not larger than 0.2.
    prunes : tuple, default=(None,)
        Choices for `prune` of `ImmigrateClassifier`; ``(None, "auto")`` is the paper's. Offering
        pruning did not raise the accuracy on average (docs/choosing-sigma.md).
    rules : tuple, default=("energy", "distance")
        Choices for `rule` of `ImmigrateClassifier`. The free energy is better with small
        neighbourhoods and unbalanced classes, the expected distance at large sigma.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out on the training samples, at no cost. An integer or a splitter
        is cross-validation, as in the paper.
    scoring : {"accuracy", "balanced_accuracy", "neg_log_loss"}, default="accuracy"
        The criterion.
    one_standard_error : bool, default=False
        Instead of the best candidate, take the largest sigma, and the sparsest weights at
        that sigma, within one standard error of it.
    solver, constraint, init, screen, screen_threshold, screen_max, keep, max_iter, tol
        As in `ImmigrateClassifier`.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``.
    n_jobs : int, default=None
        Threads of the path, or processes over folds. None is 1 unless in a
        `joblib.parallel_config` context; -1 is all.
    verbose : bool, default=False
        Print one line a sigma.

    Attributes
    ----------
    sigma_ : float
        The chosen sigma.
    prune_ : None, "auto" or float
    rule_ : str
    scores_path_ : pandas.DataFrame
        A row a candidate: `sigma`, `prune`, `rule`, `selection_score` (a selection criterion,
        **not** performance), `standard_error`, `n_weights` (weights that are not 0, on and
        above the diagonal), `is_chosen`.
    weights_path_ : ndarray of shape (n_sigmas, n_features, n_features)
        Weights before pruning at each sigma, largest sigma first, to a relative gap of 10
        `tol` where the path is warm; `weight_matrix_` is taken on from there to `tol`.
    costs_path_ : ndarray of shape (n_sigmas,)
        Cost at each of them.
    cv_results_ : dict
        The candidates as in scikit-learn's searches: `params`, `param_*`, `mean_test_score`,
        `std_test_score`, `rank_test_score`, and `split*_test_score` with a `cv` of several
        splits.
    weight_matrix_, feature_importances_, objective_path_, gap_, n_iter_, converged_
        As in `ImmigrateClassifier`, at the chosen parameters on all samples.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ImmigrateClassifier : One sigma; ``sigma="auto"`` needs no search.
    SigmaPathDisplay : Draws the path.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifierCV
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), ImmigrateClassifierCV(sigmas=[4, 2, 1, 0.5]))
    >>> model.fit(X, y)[-1].sigma_
    4.0
    """

    def __init__(
        self,
        sigmas="auto",
        *,
        prunes=(None,),
        rules=("energy", "distance"),
        cv=None,
        scoring="accuracy",
        one_standard_error=False,
        solver="monotone",
        constraint="psd",
        init="auto",
        screen=None,
        screen_threshold="auto",
        screen_max=200,
        keep=None,
        max_iter=None,
        tol=1e-3,
        random_state=None,
        n_jobs=None,
        verbose=False,
    ):
        self.sigmas = sigmas
        self.prunes = prunes
        self.rules = rules
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.solver = solver
        self.constraint = constraint
        self.init = init
        self.screen = screen
        self.screen_threshold = screen_threshold
        self.screen_max = screen_max
        self.keep = keep
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit the path and choose.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts in the fits. The criterion counts all alike.
        groups : array-like of shape (n_samples,), optional
            For a `cv` that splits by groups.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, codes, anchor_weight = check.check_training_data(self, X, y, sample_weight)
        problem, start = self._problem(X, codes, anchor_weight)
        sigmas = sigma_grid(self.sigmas, self._fit_samples[0], start)
        path = self._path(problem, start, sigmas)
        if self.cv is None:
            samples = [self._criterion(path, [point.scores for point in path], codes)]
        else:
            samples = self._cross_validated(X, codes, anchor_weight, groups, sigmas)
        selection = Selection.over(
            {"prune": self.prunes, "rule": self.rules, "sigma": sigmas}, samples
        )
        self._choose(selection, path, problem)
        return self

    def __repr__(self, N_CHAR_MAX=700):
        text = super().__repr__(N_CHAR_MAX)
        if not hasattr(self, "_scores_path"):
            return text
        score = self._scores_path["selection_score"][self._scores_path["is_chosen"]].item()
        return (
            f"{text}\n# sigma = {self.sigma_:.4g} chosen by {self.scoring} {score:.3f}: "
            "a selection criterion, not an estimate of performance"
        )

    @property
    def scores_path_(self):
        """A row a candidate, with its selection criterion: not an estimate of performance."""
        import pandas as pd

        check_is_fitted(self)
        return pd.DataFrame(self._scores_path)

    @property
    def _rule(self):
        return self.rule_

    def _check_choices(self):
        check.check_option("scoring", self.scoring, CRITERIA)
        for name, choices in (("prunes", self.prunes), ("rules", self.rules)):
            if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
                raise ValueError(f"{name} must be a list of choices, got {choices!r}.")
            if len(set(choices)) < len(choices):
                raise ValueError(f"{name}={choices!r} holds a choice twice.")
        for rule in self.rules:
            check.check_option("rules", rule, RULES)
        for prune in self.prunes:
            check.check_prune("prunes", prune)

    @property
    def _is_warm(self):
        # With non-negative weights a start from a larger sigma can end in a poor solution.
        return self.solver == "monotone" and self.constraint == "psd"

    def _path(self, problem, start, sigmas):
        """Every sigma, and every pruning at each, in the order of `sigmas`."""
        limits = self._limits()
        if self._is_warm:
            limits["tol"] *= PATH_TOLERANCE
        solutions = weight_path(
            SOLVERS[self.solver],
            problem,
            start,
            sigmas,
            MATRIX_SETS[self.constraint],
            is_warm=self._is_warm,
            **limits,
        )
        points = []
        for sigma, solution in zip(sigmas, solutions):
            points += [path_point(problem, solution, sigma, prune) for prune in self.prunes]
            if self.verbose:
                print(f"sigma {sigma:.4g}   steps {solution.n_iter}   cost {points[-1].cost:.6e}")
        return points

    def _criterion(self, path, scores, y):
        """Criterion of every sample under every candidate, in the order of `ParameterGrid`."""
        of_sample = CRITERIA[self.scoring]
        return np.array(
            [
                of_sample(getattr(score, RULES[rule]), point.sigma, y)
                for prune in self.prunes
                for rule in self.rules
                for point, score in zip(path, scores)
                if point.prune == prune
            ]
        )

    def _cross_validated(self, X, codes, anchor_weight, groups, sigmas):
        splitter = check_cv(self.cv, codes, classifier=True)
        return Parallel(n_jobs=self.n_jobs)(
            delayed(self._fold)(X, codes, anchor_weight, train, test, sigmas)
            for train, test in splitter.split(X, codes, groups)
        )

    def _fold(self, X, codes, anchor_weight, train, test, sigmas):
        """Criterion of the test samples; the screen sees the training samples only."""
        check.check_class_sizes(
            self.classes_, np.bincount(codes[train], minlength=len(self.classes_))
        )
        model = copy.copy(self)
        weight = None if anchor_weight is None else anchor_weight[train]
        if weight is not None and not weight.any():
            raise ValueError(
                "sample_weight is zero for all training samples of a fold; use a cv that spreads "
                "the weighted samples, such as a shuffled StratifiedKFold."
            )
        problem, start = model._problem(X[train], codes[train], weight)
        path = model._path(problem, start, sigmas)
        X_test = model._used_features(X[test])
        scores = problem.class_scores_many(
            X_test, [point.weights for point in path], [point.sigma for point in path]
        )
        return model._criterion(path, scores, codes[test])

    def _finished(self, problem, point):
        """The chosen fit taken on from the tolerance of the path to the user's."""
        solution = SOLVERS[self.solver](
            problem,
            point.solution.weights,
            point.sigma,
            MATRIX_SETS[self.constraint],
            first_step=point.solution.next_step,
            **self._limits(),
        )
        return path_point(problem, solution, point.sigma, point.prune)

    def _choose(self, selection, path, problem):
        n_weights = {
            (point.sigma, point.prune): np.count_nonzero(np.triu(point.weights)) for point in path
        }
        sizes = np.array([n_weights[c["sigma"], c["prune"]] for c in selection.candidates])
        chosen = selection.simplest(sizes) if self.one_standard_error else selection.best()
        candidate = selection.candidates[chosen]
        self.sigma_, self.prune_, self.rule_ = (candidate[k] for k in ("sigma", "prune", "rule"))
        point = next(p for p in path if (p.sigma, p.prune) == (self.sigma_, self.prune_))
        if self._is_warm:
            point = self._finished(problem, point)
        self._adopt(point.solution)
        self.weight_matrix_, self._loo_scores = point.weights, point.scores
        by_sigma = {p.sigma: p.solution for p in path}
        self.weights_path_ = np.array([solution.weights for solution in by_sigma.values()])
        self.costs_path_ = np.array([s.objective_path[-1] for s in by_sigma.values()])
        self.cv_results_ = selection.results()
        self._scores_path = selection_columns(selection, sizes, chosen)


class PathPoint(NamedTuple):
    """One (sigma, prune): weights and the leave-one-out scores at them."""

    sigma: float
    prune: object
    weights: Array
    scores: ClassScores
    solution: Solution

    @property
    def cost(self):
        """Cost at this sigma, before pruning."""
        return self.solution.objective_path[-1]


def path_point(problem, solution, sigma, prune):
    """The solution at `sigma`, pruned."""
    if prune is None:
        return PathPoint(sigma, prune, solution.weights, solution.scores, solution)
    weights = pruned(solution.weights, below=prune_limit(prune, len(solution.weights)))
    return PathPoint(sigma, prune, weights, problem.loo_scores(weights, sigma), solution)
