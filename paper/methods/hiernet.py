"""HIN: a lasso for interactions under hierarchy."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from paper.methods.binary import BinaryClassifier
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


class HierNetClassifierCV(BinaryClassifier):
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

    def _fit(self, X, y):
        self.lambdas_ = largest_lambda(X, y) * np.geomspace(1, self.smallest, self.n_lambdas)
        self.errors_ = np.zeros(self.n_lambdas, dtype=int)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(X, y):
            for i, model in enumerate(self._path(X[train], y[train], self.lambdas_)):
                self.errors_[i] += np.sum((model.log_odds(X[test]) > 0) != y[test])
        best = int(np.argmin(self.errors_))
        *_, self.model_ = self._path(X, y, self.lambdas_[: best + 1])

    def _path(self, X, y, lambdas):
        solver = HierarchicalLasso(X, y, tol=self.tol)
        for lam in lambdas:
            yield solver.solution(lam)

    def _score(self, X):
        return self.model_.log_odds(X)
