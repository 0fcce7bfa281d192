"""What others offer for a number as label: products in a linear regression, and FAST."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy import stats


def linear_products(X, y):
    """Holm-adjusted p of each product beside all main effects, and the first pair by p."""
    columns = list(X.columns)
    Z = np.column_stack([np.ones(len(X)), X.to_numpy()])
    p = {pair: _product_p(Z, X[pair[0]] * X[pair[1]], y) for pair in combinations(columns, 2)}
    order = sorted(p, key=p.get)
    left = len(order) - np.arange(len(order))
    adjusted = np.minimum(np.maximum.accumulate([p[pair] for pair in order] * left), 1.0)
    return dict(zip(order, adjusted)), order[0]


def _product_p(Z, product, y):
    A = np.column_stack([Z, product])
    beta, rss, _, _ = np.linalg.lstsq(A, y, rcond=None)
    df = len(y) - A.shape[1]
    variance = np.linalg.inv(A.T @ A)[-1, -1] * rss[0] / df
    return float(2 * stats.t.sf(abs(beta[-1]) / np.sqrt(variance), df))


def fast_first(X, y):
    """The strongest pair of interpret-core's `measure_interactions`, after a linear model."""
    from interpret.utils import measure_interactions
    from sklearn.linear_model import LinearRegression

    start = LinearRegression().fit(X, y).predict(X)
    found = measure_interactions(X.to_numpy(), y, init_score=start, objective="rmse")
    a, b = found[0][0]
    return tuple(sorted((X.columns[a], X.columns[b])))
