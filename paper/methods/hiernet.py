"""HIN: a lasso for interactions under hierarchy."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import check_is_fitted, validate_data

from paper.methods.hiernet_solver import HierarchicalLasso, largest_lambda
from paper.methods.method import Method


class HierNet(Method):
    """hierNet for the logistic loss under weak hierarchy, penalty by 5-fold cross-validation.

    Weak hierarchy and squares of features are the defaults of the authors' R package, and so
    is choosing the penalty by the number of errors; the paper gives no setting.

    References
    ----------
    J. Bien, J. Taylor, R. Tibshirani, A lasso for hierarchical interactions, Ann. Stat. 41,
    2013. doi:10.1214/13-AOS1096
    """

    code, name = "HIN", "hierNet"

    def estimator(self, random_state):
        return HierNetClassifierCV(random_state=random_state)


class HierNetClassifierCV(ClassifierMixin, BaseEstimator):
    """Logistic regression with main effects and pairs, a pair only where a main effect is.

    The path has `n_lambdas` penalties from the largest useful one down to `smallest` times it;
    the one with the fewest errors in cross-validation is kept, the larger one on a tie.
    """

    def __init__(self, *, n_lambdas=12, smallest=0.01, cv=5, tol=1e-5, random_state=None):
        self.n_lambdas = n_lambdas
        self.smallest = smallest
        self.cv = cv
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y):
        """Choose the penalty and fit the path down to it."""
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.lambdas_ = largest_lambda(X, codes) * np.geomspace(1, self.smallest, self.n_lambdas)
        self.errors_ = np.zeros(self.n_lambdas, dtype=int)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(X, codes):
            for i, model in enumerate(self._path(X[train], codes[train], self.lambdas_)):
                self.errors_[i] += np.sum((model.log_odds(X[test]) > 0) != codes[test])
        best = int(np.argmin(self.errors_))
        *_, self.model_ = self._path(X, codes, self.lambdas_[: best + 1])
        return self

    def _path(self, X, y, lambdas):
        solver = HierarchicalLasso(X, y, tol=self.tol)
        for lam in lambdas:
            yield solver.solution(lam)

    def decision_function(self, X):
        """Log-odds of the second class."""
        check_is_fitted(self)
        return self.model_.log_odds(validate_data(self, X, reset=False))

    def predict(self, X):
        """The likelier class."""
        return self.classes_[(self.decision_function(X) > 0).astype(int)]
