"""Sigma in units of a table: multiples of the typical distance of two of its samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, check_positive
from immigrate.core.differences import ColumnDifferences, ColumnKinds
from immigrate.core.forms import LINEAR, QUADRATIC, Cubic
from immigrate.kinds.circular import mean_circular_difference
from immigrate.margin.encoding import References

# Of the typical distance; measured over real tables: docs/measurements/choosing-sigma.md.
AUTO_MULTIPLE = 0.125
AUTO_MULTIPLES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_GRID = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Pairs in the sample behind a typical distance: enough for one per cent, at any table size.
MOST_ANCHORS, MOST_NEIGHBOURS = 64, 512
# Numbers in the differences of several samples from all others; more at once are no faster.
LARGEST_BLOCK = 2**17


def fit_sigma(sigma: Any, multiple: float, references: References, start: Array) -> float:
    """`sigma` as a number: "auto" is this multiple of the typical distance at the start."""
    if not isinstance(sigma, str):
        return check_positive("sigma", sigma)
    check_option("sigma", sigma, ("auto",))
    return multiple * distance_at(start, references)


def sigma_grid(sigmas: Any, references: References, start: Array) -> list[float]:
    """Candidates, largest first."""
    if isinstance(sigmas, str):
        check_option("sigmas", sigmas, ("auto", "paper"))
        if sigmas == "paper":
            return list(PAPER_GRID)
        distance = distance_at(start, references)
        grid: list[float] = np.multiply(AUTO_MULTIPLES, distance).tolist()
        return grid
    is_list = isinstance(sigmas, Iterable) and np.ndim(np.asarray(sigmas)) != 0
    values = list(sigmas) if is_list else []
    if not values:
        raise ValueError(f"sigmas must be 'auto', 'paper' or a list of numbers, got {sigmas!r}.")
    return sorted((check_positive("sigmas", value) for value in values), reverse=True)


def distance_at(start: Array, references: References) -> float:
    """The typical distance of samples under the weights that a fit starts from."""
    form = references.form
    W = form.matrix(start) if isinstance(form, Cubic) else start
    return typical_distance(references.table, W, references.encoding.kinds)


def typical_distance(X: Array, W: Array, kinds: ColumnKinds | None = None) -> float:
    """Median q over pairs of samples; the mean where more than half of the pairs coincide.

    This is the unit of sigma. From a sample of pairs spread over the table. Rows are taken in the
    order of their sums, so that neither the order of the table nor that of its columns matters.
    `W` is a matrix, or a weight for each column.
    """
    rows = _spread(_row_order(X, kinds), MOST_NEIGHBOURS)
    samples = X[rows].astype(np.float64)
    differences = ColumnDifferences.of(samples, kinds)
    is_plain = differences.is_plain and W.ndim == 2
    distances = plain_distances if is_plain else mixed_distances
    q = distances(samples, W, differences)
    # The median, which is 0 where most samples coincide, as in tables of few levels. NumPy looks
    # for its two middle values one after the other, which takes three times as long.
    k = len(q) // 2
    parted = np.partition(q, k)
    lower = parted[k] if len(q) % 2 else parted[:k].max()
    middle = float((lower + parted[k]) / 2) or float(q.mean())
    # Samples that are all alike have no distance; any width will do.
    return middle if middle > 0 else 1.0


def plain_distances(X: Array, W: Array, _: ColumnDifferences) -> Array:
    """Distances of some samples from all others, numbers without gaps."""
    anchors, distances = _spread(np.arange(len(X)), MOST_ANCHORS), []
    if np.count_nonzero(W - np.diag(W.diagonal())):
        for i in anchors:
            # Without the sample itself, which is at distance 0.
            d = np.abs(np.delete(X, i, axis=0) - X[i])
            distances.append(QUADRATIC.distance(W, d.T[:, None, :])[0])
        return np.concatenate(distances)
    # A diagonal W needs no p x p product: q is the weighted sum of squares.
    X = X * np.sqrt(W.diagonal())
    n_together = max(1, LARGEST_BLOCK // X.size)
    for i in range(0, len(anchors), n_together):
        rows = anchors[i : i + n_together]
        # Each anchor beside all samples, so that one difference is as long as the table.
        d = np.tile(X[rows], len(X))
        d -= X.ravel()
        d = d.reshape(len(rows), *X.shape)
        is_other = np.arange(len(X)) != rows[:, None]
        distances.append(np.einsum("ija,ija->ij", d, d)[is_other])
    return np.concatenate(distances)


def mixed_distances(X: Array, W: Array, differences: ColumnDifferences) -> Array:
    """Distances of some samples from all others, columns of any kind."""
    samples, form = differences.samples(X), LINEAR if W.ndim == 1 else QUADRATIC
    rows, distances = np.arange(len(X)), []
    for i in _spread(rows, MOST_ANCHORS):
        d = differences(samples.take(rows[[i]]), samples.take(np.delete(rows, i)))
        distances.append(form.distance(W, d)[0])
    return np.concatenate(distances)


def _row_order(X: Array, kinds: ColumnKinds | None) -> Codes:
    """Rows by their sums: the same rows in the same places for any order of rows and columns."""
    codes = X
    if kinds is not None and kinds.is_nominal.any():
        X = _with_shares(X, kinds.is_nominal)
    if kinds is not None and kinds.period is not None:
        X = _with_mean_differences(X, kinds.period)
    X = np.where(np.isnan(X), 0.0, X).astype(np.float64, copy=False)
    # Summed from the smallest value on, so that the order of columns does not round otherwise.
    ascending = np.sort(X, axis=1)
    total = ascending.sum(axis=1)
    order = np.argsort(total, kind="stable")
    if not np.any(np.diff(total[order]) == 0):
        return order
    # Rows of equal values differ in how they lie to all others. The order of the columns decides
    # last, where nothing else tells two rows apart.
    codes = np.nan_to_num(codes.astype(np.float64, copy=False))
    return np.lexsort([*codes.T, _alignment(X), *ascending.T, total])


def _with_shares(codes: Array, is_nominal: Mask) -> Array:
    """Levels by how many samples have them, because their codes follow from their names."""
    X = codes.copy()
    for j in np.flatnonzero(is_nominal):
        known = ~np.isnan(codes[:, j])
        _, level, size = np.unique(codes[known, j], return_inverse=True, return_counts=True)
        X[known, j] = size[level] / len(X)
    return X


def _with_mean_differences(values: Array, period: Array) -> Array:
    """Circular columns by how far values are from the others: where they begin means nothing."""
    X = values.copy()
    for j in np.flatnonzero(np.isfinite(period)):
        known = ~np.isnan(values[:, j])
        x = values[known, j].astype(np.float64)
        # To nine digits: the last ones depend on where the circle begins.
        share = mean_circular_difference(x, x, float(period[j])) / period[j]
        X[known, j] = np.round(share, 9) * period[j]
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
