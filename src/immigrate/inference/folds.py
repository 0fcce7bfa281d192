"""Cross-validation folds that depend on the data alone.

The samples of each class are laid on a line, each as long as its weight, in an order given
by a hash of their values; unit intervals go to the folds in turn. So the folds do not depend
on the order of samples or features, and a sample of weight two is split exactly as two
samples would be. Weights that are not whole numbers are no counts; then each sample stays in
one fold, lest its labels be predicted from itself.
"""

from __future__ import annotations

import numpy as np

from immigrate.core.distances import Array

N_FOLDS = 5


def _mixed(x: np.ndarray) -> np.ndarray:
    """The splitmix64 hash of unsigned integers."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_keys(codes: np.ndarray) -> np.ndarray:
    """A hash of each row of level codes (n, p) that ignores the order of the features."""
    n_levels = codes.max(axis=0, initial=0) + 2
    keys = np.zeros(len(codes), dtype=np.uint64)
    for code, count in zip(codes.T, n_levels):
        keys += _mixed((code + 1 + (count << 32)).astype(np.uint64))
    return keys


def fold_weights(codes: np.ndarray, y: np.ndarray, weight: Array) -> Array:
    """How much of each sample's weight is in each fold: (n, 5), rows sum to `weight`."""
    keys = row_keys(codes)
    order = np.lexsort((keys, y))
    if len(np.unique(keys)) < len(keys):
        order = np.lexsort((*codes.T, keys, y))
    # Weights that sum to less than the number of samples would all fall on one interval.
    lengths = weight[order] / min(1.0, weight.mean())
    end = np.cumsum(lengths)
    if np.all(weight == np.round(weight)):
        share = _measure_per_fold(end) - _measure_per_fold(end - lengths)
    else:
        middle = np.floor(end - lengths / 2).astype(int)
        share = lengths[:, None] * np.eye(N_FOLDS)[middle % N_FOLDS]
    in_fold = np.empty((len(y), N_FOLDS))
    in_fold[order] = share * (weight[order] / lengths)[:, None]
    return in_fold


def _measure_per_fold(position: Array) -> Array:
    """Length of the line left of each position that belongs to each fold."""
    rounds = np.floor(position / N_FOLDS)
    rest = position - N_FOLDS * rounds
    return rounds[:, None] + np.clip(rest[:, None] - np.arange(N_FOLDS), 0.0, 1.0)
