"""What the classifiers whose score is a soft distance to each class share: solving, predicting."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from immigrate.core.forms import LINEAR, QUADRATIC
from immigrate.core.scores import class_probability
from immigrate.estimators import _validation as check
from immigrate.estimators._warnings import warn_user
from immigrate.kernels.threads import n_threads
from immigrate.problems import MarginProblem
from immigrate.solvers import SOLVERS, Stop

RULES = {"distance": "distance", "energy": "free_energy"}
DEFAULT_MAX_ITER = {"paper": 10, "monotone": 100}


class MarginClassifierMixin(ClassifierMixin):
    """Eq. 9 and its relatives, over the fitted samples, weights and sigma.

    A subclass sets `_fit_samples` (table and class codes), `_weights` and `sigma_`, and has
    the parameters `solver`, `rule`, `max_iter`, `tol`, `n_jobs` and `verbose`.
    """

    def predict(self, X):
        """Class with the smallest score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self._rule_scores(X).argmin(axis=1)
        return self.classes_[nearest]

    def predict_proba(self, X):
        """Class probabilities: a softmax of -score / sigma.

        With ``rule="energy"`` this is the posterior of a kernel density estimate with kernel
        exp(-q / sigma). With ``rule="distance"`` the same map is applied to the expected
        distances of Eq. 9; the order agrees with `predict`, the calibration is poorer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to 1.
        """
        return class_probability(self._rule_scores(X), self.sigma_)

    def decision_function(self, X):
        """Signed margin, in the units of the distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: score of ``classes_[0]`` minus score of ``classes_[1]``, positive
            where the second class is nearer. More: minus the score of each class.
        """
        score = self._rule_scores(X)
        return score[:, 0] - score[:, 1] if score.shape[1] == 2 else -score

    def expected_distances(self, X=None):
        """Expected distance to each class: the bracket of Eq. 9; the smallest wins.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            By default the training samples, each left out of its own class.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._class_scores(X).distance

    def leave_one_out_predict(self):
        """Prediction of each training sample from all the others, at the fitted weights.

        The weights have seen the sample, so the accuracy of these predictions is a
        criterion for choosing sigma and **not** an estimate of performance: it reads well
        above chance on permuted labels. Use `sklearn.model_selection.cross_val_score` for that.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        nearest = self._rule_scores(None).argmin(axis=1)
        return self.classes_[nearest]

    def _check_margin_parameters(self):
        check.check_option("solver", self.solver, SOLVERS)
        check.check_not_negative("tol", self.tol)
        if self.max_iter is not None:
            check.check_count("max_iter", self.max_iter)

    def _solution(self, problem, start, weight_set):
        """What the chosen solver finds from `start`."""
        return SOLVERS[self.solver](
            problem,
            start,
            self.sigma_,
            weight_set,
            on_step=_print_step if self.verbose else None,
            **self._limits(),
        )

    def _limits(self):
        return {"max_iter": self.max_iter or DEFAULT_MAX_ITER[self.solver], "tol": self.tol}

    def _keep(self, solution):
        """Keep what says how the fit went."""
        self.objective_path_ = np.array(solution.objective_path)
        self.gap_ = solution.gap
        # A start that is already stationary takes no step; scikit-learn wants at least 1.
        self.n_iter_ = max(solution.n_iter, 1)
        self.converged_ = solution.converged
        self._loo_scores = solution.scores
        _warn_unless_converged(solution, self.solver)

    @property
    def _rule(self):
        return self.rule

    def _rule_scores(self, X):
        return getattr(self._class_scores(X), RULES[self._rule])

    def _class_scores(self, X):
        check_is_fitted(self)
        if X is None:
            return self._loo_scores
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        X = self._used_features(X)
        table, codes = self._fit_samples
        form = LINEAR if self._weights.ndim == 1 else QUADRATIC
        problem = MarginProblem(table, codes, form=form, n_threads=n_threads(self.n_jobs))
        return problem.class_scores(X, self._weights, self.sigma_)

    def _used_features(self, X):
        return X


def _warn_unless_converged(solution, solver):
    if solution.converged:
        return
    if solution.stop is Stop.NO_DIRECTION:
        message = (
            "No admissible direction improves the margin: the weights are where they were "
            "before. Check that the features are not constant and that they carry "
            "information about the classes."
        )
    else:
        message = (
            f"Stopped after {solution.n_iter} steps because {solution.stop.value} "
            f"(relative gap {solution.gap:.2g}). Raise max_iter or tol"
            + (", or use solver='monotone'." if solver == "paper" else ".")
        )
    warn_user(message, ConvergenceWarning)


def _print_step(n_iter, cost, gap):
    print(f"step {n_iter:3d}   cost {cost: .6e}   relative gap {gap:.1e}")
