"""The Relief family written straight from its definitions: loops, no cleverness.

Samples equally far share the places that are left, the one convention that is this library's.
"""

from __future__ import annotations

import numpy as np

KINDS = ["continuous", "integers", "discrete", "mixed"]


def table(seed, *, n=24, p=5, n_classes=2, kind="continuous", missing=0.0):
    """Random labelled table; of a mixed one the even columns are categories with ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, p)) + (y - y.mean())[:, None] * np.linspace(1, 0, p)
    is_categorical = np.zeros(p, dtype=bool)
    if kind == "integers":
        X = np.round(X)
    elif kind != "continuous":
        is_categorical = np.ones(p, dtype=bool) if kind == "discrete" else np.arange(p) % 2 == 0
        X[:, is_categorical] = np.digitize(X[:, is_categorical], [-0.7, 0.7])
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X, y, is_categorical


def cases(kind, n_classes, seed=0, **options):
    """A table with weights, and the differences of all its pairs."""
    X, y, is_categorical = table(seed, kind=kind, n_classes=n_classes, **options)
    weight = np.random.default_rng(seed).uniform(0.1, 2, len(y))
    return X, y, is_categorical, weight, all_differences(X, y, is_categorical)


def difference(X, y, is_categorical, f, i, j):
    """diff(f, i, j) of Kononenko: expected over the class where a value is missing."""
    known = X[~np.isnan(X[:, f]), f]
    spread = known.max() - known.min()

    def plain(a, b):
        return float(a != b) if is_categorical[f] else abs(a - b) / spread

    def possible(k):
        if not np.isnan(X[k, f]):
            return [X[k, f]]
        own_class = X[(y == y[k]) & ~np.isnan(X[:, f]), f]
        return list(own_class if own_class.size else known)

    return np.mean([plain(a, b) for a in possible(i) for b in possible(j)])


def all_differences(X, y, is_categorical):
    n, p = X.shape
    return np.array(
        [
            [[difference(X, y, is_categorical, f, i, j) for f in range(p)] for j in range(n)]
            for i in range(n)
        ]
    )


def shared_nearest(distance, candidates, k):
    """{j: weight} of the k nearest candidates, or all if they are fewer; weights sum to 1."""
    k = min(k, len(candidates))
    ranked = sorted(candidates, key=lambda j: distance[j])
    last = distance[ranked[k - 1]]
    tied = [j for j in candidates if np.isclose(distance[j], last, rtol=1e-10, atol=0)]
    closer = [j for j in ranked[:k] if j not in tied]
    weight = dict.fromkeys(closer, 1 / k)
    weight.update(dict.fromkeys(tied, (k - len(closer)) / len(tied) / k))
    return weight


def hits(y, i):
    return [j for j in range(len(y)) if j != i and y[j] == y[i]]


def misses(y, i):
    return [j for j in range(len(y)) if y[j] != y[i]]


def relief(d, y, sample_weight, metric="euclidean"):
    """Algorithm 1 over all anchors: w -= diff(NH)^2 / M, w += diff(NM)^2 / M."""
    w = np.zeros(d.shape[2])
    for i, weight in enumerate(sample_weight / sample_weight.sum()):
        distance = (d[i] ** 2 if metric == "euclidean" else d[i]).sum(axis=1)
        for j, share in shared_nearest(distance, hits(y, i), 1).items():
            w -= weight * share * d[i, j] ** 2
        for j, share in shared_nearest(distance, misses(y, i), 1).items():
            w += weight * share * d[i, j] ** 2
    return w


def relieff(d, y, sample_weight, k, metric="manhattan"):
    """W[A] -= diff(H) / (m k); W[A] += P(C) / (1 - P(class)) diff(M(C)) / (m k)."""
    w = np.zeros(d.shape[2])
    prior = np.bincount(y) / len(y)
    for i, weight in enumerate(sample_weight / sample_weight.sum()):
        distance = (d[i] ** 2 if metric == "euclidean" else d[i]).sum(axis=1)
        for j, share in shared_nearest(distance, hits(y, i), k).items():
            w -= weight * share * d[i, j]
        for c in set(y) - {y[i]}:
            members = [j for j in range(len(y)) if y[j] == c]
            for j, share in shared_nearest(distance, members, k).items():
                w += weight * prior[c] / (1 - prior[y[i]]) * share * d[i, j]
    return w


def simba_margin(d, y, w, i):
    """(|x - nearmiss(x)|_w - |x - nearhit(x)|_w) / 2 with |z|_w = sqrt(sum w^2 z^2)."""
    length = np.sqrt((d[i] ** 2) @ w**2)
    return (min(length[j] for j in misses(y, i)) - min(length[j] for j in hits(y, i))) / 2


def simba_step(d, y, w, i):
    """Delta of Simba's Figure 1, for one sample."""
    length = np.sqrt((d[i] ** 2) @ w**2)
    delta = np.zeros_like(w)
    for sign, candidates in ((1, misses(y, i)), (-1, hits(y, i))):
        for j, share in shared_nearest(length, candidates, 1).items():
            if length[j] > 0:
                delta += sign * share * d[i, j] ** 2 / length[j] * w / 2
    return delta


def irelief_step(d, y, w, sigma, sample_weight):
    """Weights of the next iteration: the positive part of sum gamma (m - h), of norm 1."""
    nu = np.zeros_like(w)
    for i, weight in enumerate(sample_weight):
        f = np.exp(-(d[i] @ w) / sigma)
        hit, miss = hits(y, i), misses(y, i)
        m = f[miss] @ d[i, miss] / f[miss].sum()
        h = f[hit] @ d[i, hit] / f[hit].sum()
        gamma = 1 - f[miss].sum() / (f[miss].sum() + f[hit].sum())
        nu += weight * gamma * (m - h)
    positive = np.maximum(nu, 0)
    return positive / np.linalg.norm(positive)


def lfe_matrix(X, y, sample_weight):
    """Positive spectral part of sum (m m' - h h'), of Frobenius norm 1."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for i, weight in enumerate(sample_weight):
        distance = ((X - X[i]) ** 2).sum(axis=1)
        for sign, candidates in ((1, misses(y, i)), (-1, hits(y, i))):
            for j, share in shared_nearest(distance, candidates, 1).items():
                total += weight * sign * share * np.outer(X[j] - X[i], X[j] - X[i])
    values, vectors = np.linalg.eigh(total)
    W = sum(value * np.outer(v, v) for value, v in zip(values, vectors.T) if value > 0)
    return W / np.linalg.norm(W)
