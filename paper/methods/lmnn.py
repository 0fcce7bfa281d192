"""LMN: large margin nearest neighbours."""

from __future__ import annotations

import warnings

import numpy as np
from numba import njit
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from paper.methods.method import Method


class LargeMarginNeighbors(Method):
    """LMNN with three target neighbours, then 3-NN (the paper's setting) in the learned metric.

    At most 50 steps, which most tables use up; the results say where (`note`).

    References
    ----------
    K. Weinberger, L. Saul, Distance metric learning for large margin nearest neighbor
    classification, J. Mach. Learn. Res. 10, 2009.
    """

    code, name = "LMN", "Large margin nearest neighbours"

    def estimator(self, random_state):
        return make_pipeline(LMNN(n_neighbors=3), KNeighborsClassifier(n_neighbors=3))


class LMNN(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A linear map L under which target neighbours are near and impostors a margin away.

    Minimises (1 - push) sum_ij |L(x_i - x_j)|^2
              + push sum_ijl max(0, 1 + |L(x_i - x_j)|^2 - |L(x_i - x_l)|^2)
    over j among the `n_neighbors` nearest of x_i's class at the start and l of other classes,
    by L-BFGS from the identity.
    """

    def __init__(self, n_neighbors=3, *, push=0.5, max_iter=50, block_rows=512):
        self.n_neighbors = n_neighbors
        self.push = push
        self.max_iter = max_iter
        self.block_rows = block_rows

    def fit(self, X, y):
        """Learn the map; the loss after each iteration is kept in `loss_path_`."""
        X, y = validate_data(self, X, y)
        p = X.shape[1]
        problem = LargeMarginLoss(X, y, self.n_neighbors, self.push, self.block_rows)
        self.loss_path_ = [problem(np.eye(p).ravel())[0]]
        result = minimize(
            problem,
            np.eye(p).ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=lambda intermediate_result: self.loss_path_.append(intermediate_result.fun),
            options={"maxiter": self.max_iter},
        )
        self.components_ = result.x.reshape(p, p)
        self.n_iter_ = max(1, result.nit)
        if result.nit >= self.max_iter:
            warnings.warn(
                f"Stopped after max_iter={self.max_iter} steps.", ConvergenceWarning, stacklevel=2
            )
        return self

    def transform(self, X):
        """Rows mapped to where Euclidean distance is the learned one."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False) @ self.components_.T

    @property
    def _n_features_out(self):
        return len(self.components_)


class LargeMarginLoss:
    """The loss and its gradient as a function of the flattened map."""

    def __init__(self, X, y, n_neighbors, push, block_rows):
        self.X = X
        self.y = np.unique(y, return_inverse=True)[1]
        self.targets = _target_neighbors(X, self.y, n_neighbors)  # (n, k)
        self.push, self.block_rows = push, block_rows

    def __call__(self, flat):
        """Loss and gradient; n^2 p multiply-adds and O(block_rows n) memory."""
        p = self.X.shape[1]
        L = flat.reshape(p, p)
        Y = self.X @ L.T
        loss, scatter, degree = 0.0, np.zeros((p, p)), np.zeros(len(self.X))
        for start in range(0, len(Y), self.block_rows):
            rows = slice(start, start + self.block_rows)
            block_loss, weight = _margin_weights(
                _squared_distances(Y[rows], Y), self.y, self.targets, start, self.push
            )
            loss += block_loss
            # sum_ij w_ij (x_i - x_j)(x_i - x_j)' = X'(degree)X - X'wX - (X'wX)'
            cross = self.X[rows].T @ (weight @ self.X)
            scatter -= cross + cross.T
            degree += weight.sum(axis=0)
            degree[rows] += weight.sum(axis=1)
        scatter += (self.X * degree[:, None]).T @ self.X
        return loss, (2 * L @ scatter).ravel()


@njit(cache=True)
def _margin_weights(distance, y, targets, start, push):
    """Loss of a block of anchors, and d loss / d (squared distance) for each of their pairs."""
    n_rows, n = distance.shape
    weight = np.zeros((n_rows, n))
    loss = 0.0
    for i in range(n_rows):
        for j in targets[start + i]:
            pull = distance[i, j]
            loss += (1.0 - push) * pull
            weight[i, j] += 1.0 - push
            for m in range(n):
                if y[m] != y[start + i]:
                    violation = 1.0 + pull - distance[i, m]
                    if violation > 0.0:
                        loss += push * violation
                        weight[i, j] += push
                        weight[i, m] -= push
    return loss, weight


def _squared_distances(A, B):
    square = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
    return np.maximum(square, 0.0)


def _target_neighbors(X, y, n_neighbors):
    targets = np.empty((len(X), n_neighbors), dtype=np.int64)
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        if len(members) <= n_neighbors:
            raise ValueError(
                f"A class has {len(members)} samples; {n_neighbors} target neighbours need at "
                f"least {n_neighbors + 1}. Lower n_neighbors."
            )
        search = NearestNeighbors(n_neighbors=n_neighbors).fit(X[members])
        targets[members] = members[search.kneighbors(return_distance=False)]
    return targets
