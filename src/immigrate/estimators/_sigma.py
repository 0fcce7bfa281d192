"""Choosing sigma: one value that needs no tuning, and grids to choose from.

sigma is a width in units of q, so a sensible value scales with q itself. The unit used here
is the median of q over pairs of samples under the weights that the fit starts from.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from immigrate.core.distances import absolute_differences, quadratic_manhattan
from immigrate.estimators._validation import check_option, check_positive

# Measured over real tables: docs/choosing-sigma.md.
AUTO_MULTIPLE = 0.125
AUTO_MULTIPLES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_GRID = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Pairs in the sample behind the median: enough for one per cent, at any table size.
MOST_ANCHORS, MOST_NEIGHBOURS = 64, 512


def resolved_sigma(sigma, X, W):
    """`sigma` as a number: "auto" is AUTO_MULTIPLE times the typical distance under `W`."""
    if isinstance(sigma, str):
        check_option("sigma", sigma, ("auto",))
        return AUTO_MULTIPLE * typical_distance(X, W)
    return check_positive("sigma", sigma)


def sigma_grid(sigmas, X, W):
    """Candidates, largest first."""
    if isinstance(sigmas, str):
        check_option("sigmas", sigmas, ("auto", "paper"))
        if sigmas == "paper":
            return list(PAPER_GRID)
        return [multiple * typical_distance(X, W) for multiple in AUTO_MULTIPLES]
    values = list(sigmas) if isinstance(sigmas, Iterable) and np.ndim(sigmas) != 0 else []
    if not values:
        raise ValueError(f"sigmas must be 'auto', 'paper' or a list of numbers, got {sigmas!r}.")
    return sorted((check_positive("sigmas", value) for value in values), reverse=True)


def typical_distance(X, W):
    """Median q over pairs of samples; the mean where more than half of the pairs coincide.

    From a sample of pairs spread over the table. Rows are taken in the order of their sums,
    so that the order of the table does not matter.
    """
    order = _row_order(X)
    neighbours = X[_spread(order, MOST_NEIGHBOURS)].astype(np.float64)
    if not np.count_nonzero(W - np.diag(W.diagonal())):
        # A diagonal W needs no p x p product: q is the weighted sum of squares.
        root = np.sqrt(W.diagonal())
        neighbours, W = neighbours * root, None
    q = []
    for i in _spread(np.arange(len(neighbours)), MOST_ANCHORS):
        d = absolute_differences(np.delete(neighbours, i, axis=0), neighbours[i])
        q.append(np.einsum("ja,ja->j", d, d) if W is None else quadratic_manhattan(d, W))
    q = np.concatenate(q)
    middle = float(np.median(q)) or float(q.mean())
    return middle if middle > 0 else 1.0


def _row_order(X):
    """Rows by their sums, rows of equal sums by their values: the same for any order of rows."""
    total = X.sum(axis=1)
    order = np.argsort(total, kind="stable")
    has_ties = np.any(np.diff(total[order]) == 0)
    return np.lexsort([*X.T, total]) if has_ties else order


def _spread(values, most):
    return values[np.linspace(0, len(values) - 1, min(most, len(values))).astype(int)]
