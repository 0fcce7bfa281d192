"""The convex problem of hierNet under weak hierarchy, by accelerated proximal gradient.

    minimise  (1/n) sum_i loss(y_i, eta_i) + lam sum_j (b+_j + b-_j) + (lam / 2) sum_jk |T_jk|
    subject to  sum_k |T_jk| <= b+_j + b-_j,  b+ >= 0,  b- >= 0
    with  eta_i = b0 + x_i'(b+ - b-) + (1/2) sum_jk T_jk (x_ij x_ik - m_jk)

m centres the products. Rows of T are free of each other (weak hierarchy), so the proximal
step splits into one small problem for each feature. An iteration costs 2 n p^2 multiply-adds
and never forms the n x p^2 table of products.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning


@dataclass(frozen=True)
class HierarchicalModel:
    """Coefficients, and the log-odds that they give."""

    intercept: float
    positive: np.ndarray  # b+, (p,)
    negative: np.ndarray  # b-, (p,)
    pairs: np.ndarray  # T, (p, p)
    product_means: np.ndarray  # m, (p, p)

    def log_odds(self, X):
        """eta, one value a row; most rows of T are zero and cost nothing."""
        used = np.flatnonzero(self.pairs.any(axis=1))
        products = ((X @ self.pairs[used].T) * X[:, used]).sum(axis=1)
        products -= np.sum(self.pairs[used] * self.product_means[used])
        return self.intercept + X @ (self.positive - self.negative) + products / 2


def largest_lambda(X, y):
    """The smallest penalty at which every coefficient is zero.

    Row j stays at zero if some multiplier a of its constraint has |g_j| <= lam - a and
    |h_jk| <= lam / 2 + a for all k, with g and h the gradients for b and T.
    """
    residual = (y.mean() - y) / len(y)
    means = X.T @ X / len(X)
    main = np.abs(X.T @ residual)
    pair = np.abs((X * residual[:, None]).T @ X - residual.sum() * means).max(axis=1) / 2
    return float(np.maximum(main, (main + pair) * 2 / 3).max())


class HierarchicalLasso:
    """Solutions along a path of penalties, each started from the last."""

    def __init__(self, X, y, *, tol=1e-5, max_iter=500):
        self.X, self.y = np.ascontiguousarray(X), y.astype(float)
        self.tol, self.max_iter = tol, max_iter
        p = X.shape[1]
        self.product_means = X.T @ X / len(X)
        share = np.clip(self.y.mean(), 1e-6, 1 - 1e-6)
        # One vector: intercept, b+, b-, and T row by row.
        self.point = np.zeros(1 + 2 * p + p * p)
        self.point[0] = np.log(share / (1 - share))
        self.step = 1.0

    def solution(self, lam) -> HierarchicalModel:
        """The minimiser at `lam`: FISTA with backtracking, restarted when the cost rises."""
        point, ahead, momentum = self.point, self.point, 1.0
        cost = self._loss(self._log_odds(point)) + self._penalty(point, lam)
        for _ in range(self.max_iter):
            new, new_cost = self._proximal_point(ahead, lam)
            if new_cost > cost:
                momentum = 1.0
                new, new_cost = self._proximal_point(point, lam)
            next_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / next_momentum * (new - point)
            fall = cost - new_cost
            point, momentum, cost = new, next_momentum, new_cost
            if fall < self.tol * cost:
                break
        else:
            warnings.warn(
                f"Stopped after max_iter={self.max_iter} steps at lam={lam:.3g}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.point = point
        return self._model(point)

    def _proximal_point(self, start, lam):
        """A proximal step that keeps below its quadratic bound, and the cost where it ends."""
        eta = self._log_odds(start)
        loss, gradient = self._loss(eta), self._gradient(eta)
        self.step *= 1.2
        while True:
            new = _shrunken_rows(start - self.step * gradient, self.X.shape[1], self.step, lam)
            move = new - start
            new_loss = self._loss(self._log_odds(new))
            if new_loss <= loss + gradient @ move + move @ move / (2 * self.step) + 1e-14:
                return new, new_loss + self._penalty(new, lam)
            self.step /= 2

    def _log_odds(self, point):
        return self._model(point).log_odds(self.X)

    def _loss(self, eta):
        return np.mean(np.logaddexp(0.0, eta) - self.y * eta)

    def _gradient(self, eta):
        residual = (expit(eta) - self.y) / len(self.y)
        main = self.X.T @ residual
        pair = (self.X * residual[:, None]).T @ self.X - residual.sum() * self.product_means
        return np.concatenate([[residual.sum()], main, -main, pair.ravel() / 2])

    def _penalty(self, point, lam):
        p = self.X.shape[1]
        return lam * (point[1 : 1 + 2 * p].sum() + np.abs(point[1 + 2 * p :]).sum() / 2)

    def _model(self, point):
        p = self.X.shape[1]
        pairs = point[1 + 2 * p :].reshape(p, p)
        return HierarchicalModel(
            point[0], point[1 : 1 + p], point[1 + p : 1 + 2 * p], pairs, self.product_means
        )


@njit(cache=True)
def _shrunken_rows(target, p, step, lam):
    """The proximal step: each row's b+, b- and T_j shrunk, and tied by its constraint."""
    out = target.copy()
    for j in range(p):
        row = target[1 + 2 * p + j * p : 1 + 2 * p + (j + 1) * p]
        positive, negative = target[1 + j], target[1 + p + j]
        a = _multiplier(positive, negative, row, step, lam)
        out[1 + j] = max(positive - step * (lam - a), 0.0)
        out[1 + p + j] = max(negative - step * (lam - a), 0.0)
        shrink = step * (lam / 2 + a)
        for k in range(p):
            size = max(abs(row[k]) - shrink, 0.0)
            out[1 + 2 * p + j * p + k] = size if row[k] > 0 else -size
    return out


@njit(cache=True)
def _excess(positive, negative, row, step, lam, a):
    """sum_k |T_jk| - b+_j - b-_j as a function of the multiplier: falling, piecewise linear."""
    total = -max(positive - step * (lam - a), 0.0) - max(negative - step * (lam - a), 0.0)
    for value in row:
        total += max(abs(value) - step * (lam / 2 + a), 0.0)
    return total


@njit(cache=True)
def _multiplier(positive, negative, row, step, lam):
    """The multiplier of the row's constraint: 0 if it holds anyway, else the root of `_excess`."""
    low, at_low = 0.0, _excess(positive, negative, row, step, lam, 0.0)
    if at_low <= 0.0:
        return 0.0
    high = np.abs(row).max() / step - lam / 2
    at_high = _excess(positive, negative, row, step, lam, high)
    tolerance = 1e-14 * (1.0 + at_low)
    # Regula falsi with the Illinois correction: exact once both ends lie on one linear piece.
    a, at_a, side = high, at_high, 0
    for _ in range(200):
        if abs(at_a) <= tolerance or high - low <= 1e-15 * (1.0 + high):
            break
        a = low + (high - low) * at_low / (at_low - at_high)
        at_a = _excess(positive, negative, row, step, lam, a)
        if at_a > 0.0:
            low, at_low = a, at_a
            at_high = at_high / 2 if side == 1 else at_high
            side = 1
        else:
            high, at_high = a, at_a
            at_low = at_low / 2 if side == -1 else at_low
            side = -1
    return a
