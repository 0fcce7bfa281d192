"""Cross-validation folds that depend on the data alone.

The samples of each class are laid on a line, each as long as its weight, in an order given
by a hash of their values; unit intervals go to the folds in turn. So the folds do not depend
on the order of samples or features, and a sample of weight two is split exactly as two
samples would be. Weights that are not whole numbers are no counts; then each sample stays in
one fold, lest its labels be predicted from itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array, Codes

Keys = NDArray[np.uint64]

N_FOLDS = 5


def _mixed(x: Keys) -> Keys:
    """The splitmix64 hash of unsigned integers."""
    x = (x + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def row_keys(codes: Codes, y: Codes, weight: Array, is_nominal: Sequence[bool]) -> Keys:
    """A hash of each row of level codes (n, p).

    It ignores the order of features and classes and the names of nominal levels: levels and
    columns are told apart by how much weight of each class they have.
    """
    keys = np.zeros(len(codes), dtype=np.uint64)
    for code, ignores_order in zip(codes.T, is_nominal):
        per_level = _level_keys(code, y, weight)
        if not ignores_order:
            order: Keys = np.arange(len(per_level), dtype=np.uint64)
            per_level = _mixed(per_level + order)
        # Keys of features are added up, so that their order does not matter. The second part makes
        # the key depend on all levels of the column, and not on those of this row alone.
        keys += _mixed(per_level[code + 1] ^ _mixed(per_level).sum(dtype=np.uint64))
    return keys


def _level_keys(code: Codes, y: Codes, weight: Array) -> Keys:
    """A hash of the weight of each class on each level, missing first, in any order of classes."""
    level, n_classes = code + 1, int(y.max()) + 1
    table = np.bincount(level * n_classes + y, weight, (level.max() + 1) * n_classes)
    # Rounded, so that the order in which weights were added up does not show.
    counts = np.round(table.reshape(-1, n_classes) * 2**20).astype(np.uint64)
    return _mixed(_mixed(counts).sum(axis=1, dtype=np.uint64))


def row_order(codes: Codes, y: Codes, weight: Array, is_nominal: Sequence[bool]) -> Codes:
    """Samples class by class, shuffled by what is in them."""
    keys = row_keys(codes, y, weight, is_nominal)
    # Equal rows, or different rows that happen to have one key: then their codes decide.
    if len(np.unique(keys)) < len(keys):
        return np.lexsort((*codes.T, keys, y))
    return np.lexsort((keys, y))


def fold_weights(
    codes: Codes, y: Codes, weight: Array, is_nominal: Sequence[bool] | None = None
) -> Array:
    """How much of each sample's weight is in each fold: (n, 5), rows sum to `weight`."""
    if is_nominal is None:
        is_nominal = [False] * codes.shape[1]
    order = row_order(codes, y, weight, is_nominal)
    # Weights that sum to less than the number of samples would all fall on one interval.
    lengths = weight[order] / min(1.0, weight.mean())
    # Each class starts with the first fold, so that the names of the classes do not matter.
    end = np.concatenate([np.cumsum(part) for part in _per_class(lengths, y[order])])
    if np.all(weight == np.round(weight)):
        share = _measure_per_fold(end) - _measure_per_fold(end - lengths)
    else:
        middle = np.floor(end - lengths / 2).astype(int)
        share = lengths[:, None] * np.eye(N_FOLDS)[middle % N_FOLDS]
    in_fold = np.empty((len(y), N_FOLDS))
    in_fold[order] = share * (weight[order] / lengths)[:, None]
    return in_fold


def _per_class(values: Array, sorted_y: Codes) -> list[Array]:
    return np.split(values, np.flatnonzero(np.diff(sorted_y)) + 1)


def _measure_per_fold(position: Array) -> Array:
    """Length of the line left of each position that belongs to each fold."""
    # Fold f owns the unit intervals that begin at f, f + 5, f + 10, ...
    rounds = np.floor(position / N_FOLDS)
    rest = position - N_FOLDS * rounds
    return rounds[:, None] + np.clip(rest[:, None] - np.arange(N_FOLDS), 0.0, 1.0)
