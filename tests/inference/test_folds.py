from __future__ import annotations

import numpy as np

from immigrate.inference.folds import N_FOLDS, fold_weights

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 40, (60, 3))
Y = RNG.integers(0, 2, 60)


def test_folds_share_out_the_weight():
    weight = RNG.integers(1, 5, 60).astype(float)
    np.testing.assert_allclose(fold_weights(CODES, Y, weight).sum(axis=1), weight)
    for c in (0, 1):
        assert np.ptp(fold_weights(CODES, Y, weight)[c == Y].sum(axis=0)) <= 1


def test_classes_are_spread_evenly():
    in_fold = fold_weights(CODES, Y, np.ones(60))
    for c in (0, 1):
        assert np.ptp(in_fold[c == Y].sum(axis=0)) <= 1


def test_names_of_the_classes_do_not_matter():
    codes, y = RNG.integers(0, 40, (203, 3)), RNG.integers(0, 3, 203)
    base = fold_weights(codes, y, np.ones(203))
    for names in ([1, 0, 2], [2, 1, 0], [1, 2, 0]):
        renamed = fold_weights(codes, np.array(names)[y], np.ones(203))
        np.testing.assert_array_equal(renamed, base)


def test_order_of_columns_with_the_same_levels_does_not_matter():
    """Genotypes: rows (0, 1) and (1, 0) are not the same, and stay where they were."""
    codes, y = RNG.integers(0, 3, (120, 6)), RNG.integers(0, 2, 120)
    base = fold_weights(codes, y, np.ones(120))
    for seed in range(5):
        columns = np.random.default_rng(seed).permutation(6)
        np.testing.assert_array_equal(fold_weights(codes[:, columns], y, np.ones(120)), base)


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
