"""Choosing sigma: one value that needs no tuning, and grids to choose from.

sigma is a width in units of q, so a sensible value scales with q itself. The unit used here
is the median of q over pairs of samples under the weights that the fit starts from.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, check_positive
from immigrate.core.differences import ColumnDifferences
from immigrate.core.distances import quadratic_manhattan
from immigrate.core.forms import QUADRATIC
from immigrate.estimators._encoding import Encoding

# Measured over real tables: docs/measurements/choosing-sigma.md.
AUTO_MULTIPLE = 0.125
# With triples: docs/measurements/three-way.md.
AUTO_MULTIPLE_OF_TRIPLES = 0.5
AUTO_MULTIPLES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_GRID = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Pairs in the sample behind the median: enough for one per cent, at any table size.
MOST_ANCHORS, MOST_NEIGHBOURS = 64, 512


def resolved_sigma(
    sigma: Any,
    X: Array,
    W: Array,
    encoding: Encoding | None = None,
    *,
    multiple: float = AUTO_MULTIPLE,
) -> float:
    """`sigma` as a number: "auto" is `multiple` times the typical distance under `W`."""
    if isinstance(sigma, str):
        check_option("sigma", sigma, ("auto",))
        return multiple * typical_distance(X, W, encoding)
    return check_positive("sigma", sigma)


def sigma_grid(sigmas: Any, X: Array, W: Array, encoding: Encoding | None = None) -> list[float]:
    """Candidates, largest first."""
    if isinstance(sigmas, str):
        check_option("sigmas", sigmas, ("auto", "paper"))
        if sigmas == "paper":
            return list(PAPER_GRID)
        grid: list[float] = np.multiply(AUTO_MULTIPLES, typical_distance(X, W, encoding)).tolist()
        return grid
    is_list = isinstance(sigmas, Iterable) and np.ndim(np.asarray(sigmas)) != 0
    values = list(sigmas) if is_list else []
    if not values:
        raise ValueError(f"sigmas must be 'auto', 'paper' or a list of numbers, got {sigmas!r}.")
    return sorted((check_positive("sigmas", value) for value in values), reverse=True)


def typical_distance(X: Array, W: Array, encoding: Encoding | None = None) -> float:
    """Median q over pairs of samples; the mean where more than half of the pairs coincide.

    From a sample of pairs spread over the table. Rows are taken in the order of their sums,
    so that neither the order of the table nor that of its columns matters.
    """
    is_nominal = None if encoding is None else encoding.is_nominal
    mismatch = 1.0 if encoding is None else encoding.mismatch
    samples = X[_spread(_row_order(X, is_nominal), MOST_NEIGHBOURS)].astype(np.float64)
    differences = ColumnDifferences.of(samples, is_nominal, mismatch=mismatch)
    distances = plain_distances if differences.is_plain else mixed_distances
    q = distances(samples, W, differences)
    # The median is 0 where most samples coincide, as in tables of few levels.
    middle = float(np.median(q)) or float(q.mean())
    # Samples that are all alike have no distance; any width will do.
    return middle if middle > 0 else 1.0


def plain_distances(X: Array, W: Array, _: ColumnDifferences) -> Array:
    """Distances of some samples from all others, numbers without gaps."""
    is_diagonal = not np.count_nonzero(W - np.diag(W.diagonal()))
    if is_diagonal:
        # A diagonal W needs no p x p product: q is the weighted sum of squares.
        X = X * np.sqrt(W.diagonal())
    distances = []
    for i in _spread(np.arange(len(X)), MOST_ANCHORS):
        # Without the sample itself, which is at distance 0.
        d = np.abs(np.delete(X, i, axis=0) - X[i])
        distances.append(np.einsum("ja,ja->j", d, d) if is_diagonal else quadratic_manhattan(d, W))
    return np.concatenate(distances)


def mixed_distances(X: Array, W: Array, differences: ColumnDifferences) -> Array:
    """Distances of some samples from all others, columns of any kind."""
    samples = differences.samples(X)
    everybody, distances = np.arange(len(X)), []
    for i in _spread(everybody, MOST_ANCHORS):
        d = differences(samples.take(everybody[[i]]), samples.take(np.delete(everybody, i)))
        distances.append(QUADRATIC.distance(W, d)[0])
    return np.concatenate(distances)


def _row_order(X: Array, is_nominal: Mask | None = None) -> Codes:
    """Rows by their sums: the same rows in the same places for any order of rows and columns."""
    codes = np.nan_to_num(X.astype(np.float64, copy=False))
    X = np.nan_to_num(X if is_nominal is None else _with_shares(X, is_nominal)).astype(np.float64)
    # Summed from the smallest value on, so that the order of columns does not round otherwise.
    ascending = np.sort(X, axis=1)
    total = ascending.sum(axis=1)
    order = np.argsort(total, kind="stable")
    if not np.any(np.diff(total[order]) == 0):
        return order
    # Rows of equal values differ in how they lie to all others. The order of the columns decides
    # last, where nothing else tells two rows apart.
    return np.lexsort([*codes.T, _alignment(X), *ascending.T, total])


def _with_shares(codes: Array, is_nominal: Mask) -> Array:
    """Levels by how many samples have them, because their codes follow from their names."""
    X = codes.copy()
    for j in np.flatnonzero(is_nominal):
        known = ~np.isnan(codes[:, j])
        _, level, size = np.unique(codes[known, j], return_inverse=True, return_counts=True)
        X[known, j] = size[level] / len(X)
    return X


def _alignment(X: Array) -> Array:
    """Sum of the squared scalar products of each row with all rows, to nine digits."""
    X = X - X.mean(axis=0)
    X /= np.abs(X).max() or 1.0
    alignment: Array = np.einsum("ia,ia->i", np.linalg.multi_dot([X, X.T, X]), X)
    # Fewer digits than it has: the last ones depend on the order of the sums.
    largest = float(alignment.max()) or 1.0
    return np.round(alignment / largest, 9)


def _spread(values: Codes, most: int) -> Codes:
    return values[np.linspace(0, len(values) - 1, min(most, len(values))).astype(int)]
