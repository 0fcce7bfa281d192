"""One pass under a hard coupling: all of Relief and ReliefF, and the scatter of LFE."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Mask
from immigrate.core.mixed_table import MixedTable
from immigrate.kernels.neighbours_numpy import Nearest, NeighbourPairs

Statistic = Callable[[NeighbourPairs], Array]


def hit_and_miss_sides(n_classes: int) -> Array:
    """s(c, c') = -1 for a hit, 1 for a miss."""
    return 1.0 - 2.0 * np.eye(n_classes)


def prior_weighted_sides(class_share: Array) -> Array:
    """-1 for a hit, P(c') / (1 - P(c)) for a miss of class c' from class c: ReliefF's weights."""
    sides = class_share / (1 - class_share[:, None])
    np.fill_diagonal(sides, -1.0)
    return sides


def one_pass(
    table: MixedTable,
    rule: Nearest,
    statistic: Statistic,
    *,
    sides: Array,
    narrowed: Callable[[NeighbourPairs], NeighbourPairs] | None = None,
    anchors: NDArray[np.intp] | None = None,
    anchor_weight: Array | None = None,
    n_threads: int = 1,
) -> Array:
    """Sum over the anchors of a statistic of each one's nearest hits and misses.

    Parameters
    ----------
    table : MixedTable
    rule : Nearest
    statistic : callable
        From pairs with signed weights D_n c_nj s(y_n, y_j) to an array.
    sides : ndarray of shape (n_classes, n_classes)
        s: how a neighbour of each class counts for an anchor of each class.
    narrowed : callable, optional
        Chooses among the pairs that `rule` gives, and weighs them anew. By default all stay.
    anchors : ndarray of int, optional
        By default every sample.
    anchor_weight : ndarray of shape (n,), optional
        D, scaled to sum 1 over the anchors. By default all weigh the same.
    n_threads : int
    """
    # Here and below: imported late, so that importing the library does not import Numba.
    from immigrate.kernels.neighbours import nearest_pairs, sum_over_anchors

    n = table.y.size
    anchors = np.arange(n) if anchors is None else anchors
    D = np.ones(n) if anchor_weight is None else anchor_weight
    D = D / D[anchors].sum()
    # Methods of one pass look for neighbours with all features alike; nothing is learned yet.
    even = np.ones(table.values.shape[1])

    def block_statistic(block: NDArray[np.intp]) -> Array:
        pairs = nearest_pairs(table, block, even, rule)
        pairs = pairs if narrowed is None else narrowed(pairs)
        return statistic(signed(pairs, table.y, sides, D))

    total: Array = sum_over_anchors(block_statistic, anchors, n, n_threads)
    return total


def sharing(pairs: NeighbourPairs, is_chosen: Mask, y: NDArray[np.intp]) -> NeighbourPairs:
    """Some of `pairs`; the neighbours of one class of an anchor share a weight of 1."""
    # The shares of `Nearest` are for all samples of a class; they are given out anew here.
    chosen = NeighbourPairs(*(column[is_chosen] for column in pairs))
    group = chosen.anchor * (y.max() + 1) + y[chosen.neighbour]
    return chosen._replace(weight=1 / np.bincount(group)[group])


def signed(
    pairs: NeighbourPairs, y: NDArray[np.intp], sides: Array, anchor_weight: Array
) -> NeighbourPairs:
    """`pairs` with hits and misses told apart and anchors weighed: D_n c_nj s(y_n, y_j)."""
    side = sides[y[pairs.anchor], y[pairs.neighbour]]
    return pairs._replace(weight=anchor_weight[pairs.anchor] * side * pairs.weight)


def feature_differences(table: MixedTable, *, is_squared: bool) -> Statistic:
    """The diagonal statistic: weighted sum of the (squared) differences of each feature."""
    from immigrate.kernels.neighbours import difference_sum

    return lambda pairs: difference_sum(table, pairs, is_squared=is_squared)
