"""Maximum likelihood for logistic regression, for procedures that need thousands of fits."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def log_likelihood(eta, y):
    """sum_i y_i eta_i - log(1 + exp(eta_i)), without overflow."""
    total = 0.0
    for i in range(len(y)):
        total += y[i] * eta[i] - max(eta[i], 0.0) - np.log1p(np.exp(-abs(eta[i])))
    return total


@njit(cache=True)
def maximum_likelihood(Z, y, max_iter=30, tol=1e-8):
    """Coefficients of the columns of `Z` and their log-likelihood, by Newton's method.

    Under separation the likelihood has no maximum; the iteration then stops where it cannot
    rise by `tol` any more, which is all a comparison of likelihoods needs.
    """
    k = Z.shape[1]
    coef = np.zeros(k)
    value = log_likelihood(np.zeros(len(y)), y)
    Zt = np.ascontiguousarray(Z.T)
    for _ in range(max_iter):
        mu = 1.0 / (1.0 + np.exp(-(Z @ coef)))
        weight = mu * (1.0 - mu)
        information = (Zt * weight) @ Z
        # Keeps collinear columns and separated classes solvable; too small to move a maximum.
        ridge = 1e-10 * (1.0 + np.trace(information))
        for a in range(k):
            information[a, a] += ridge
        step = np.linalg.solve(information, Zt @ (y - mu))
        new_value = log_likelihood(Z @ (coef + step), y)
        while new_value < value - 1e-12 and np.abs(step).max() > 1e-12:
            step = step / 2.0
            new_value = log_likelihood(Z @ (coef + step), y)
        coef = coef + step
        gain, value = new_value - value, new_value
        if gain < tol:
            break
    return coef, value
