"""Nearest hits and misses, compiled: a hard coupling, and sums of differences under it.

    sum_n D_n sum_j c_nj s(y_n, y_j) diff(f, n, j)^power

``neighbours_reference`` says the same in NumPy. n^2 p differences for the distances, then
n k p for the sum; memory O(block n). The table is held feature by feature, so that the inner
loops run along samples and the compiler turns them into vector instructions.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from immigrate.core.differences import COMPLETE, MixedTable
from immigrate.kernels.coupling import TIE, Nearest, Pairs
from immigrate.kernels.threads import run_in_order

# Columns of a tile of distances: the tile and the values that feed it stay in the cache.
TILE = 512
MOST_ANCHORS = 64
LARGEST_BLOCK = 2**22


def nearest_pairs(table: MixedTable, anchors, w, rule: Nearest) -> Pairs:
    """Each anchor with its nearest samples of every group of candidates."""
    distance = _distances(table, anchors, w, rule.is_squared)
    return Pairs(*_nearest(table, anchors, distance, rule.n_neighbors, rule.is_per_class))


def difference_sum(table: MixedTable, pairs: Pairs, *, is_squared: bool):
    """Weighted sum of the differences of `pairs`, feature by feature."""
    return _difference_sum(table, pairs.anchor, pairs.neighbour, pairs.weight, is_squared)


def sum_over_anchors(statistic, anchors, n_samples: int, n_threads: int):
    """Sum of `statistic` over blocks of anchors, the same for any number of threads."""
    size = max(1, min(MOST_ANCHORS, LARGEST_BLOCK // n_samples))
    blocks = [anchors[i : i + size] for i in range(0, len(anchors), size)]
    return sum(run_in_order(statistic, blocks, n_threads))


@njit(nogil=True, cache=True)
def _difference(table, f, i, j):
    """diff(f, i, j) of ``core.differences``."""
    a, b = table.values[f, i], table.values[f, j]
    gap = table.gap[f]
    if gap != COMPLETE:
        if np.isnan(a):
            if np.isnan(b):
                return table.both_missing[gap, table.y[i], table.y[j]]
            return table.one_missing[gap, table.y[i], j]
        if np.isnan(b):
            return table.one_missing[gap, table.y[j], i]
    if table.is_categorical[f]:
        return 1.0 if a != b else 0.0
    return abs(a - b)


@njit(nogil=True, cache=True)
def _distances(table, anchors, w, is_squared):
    """Weighted sums of differences of each anchor to every sample, (n_anchors, n)."""
    p, n = table.values.shape
    out = np.zeros((anchors.size, n))
    for start in range(0, n, TILE):
        stop = min(start + TILE, n)
        for a in range(anchors.size):
            tile = out[a, start:stop]
            for f in range(p):
                if w[f] != 0:
                    _add_feature(table, f, anchors[a], start, w[f], is_squared, tile)
    return out


@njit(nogil=True, cache=True)
def _add_feature(table, f, i, start, weight, is_squared, tile):
    """Add one feature's share to a stretch of distances."""
    x = table.values[f, start : start + tile.size]
    own = table.values[f, i]
    if table.gap[f] != COMPLETE:
        for j in range(tile.size):
            d = _difference(table, f, i, start + j)
            tile[j] += weight * (d * d if is_squared else d)
    elif table.is_categorical[f]:
        for j in range(tile.size):
            tile[j] += weight if x[j] != own else 0.0
    elif is_squared:
        for j in range(tile.size):
            tile[j] += weight * (x[j] - own) ** 2
    else:
        for j in range(tile.size):
            tile[j] += weight * abs(x[j] - own)


@njit(nogil=True, cache=True)
def _nearest(table, anchors, distance, n_neighbors, is_per_class):
    """Columns of `Pairs` from the distances of every anchor."""
    n, n_groups = table.y.size, table.starts.size - 1 if is_per_class else 2
    anchor = np.empty(anchors.size * n, dtype=np.intp)
    neighbour = np.empty(anchors.size * n, dtype=np.intp)
    weight, reached = np.empty(anchors.size * n), np.empty(anchors.size * n)
    candidates, near = np.empty(n, dtype=np.intp), np.empty(n)
    heap = np.empty(min(n_neighbors, n))
    size = 0
    for a in range(anchors.size):
        for group in range(n_groups):
            m = _candidates(table, anchors[a], group, is_per_class, candidates)
            for c in range(m):
                near[c] = distance[a, candidates[c]]
            k = min(n_neighbors, m)
            reach = _kth_smallest(near[:m], heap[:k])
            low, high = reach * (1 - TIE), reach * (1 + TIE)
            first, n_closer = size, 0
            for c in range(m):
                if near[c] <= high:
                    neighbour[size], reached[size] = candidates[c], near[c]
                    n_closer += near[c] < low
                    size += 1
            n_tied = size - first - n_closer
            for pair in range(first, size):
                is_closer = reached[pair] < low
                anchor[pair] = anchors[a]
                weight[pair] = 1.0 / k if is_closer else (k - n_closer) / n_tied / k
    return (
        anchor[:size].copy(),
        neighbour[:size].copy(),
        weight[:size].copy(),
        reached[:size].copy(),
    )


@njit(nogil=True, cache=True)
def _kth_smallest(values, heap):
    """Largest of the ``heap.size`` smallest values; `heap` is scratch, largest at the root."""
    k = heap.size
    heap[:] = values[:k]
    for root in range(k // 2 - 1, -1, -1):
        _sift_down(heap, root)
    for value in values[k:]:
        if value < heap[0]:
            heap[0] = value
            _sift_down(heap, 0)
    return heap[0]


@njit(nogil=True, cache=True)
def _sift_down(heap, root):
    while True:
        child = 2 * root + 1
        if child >= heap.size:
            return
        if child + 1 < heap.size and heap[child + 1] > heap[child]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


@njit(nogil=True, cache=True)
def _candidates(table, i, group, is_per_class, out):
    """Write the members of a group other than `i` to `out`; their number."""
    is_pooled_miss = not is_per_class and group == 1
    c = group if is_per_class else table.y[i]
    first, last = table.starts[c], table.starts[c + 1]
    m = 0
    if is_pooled_miss:
        for position in range(table.y.size):
            if position < first or position >= last:
                out[m] = table.order[position]
                m += 1
    else:
        for position in range(first, last):
            if table.order[position] != i:
                out[m] = table.order[position]
                m += 1
    return m


@njit(nogil=True, cache=True)
def _difference_sum(table, anchor, neighbour, weight, is_squared):
    total = np.zeros(len(table.values))
    for f in range(total.size):
        for pair in range(weight.size):
            d = _difference(table, f, anchor[pair], neighbour[pair])
            total[f] += weight[pair] * (d * d if is_squared else d)
    return total
