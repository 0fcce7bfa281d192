"""Scores for numbers, with the hits and misses of scikit-rebate's continuous endpoints.

    hit(n, j)   |y_n - y_j| below the standard deviation of y
    miss(n, j)  all others
    score_f     sum_n D_n [mean of diff(f, n, j) over near misses - the same over near hits]

An anchor without near hits, or without near misses, adds nothing there. In NumPy, one anchor at a
time: n^2 p differences and O(n p) memory.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.kernels.neighbours_numpy import TIE, MixedTable, differences, nearest_coupling
from immigrate.progress import report_progress

# From the distances of an anchor to all others, and the group of candidates among them, to the
# share of each candidate: they sum to 1, or there is none.
Shares = Callable[[Array, Codes], Array]


def number_scores(
    table: MixedTable,
    numbers: Array,
    shares: Shares,
    *,
    is_squared: bool,
    has_squared_score: bool = False,
    anchors: np.ndarray | None = None,
    anchor_weight: Array | None = None,
) -> Array:
    """The score of each feature.

    Parameters
    ----------
    table : MixedTable
    numbers : ndarray of shape (n,)
        The outcome.
    shares : callable
        `k_nearest(k)` or `near_shares`.
    is_squared : bool
        Whether distances are Euclidean.
    has_squared_score : bool
        Whether squared differences are added up, as in Relief.
    anchors : ndarray of int, optional
        By default every sample.
    anchor_weight : ndarray of shape (n,), optional
        By default all weigh the same.
    """
    n = len(numbers)
    # In units of their size: squares of huge numbers overflow.
    numbers = numbers / np.abs(numbers).max()
    spread = float(np.std(numbers, ddof=1))
    anchors = np.arange(n) if anchors is None else anchors
    D = np.ones(n) if anchor_weight is None else anchor_weight
    D = D / D[anchors].sum()
    score = np.zeros(table.values.shape[1])
    for place, i in enumerate(anchors):
        d = np.delete(differences(table, i), i, axis=0)
        distance = np.sqrt((d**2).sum(axis=1)) if is_squared else d.sum(axis=1)
        is_hit = np.delete(np.abs(numbers - numbers[i]) < spread, i)
        for side, group in ((-1.0, is_hit), (1.0, ~is_hit)):
            share = shares(distance, np.flatnonzero(group))
            own = d[group] ** 2 if has_squared_score else d[group]
            score += D[i] * side * (share @ own)
        report_progress(f"sample {place + 1} of {len(anchors)}")
    return score


def k_nearest(n_neighbors: int) -> Shares:
    """The k nearest of the group share the weight; a smaller group counts as a whole."""

    def shares(distance: Array, group: Codes) -> Array:
        if not group.size:
            return np.zeros(0)
        return nearest_coupling(distance[group], n_neighbors)

    return shares


def near_shares(distance: Array, group: Codes) -> Array:
    """Those nearer than the mean of all by more than half a standard deviation share it."""
    limit = (distance.mean() - distance.std() / 2) * (1 - TIE)
    is_near = (distance[group] < limit).astype(float)
    return is_near / max(is_near.sum(), 1.0)
