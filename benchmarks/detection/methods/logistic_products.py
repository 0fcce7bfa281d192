"""Logistic regression with one product term at a time: Wald test, Holm's adjustment."""

from __future__ import annotations

import numpy as np
from scipy import stats

from immigrate.additive.families import CLASSES
from immigrate.additive.newton import information_matrix
from immigrate.additive.ridge import ridge_coefficients
from immigrate.interactions.adjustments import PValues, holm
from methods import Evidence

SEPARATION_GUARD = 1e-3


def product_p_value(X, y, a, b):
    """Two-sided p of the coefficient of x_a x_b beside all linear effects."""
    Z = np.column_stack([np.ones(len(y)), X, X[:, a] * X[:, b]])
    weight, penalty = np.ones(len(y)), np.full(Z.shape[1], SEPARATION_GUARD)
    beta = ridge_coefficients(
        Z, y[:, None].astype(float), weight, penalty, np.zeros((Z.shape[1], 1))
    )
    information = information_matrix(Z, CLASSES.means(Z @ beta), weight)
    variance = np.linalg.inv(information + np.diag(penalty))[-1, -1]
    return 2 * stats.norm.sf(abs(beta[-1, 0]) / np.sqrt(variance))


def evidence(problem, rng):
    X = (problem.X - problem.X.mean(axis=0)) / problem.X.std(axis=0)
    pairs = np.column_stack(np.triu_indices(X.shape[1], 1))
    p = np.array([product_p_value(X, problem.y, a, b) for a, b in pairs])
    order = np.argsort(p, kind="stable")
    adjusted = np.exp(holm(PValues(np.log(np.maximum(p[order], 1e-300)))))
    return Evidence(pairs[order], p[order], adjusted)
