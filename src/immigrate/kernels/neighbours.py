"""Nearest hits and misses, compiled: a hard coupling, and sums of differences under it.

    sum_n D_n sum_j c_nj s(y_n, y_j) diff(f, n, j)^power

``neighbours_numpy`` says the same in NumPy. Single precision screens all n^2 pairs, feature
by feature so that the inner loops run along samples; double precision then decides among the
few that rounding leaves in question, so the answer is that of double precision throughout.
n^2 p differences for the screening, about n k p for the rest; memory O(block n).
"""

from __future__ import annotations

import numpy as np

from immigrate.kernels.compiling import (
    jit_allocating,
    jit_allocating_cached,
    jit_allocating_reordered,
)
from immigrate.kernels.layout import COMPLETE
from immigrate.kernels.neighbours_numpy import TIE, MixedTable, Nearest, NeighbourPairs
from immigrate.kernels.threads import run_in_order

# Columns of a tile of distances: the tile and the values that feed it stay in the cache.
TILE = 1024
N_BINS = 512
# Distances of a block of anchors to all samples: 16 MB of single numbers at most, and 64 rows of
# them.
MOST_ANCHORS = 64
LARGEST_BLOCK = 2**22
SINGLE_ROUNDING = 2.0**-24


def nearest_pairs(table: MixedTable, anchors, w, rule: Nearest) -> NeighbourPairs:
    """Each anchor with its nearest samples of every group of candidates."""
    screening = _screening_weights(table, w, rule.is_squared)
    screened = _screened_distances(table, anchors, screening, rule.is_squared)
    # Room for every sample: any number may be tied, and MultiSURF asks for all of them.
    most = anchors.size * table.y.size
    # Made here and not in compiled code: Numba turns a tuple of arrays into Python objects without
    # a look at Ctrl-C in between, which then ends in a SystemError.
    codes = np.empty((2, most), dtype=np.intp)
    found = NeighbourPairs(codes[0], codes[1], np.empty(most), np.empty(most))
    n_found = _nearest(table, anchors, w, screened, rule, found)
    return NeighbourPairs(*(column[:n_found].copy() for column in found))


def difference_sum(table: MixedTable, pairs: NeighbourPairs, *, is_squared: bool):
    """Weighted sum of the differences of `pairs`, feature by feature."""
    return _difference_sum(table, pairs.anchor, pairs.neighbour, pairs.weight, is_squared)


