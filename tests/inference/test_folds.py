from __future__ import annotations

import numpy as np

from immigrate.inference.folds import N_FOLDS, fold_weights

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 40, (60, 3))
Y = RNG.integers(0, 2, 60)


def test_folds_share_out_the_weight():
    weight = RNG.integers(1, 5, 60).astype(float)
    np.testing.assert_allclose(fold_weights(CODES, Y, weight).sum(axis=1), weight)
    sizes = fold_weights(CODES, Y, weight).sum(axis=0)
    assert np.ptp(sizes) <= 1


def test_classes_are_spread_evenly():
    in_fold = fold_weights(CODES, Y, np.ones(60))
    for c in (0, 1):
        assert np.ptp(in_fold[c == Y].sum(axis=0)) <= 1


def test_order_of_samples_and_features_does_not_matter():
    rows, columns = RNG.permutation(60), [2, 0, 1]
    base = fold_weights(CODES, Y, np.ones(60))
    moved = fold_weights(CODES[rows][:, columns], Y[rows], np.ones(60))
    np.testing.assert_array_equal(moved, base[rows])


def test_weights_are_repetitions():
    weight = RNG.integers(1, 4, 60)
    base = fold_weights(CODES, Y, weight.astype(float))
    repeated = fold_weights(
        np.repeat(CODES, weight, 0), np.repeat(Y, weight), np.ones(weight.sum())
    )
    start = np.cumsum(weight) - weight
    np.testing.assert_allclose(np.add.reduceat(repeated, start), base)


def test_weights_that_are_no_counts_do_not_split_samples():
    weight = RNG.uniform(0.1, 2, 60)
    in_fold = fold_weights(CODES, Y, weight)
    assert np.all((in_fold > 0).sum(axis=1) == 1)
    assert in_fold.shape == (60, N_FOLDS)
