"""Prediction shared by every classifier whose score is a soft distance to each class."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from immigrate.core.scores import class_probability
from immigrate.estimators._validation import n_threads
from immigrate.solvers import MarginProblem

RULES = {"distance": "distance", "energy": "free_energy"}


class MarginClassifierMixin(ClassifierMixin):
    """Eq. 9 and its relatives, over the fitted samples, weights and sigma.

    A subclass sets `_fit_samples` (table and class codes), `_weights` and `sigma_`, and has
    the parameters `rule` and `n_jobs`.
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

    def _rule_scores(self, X):
        return getattr(self._class_scores(X), RULES[self.rule])

    def _class_scores(self, X):
        check_is_fitted(self)
        if X is None:
            return self._loo_scores
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        table, codes = self._fit_samples
        problem = MarginProblem(table, codes, n_threads=n_threads(self.n_jobs))
        return problem.class_scores(X.astype(table.dtype, copy=False), self._weights, self.sigma_)
