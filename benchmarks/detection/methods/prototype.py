"""The recipe that `InteractionTest` grew from, in its plainest form: a yardstick for power.

Two classes, complete tables, no weights. Four cosines per feature whatever the number of
samples, three moments in place of the saddlepoint, and two forms instead of three.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats
from sklearn.model_selection import StratifiedKFold

from immigrate.interactions.adjustments import PValues, holm
from methods import Evidence

STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 400.0)
N_COSINES, N_SCORE = 4, 2
K = np.arange(1, N_COSINES + 1)


def mid_ranks(x):
    return (stats.rankdata(x) - 0.5) / len(x)


def cosines(u):
    return np.sqrt(2) * np.cos(np.pi * np.outer(u, K))


def main_effect_columns(x):
    """Columns of one feature in the additive model, and their penalties."""
    levels = np.unique(x)
    if len(levels) <= 5:
        columns, penalty = (x[:, None] == levels).astype(float), np.ones(len(levels))
    else:
        z = np.clip((x - x.mean()) / x.std(), -4, 4)
        columns = np.column_stack([z, cosines(mid_ranks(x))])
        penalty = np.concatenate([[1.0], K**2])
    return columns - columns.mean(axis=0), penalty


def functions(x):
    """phi_k of one feature, unit variance, over k."""
    levels, code, count = np.unique(x, return_inverse=True, return_counts=True)
    if len(levels) <= 6:
        u, share = mid_ranks(x), count / len(x)
        u = np.array([u[code == level][0] for level in range(len(levels))])
        centring = np.eye(len(u)) - share
        root = np.sqrt(share)
        kernel = root[:, None] * (centring @ -np.abs(u[:, None] - u) @ centring.T) * root
        vectors = np.linalg.eigh(kernel)[1][:, ::-1][:, : min(N_COSINES, len(u) - 1)]
        columns = (vectors / root[:, None])[code]
    else:
        columns = cosines(mid_ranks(x))
        columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    return columns / K[: columns.shape[1]]


def logistic_fit(Z, y, penalty, n_steps=25):
    """Ridge logistic regression by Newton steps; halved where the objective would rise."""

    def objective(beta):
        eta = Z @ beta
        return np.sum(np.logaddexp(0, eta) - y * eta) + 0.5 * np.sum(penalty * beta**2)

    beta = np.zeros(Z.shape[1])
    for _ in range(n_steps):
        mu = special.expit(Z @ beta)
        gradient = Z.T @ (y - mu) - penalty * beta
        step = np.linalg.solve((Z.T * (mu * (1 - mu))) @ Z + np.diag(penalty + 1e-8), gradient)
        size = 1.0
        while objective(beta + size * step) > objective(beta) + 1e-12 and size > 1e-4:
            size /= 2
        beta = beta + size * step
        if np.abs(step).max() < 1e-6:
            break
    return beta


def chosen_strength(Z, y, penalty):
    """The penalty with the smallest deviance in 5-fold cross-validation."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(Z, y))
    deviance = []
    for strength in STRENGTHS:
        total = 0.0
        for train, test in folds:
            eta = Z[test] @ logistic_fit(Z[train], y[train], strength * penalty)
            total += np.sum(np.logaddexp(0, eta) - y[test] * eta)
        deviance.append(total)
    return STRENGTHS[int(np.argmin(deviance))]


def kernel_p(U, S):
    """U'U matched to a shifted and scaled chi2 by three moments."""
    first, second, third = np.trace(S), np.sum(S * S), np.sum((S @ S) * S)
    df = second**3 / third**2
    return stats.chi2.sf((U @ U - first) * np.sqrt(df / second) + df, df)


def cauchy(p):
    p = np.clip(p, 1e-300, 1 - 1e-10)
    return stats.cauchy.sf(np.mean(np.where(p < 1e-15, 1 / (np.pi * p), 1 / np.tan(np.pi * p))))


def evidence(problem, rng):
    X, y = problem.X, problem.y.astype(float)
    blocks, penalties = zip(*(main_effect_columns(x) for x in X.T))
    Z = np.column_stack([np.ones(len(y)), *blocks])
    penalty = np.concatenate([[0.0], *penalties])
    strength = chosen_strength(Z, y, penalty)
    mu = special.expit(Z @ logistic_fit(Z, y, strength * penalty))
    v = mu * (1 - mu)
    H = np.linalg.inv((Z.T * v) @ Z + strength / 10 * np.diag(penalty + 1e-8))
    clearing = np.eye(len(y)) - v[:, None] * Z @ H @ Z.T
    r = clearing @ (y - mu)
    r *= np.sqrt(np.sum(clearing**2 * v) / (r @ r))
    phi = [functions(x) for x in X.T]
    pairs = np.column_stack(np.triu_indices(X.shape[1], 1))
    p = np.array([_pair_p(phi[a], phi[b], r, clearing, v) for a, b in pairs])
    order = np.argsort(p, kind="stable")
    return Evidence(pairs[order], p[order], np.exp(holm(PValues(np.log(p[order])))))


def _pair_p(left, right, r, clearing, v):
    C = (left[:, :, None] * right[:, None, :]).reshape(len(r), -1)
    is_low = np.outer(np.arange(left.shape[1]) < N_SCORE, np.arange(right.shape[1]) < N_SCORE)
    cleared, U = clearing.T @ C, C.T @ r
    S = (cleared.T * v) @ cleared
    low = np.flatnonzero(is_low.ravel())
    # The score does not depend on the weights 1/(kl): they cancel.
    score = U[low] @ np.linalg.pinv(S[np.ix_(low, low)], rcond=1e-8) @ U[low]
    return cauchy(np.array([kernel_p(U, S), stats.chi2.sf(score, len(low))]))