def sum_over_anchors(statistic, anchors, n_samples: int, n_threads: int):
    """Sum of `statistic` over blocks of anchors, the same for any number of threads."""
    size = max(1, min(MOST_ANCHORS, LARGEST_BLOCK // n_samples))
    blocks = [anchors[i : i + size] for i in range(0, len(anchors), size)]
    return sum(run_in_order(statistic, blocks, n_threads))


def _screening_weights(table, w, is_squared):
    """Weights of differences in units of the range, the largest 1."""
    if not w.any():
        return np.zeros(w.size, dtype=np.float32)
    # By logarithms: powers of large spans overflow, and weights of 0 are minus infinity here.
    with np.errstate(divide="ignore"):
        log = np.log(w) + (2 if is_squared else 1) * np.log(table.span)
    return np.exp(log - log.max()).astype(np.float32)


@jit_allocating_cached
def _screened_distances(table, anchors, w, is_squared):
    """Distances of each anchor to every sample in single precision, (n_anchors, n)."""
    n = table.screen.shape[1]
    out = np.zeros((anchors.size, n), dtype=np.float32)
    for start in range(0, n, TILE):
        for a in range(anchors.size):
            i, tile = anchors[a], out[a, start : start + TILE]
            for run in range(len(table.runs)):
                f, stop, is_plain = table.runs[run]
                # What is left over of the plain features goes one by one below, as features of
                # other kinds do.
                while is_plain and f + 4 <= stop:
                    _add_four(tile, table.screen, f, i, start, w, is_squared)
                    f += 4
                while f < stop:
                    _add_feature(tile, table, f, i, start, w[f], is_squared)
                    f += 1
    return out


@jit_allocating
def _add_four(tile, screen, f, i, start, w, is_squared):
    """Add four plain features at once: the tile is read and written a quarter as often."""
    stop = start + tile.size
    x0, x1 = screen[f, start:stop], screen[f + 1, start:stop]
    x2, x3 = screen[f + 2, start:stop], screen[f + 3, start:stop]
    o0, o1, o2, o3 = screen[f, i], screen[f + 1, i], screen[f + 2, i], screen[f + 3, i]
    w0, w1, w2, w3 = w[f], w[f + 1], w[f + 2], w[f + 3]
    if is_squared:
        for j in range(tile.size):
            d0, d1, d2, d3 = x0[j] - o0, x1[j] - o1, x2[j] - o2, x3[j] - o3
            tile[j] += (w0 * d0 * d0 + w1 * d1 * d1) + (w2 * d2 * d2 + w3 * d3 * d3)
    else:
        for j in range(tile.size):
            d0, d1 = abs(x0[j] - o0), abs(x1[j] - o1)
            d2, d3 = abs(x2[j] - o2), abs(x3[j] - o3)
            tile[j] += (w0 * d0 + w1 * d1) + (w2 * d2 + w3 * d3)


@jit_allocating
def _add_feature(tile, table, f, i, start, weight, is_squared):
    """Add one feature of any kind to a stretch of distances."""
    x, own = table.screen[f, start : start + tile.size], table.screen[f, i]
    if table.gap[f] != COMPLETE:
        for j in range(tile.size):
            d = np.float32(_difference(table, f, i, start + j) / table.span[f])
            tile[j] += weight * (d * d if is_squared else d)
    elif table.is_categorical[f]:
        for j in range(tile.size):
            tile[j] += weight if x[j] != own else np.float32(0)
    elif table.period[f] < np.inf:
        period = np.float32(table.period[f] / table.span[f])
        for j in range(tile.size):
            d = abs(x[j] - own)
            d = min(d, abs(period - d))
            tile[j] += weight * (d * d if is_squared else d)
    else:
        for j in range(tile.size):
            d = abs(x[j] - own)
            tile[j] += weight * (d * d if is_squared else d)


@jit_allocating
def _difference(table, f, i, j):
    """diff(f, i, j) of ``relief.base``."""
    a, b = table.values[i, f], table.values[j, f]
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
    d = abs(a - b)
    return min(d, table.period[f] - d)


@jit_allocating
def _distance(table, i, j, w, is_squared):
    """Distance of one pair in double precision."""
    total = 0.0
    for run in range(len(table.runs)):
        first, stop, is_plain = table.runs[run]
        if is_plain:
            total += _plain_distance(
                table.values[i, first:stop], table.values[j, first:stop], w[first:stop], is_squared
            )
        else:
            for f in range(first, stop):
                d = _difference(table, f, i, j)
                total += w[f] * (d * d if is_squared else d)
    return total


# Sums may be taken in any order: the compiler then uses vector instructions.
@jit_allocating_reordered
def _plain_distance(a, b, w, is_squared):
    total = 0.0
    if is_squared:
        for f in range(w.size):
            total += w[f] * (a[f] - b[f]) ** 2
    else:
        for f in range(w.size):
            total += w[f] * abs(a[f] - b[f])
    return total


@jit_allocating_cached
def _nearest(table, anchors, w, screened, rule, found):
    """Write the pairs to `found`; their number."""
    n = table.y.size
    anchor, neighbour, weight, distance = found
    candidates, near = np.empty(n, dtype=np.intp), np.empty(n)
    group, size = table.y.copy(), 0
    for a in range(anchors.size):
        i = anchors[a]
        # Group 0 are the hits and group 1 all misses, so that groups change with the anchor.
        if not rule.is_per_class:
            for j in range(n):
                group[j] = table.y[j] != table.y[i]
        k = _group_neighbours(table, i, rule)
        m = _candidates(screened[a], i, group, k, w.size, candidates)
        for c in range(m):
            near[c] = _distance(table, i, candidates[c], w, rule.is_squared)
        group_of = group[candidates[:m]]
        share, tied_share, low, high = _shares(near[:m], group_of, k)
        for c in range(m):
            g = group_of[c]
            if near[c] <= high[g]:
                anchor[size], neighbour[size], distance[size] = i, candidates[c], near[c]
                weight[size] = share[g] if near[c] < low[g] else tied_share[g]
                size += 1
    return size


@jit_allocating
def _group_neighbours(table, i, rule):
    """How many neighbours each group of candidates gives: k, or all that it has."""
    sizes, own = np.diff(table.starts), table.y[i]
    if not rule.is_per_class:
        sizes, own = np.array([sizes[own], table.y.size - sizes[own]]), 0
    sizes[own] -= 1
    return np.minimum(sizes, rule.n_neighbors)


@jit_allocating
def _candidates(screened, i, group, k, n_features, out):
    """Write every sample that may be among the nearest of `i` to `out`; their number."""
    limit = _limits(screened, i, group, k, n_features)
    m = 0
    for j in range(screened.size):
        if screened[j] <= limit[group[j]] and j != i:
            out[m] = j
            m += 1
    return m


@jit_allocating
def _limits(screened, i, group, k, n_features):
    """A distance that k[g] samples of each group do not exceed, by counting them in bins."""
    lowest, highest = screened.min(), screened.max()  # the sample's own 0 does no harm
    width = (highest - lowest) / N_BINS
    per_width = np.float32(1 / width) if width > 0 else np.float32(0)
    counts = np.zeros((k.size, N_BINS + 1), dtype=np.intp)
    for j in range(screened.size):
        counts[group[j], int((screened[j] - lowest) * per_width)] += 1
    # The anchor is not its own neighbour.
    counts[group[i], int((screened[i] - lowest) * per_width)] -= 1
    limit = np.empty(k.size)
    for g in range(k.size):
        bin_, n_within = 0, counts[g, 0]
        while n_within < k[g]:
            bin_ += 1
            n_within += counts[g, bin_]
        limit[g] = lowest + (bin_ + 1) * width
        # A difference is off by a few roundings, a sum by one a feature. Twice: this limit may
        # be too short and a sample's distance too long. The bins are off by less.
        limit[g] += 2 * SINGLE_ROUNDING * n_features * (limit[g] + 8)
    return limit


@jit_allocating
def _shares(near, group, k):
    """Weight of the nearest of each group, of those tied for the last places, and their range."""
    reach = _kth_smallest(near, group, k)
    low, high = reach * (1 - TIE), reach * (1 + TIE)
    n_closer, n_near = np.zeros_like(k), np.zeros_like(k)
    for c in range(near.size):
        n_closer[group[c]] += near[c] < low[group[c]]
        n_near[group[c]] += near[c] <= high[group[c]]
    return 1 / k, (k - n_closer) / (n_near - n_closer) / k, low, high


@jit_allocating
def _kth_smallest(values, group, k):
    """k[g]-th smallest value of each group, from heaps with the largest at the root."""
    heaps, filled = np.empty((k.size, k.max())), np.zeros_like(k)
    for j in range(values.size):
        g = group[j]
        if filled[g] < k[g]:
            heaps[g, filled[g]] = values[j]
            filled[g] += 1
            # Put in order once it is full; until then no value is turned away.
            if filled[g] == k[g]:
                for root in range(k[g] // 2 - 1, -1, -1):
                    _sift_down(heaps[g, : k[g]], root)
        elif values[j] < heaps[g, 0]:
            heaps[g, 0] = values[j]
            _sift_down(heaps[g, : k[g]], 0)
    return heaps[:, 0].copy()


@jit_allocating
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


@jit_allocating_cached
def _difference_sum(table, anchor, neighbour, weight, is_squared):
    total = np.zeros(table.values.shape[1])
    for pair in range(weight.size):
        i, j = anchor[pair], neighbour[pair]
        for run in range(len(table.runs)):
            first, stop, is_plain = table.runs[run]
            if is_plain:
                a, b = table.values[i, first:stop], table.values[j, first:stop]
                _add_plain(total[first:stop], a, b, weight[pair], is_squared)
            else:
                for f in range(first, stop):
                    d = _difference(table, f, i, j)
                    total[f] += weight[pair] * (d * d if is_squared else d)
    return total


@jit_allocating
def _add_plain(total, a, b, weight, is_squared):
    if is_squared:
        for f in range(total.size):
            total[f] += weight * (a[f] - b[f]) ** 2
    else:
        for f in range(total.size):
            total[f] += weight * abs(a[f] - b[f])
