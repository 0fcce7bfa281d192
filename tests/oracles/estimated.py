"""Evidence of a term for a number, by its definition: one term, n x n matrices, no shortcuts.

Samples of weight w are written out as w samples.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

SMALLEST_LEFT = 0.3


def group_codes(x, n, is_nominal=False):
    """Groups of equal variance by one column without gaps."""
    values, code, count = np.unique(x, return_inverse=True, return_counts=True)
    if is_nominal:
        order = np.argsort(-count, kind="stable")
        return np.minimum(np.argsort(order)[code], 9)
    if len(values) <= 6:
        return code
    most = int(np.clip(n // 30, 2, 6))
    rank = (np.cumsum(count) - count / 2) / count.sum()
    return np.minimum((rank * most).astype(int), most - 1)[code]


def null_projection(Z, penalty, G):
    """R: what the ridge on Z leaves, with the columns G free."""
    R = np.eye(len(Z)) - Z @ np.linalg.inv(Z.T @ Z + np.diag(penalty)) @ Z.T
    G = G[:, np.any(G != 0, axis=0)]
    if G.shape[1]:
        inner = G.T @ R @ G + 1e-6 * np.diag(np.sum(G**2, axis=0))
        R = R - R @ G @ np.linalg.inv(inner) @ G.T @ R
    return R


def form_log_p(R, C, e, groups, kind, most_explained=0.99):
    """Log p of one form, NaN where it cannot be tested."""
    RC = R @ C
    size = np.sum(C**2, axis=0)
    keep = np.sum(RC**2, axis=0) > (1 - most_explained) * size
    C, RC = C[:, keep], RC[:, keep]
    if not keep.any():
        return np.nan
    M = RC.T @ RC
    unit = np.diag(1 / np.sqrt(np.diag(M)))
    eigenvalues, V = np.linalg.eigh(unit @ M @ unit)
    before = np.diag(V.T @ unit @ (C.T @ C) @ unit @ V)
    real = eigenvalues > np.maximum(1e-6, (1 - most_explained) * before)
    T = unit @ V[:, real] / np.sqrt(eigenvalues[real])
    W, k = RC @ T, int(real.sum())
    R1 = R - W @ np.linalg.inv((C @ T).T @ W) @ W.T
    r, left = R1 @ e, np.diag(R1 @ R1.T)
    nu = left.sum()
    if nu <= 1:
        return np.nan
    s2 = r @ r / nu
    v, levels = np.full(len(e), s2), []
    for code in groups:
        d = np.bincount(code, left)
        m = np.bincount(code, r**2)
        own = d > 1e-9
        X = np.sum(d[own] / 2 * (m[own] / (d[own] * s2) - 1) ** 2)
        B = max(0.0, 1 - (own.sum() - 1) / max(X, 1e-300))
        v = v * (((m + s2) / (d + 1) / s2) ** B)[code]
        levels.append((code, d, B))
    v *= (r @ r) / (left @ v)
    is_own = left >= SMALLEST_LEFT
    omega = np.where(is_own, r**2 / left, v)

    def variance(x):
        small = np.where(is_own, 0, x)
        total = np.sum(x[is_own] ** 2 / left[is_own]) + small.sum() ** 2 / nu
        for code, d, B in levels:
            total += B**2 * np.sum(np.bincount(code, small, len(d)) ** 2 / np.maximum(d, 0.5))
        return total

    columns = RC if kind == "kernel" else W
    U = C.T @ R @ e if kind == "kernel" else (C @ T).T @ R @ e
    S = columns.T @ (omega[:, None] * columns)
    t = np.trace(S)
    f = max(1.0, t**2 / np.sum(S**2))
    x = np.sum(columns**2, axis=1) * v
    f0 = min(nu, x.sum() ** 2 / variance(x))
    q = U @ U / t
    with np.errstate(divide="ignore"):
        log_p = stats.f.logsf(q, f, f0)
    if kind == "score" and k > 1:
        o = np.sum((W @ np.linalg.inv(W.T @ (v[:, None] * W))) * W, axis=1) * v
        eta = min(nu, k * (k + 1) / 2 / variance(o))
        if eta - k + 1 > 1:
            H = U @ np.linalg.solve(S, U)
            with np.errstate(divide="ignore"):
                other = stats.f.logsf(H * (eta - k + 1) / eta / k, k, eta - k + 1)
            log_p = combined([log_p, other])
    return log_p


def combined(log_p):
    """The Cauchy combination of p-values that are not tiny, each capped at .999."""
    p = np.minimum(np.exp(log_p), 0.999)
    if p.min() >= 0.999:
        return 0.0
    with np.errstate(divide="ignore"):
        return np.log(0.5 - np.arctan(np.mean(np.tan(np.pi * (0.5 - p)))) / np.pi)
