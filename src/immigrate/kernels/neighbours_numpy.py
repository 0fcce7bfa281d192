"""Nearest hits and misses in plain NumPy: what the compiled ``neighbours`` is held to.

    sum_n D_n sum_j c_nj s(y_n, y_j) diff(f, n, j)^power

c_n spreads a weight of 1 over the k nearest samples of each group of candidates, s tells hits
from misses. One anchor at a time: O(n p) memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Codes, Mask
from immigrate.kernels.layout import COMPLETE

# Distances that agree to this relative accuracy are equally far: they differ by rounding only.
TIE = 1e-12


class MixedTable(NamedTuple):
    """Labelled samples, laid out for passes over the pairs.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        Numeric features in their units of difference, category codes, NaN where missing.
    is_categorical : ndarray of shape (p,)
    y : ndarray of shape (n,)
        Class codes 0, 1, ...
    starts : ndarray of shape (n_classes + 1,)
        Number of samples of lower classes.
    gap : ndarray of shape (p,)
        Row of the next two for a feature with missing values, `COMPLETE` for the others.
    one_missing : ndarray of shape (n_gaps, n_classes, n)
        Difference of a sample from one of class c whose value is missing.
    both_missing : ndarray of shape (n_gaps, n_classes, n_classes)
    screen : ndarray of shape (p, n), float32
        `values` in units of `span`, feature by feature, NaN where missing.
    span : ndarray of shape (p,)
        Largest difference of a numeric feature in `values`, 1 for those of categories and
        without one.
    period : ndarray of shape (p,)
        Period of a circular feature in the units of `values`, infinite for the others.
    runs : ndarray of shape (n_runs, 3)
        Neighbouring features of one kind: first, last + 1, and whether they are plain, that
        is numbers on a line, and complete.
    """

    values: Array
    is_categorical: Mask
    y: Codes
    starts: Codes
    gap: Codes
    one_missing: Array
    both_missing: Array
    screen: NDArray[np.float32]
    span: Array
    period: Array
    runs: Codes


class Nearest(NamedTuple):
    """Who is near: the k nearest candidates of each group, by which distance.

    Attributes
    ----------
    n_neighbors : int
        k; a group with fewer candidates counts as a whole.
    is_per_class : bool
        Whether every other class is a group of its own (ReliefF) or the misses of all
        classes are one (Relief).
    is_squared : bool
        Distances are sums of squared differences (Euclidean) or of differences (Manhattan).
    """

    n_neighbors: int = 1
    is_per_class: bool = False
    is_squared: bool = True


class NeighbourPairs(NamedTuple):
    """Anchors and their neighbours, one entry a pair.

    Attributes
    ----------
    anchor, neighbour : ndarray of int
    weight : ndarray
    distance : ndarray
        Weighted sum of the differences, squared ones for a squared distance.
    """

    anchor: np.ndarray
    neighbour: np.ndarray
    weight: np.ndarray
    distance: np.ndarray


def differences(table: MixedTable, i: int) -> Array:
    """diff(f, i, j) of one sample to every sample, (n, p)."""
    d = np.empty(table.values.shape)
    for f, x in enumerate(table.values.T):
        # Where a value is missing this is no difference yet; it is put in its place below.
        d[:, f] = x != x[i] if table.is_categorical[f] else np.abs(x - x[i])
        d[:, f] = np.minimum(d[:, f], table.period[f] - d[:, f])
        gap = table.gap[f]
        if gap == COMPLETE:
            continue
        is_missing = np.isnan(x)
        if is_missing[i]:
            d[:, f] = table.one_missing[gap, table.y[i]]
            d[is_missing, f] = table.both_missing[gap, table.y[i], table.y[is_missing]]
        else:
            d[is_missing, f] = table.one_missing[gap, table.y[is_missing], i]
    return d


def nearest_pairs(table: MixedTable, anchors: Codes, w: Array, rule: Nearest) -> NeighbourPairs:
    """Each anchor with its nearest samples of every group of candidates."""
    rows = []
    for i in anchors:
        distance = differences(table, i) ** (2 if rule.is_squared else 1) @ w
        for candidates in _groups(table.y, i, rule.is_per_class):
            j = np.flatnonzero(candidates)
            share = nearest_coupling(distance[j], rule.n_neighbors)
            is_near = share > 0
            rows.append(
                (np.full(is_near.sum(), i), j[is_near], share[is_near], distance[j[is_near]])
            )
    return NeighbourPairs(*(np.concatenate(column) for column in zip(*rows)))


def nearest_coupling(distance: Array, n_neighbors: int) -> Array:
    """Weight 1 spread over the `n_neighbors` nearest; equally far ones share what is left."""
    k = min(n_neighbors, distance.size)
    reach = np.sort(distance)[k - 1]
    # Who is closer than the k-th counts in full; those as far as the k-th share what is left.
    is_closer = distance < reach * (1 - TIE)
    is_tied = ~is_closer & (distance <= reach * (1 + TIE))
    return (is_closer + is_tied * (k - is_closer.sum()) / is_tied.sum()) / k


def difference_sum(table: MixedTable, pairs: NeighbourPairs, *, is_squared: bool) -> Array:
    """Weighted sum of the differences of `pairs`, feature by feature."""
    total = np.zeros(table.values.shape[1])
    for i in np.unique(pairs.anchor):
        is_own = pairs.anchor == i
        d = differences(table, i)[pairs.neighbour[is_own]]
        total += pairs.weight[is_own] @ d ** (2 if is_squared else 1)
    return total


def _groups(y: Codes, i: int, is_per_class: bool) -> list[Mask]:
    """Masks of the candidates that each get a weight of 1: hits, and misses of a kind."""
    others = np.arange(y.size) != i
    if is_per_class:
        return [others & (y == c) for c in range(y.max() + 1)]
    return [others & (y == y[i]), y != y[i]]
