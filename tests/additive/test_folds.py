from __future__ import annotations

import numpy as np

from immigrate.additive.ridge import N_FOLDS, fold_weights, row_order

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


def test_weights_that_are_no_counts_go_where_their_middle_lies():
    """Samples of a class in their order on a line; unit intervals go to the folds in turn."""
    for scale in (0.01, 1.0, 3.0):
        weight = scale * np.random.default_rng(1).uniform(0.1, 2, 60)
        order = row_order(CODES, Y, weight, [False] * 3)
        lengths = weight / min(1.0, weight.mean())
        in_fold = fold_weights(CODES, Y, weight)
        for c in (0, 1):
            position = 0.0
            for i in order[Y[order] == c]:
                fold = int(position + lengths[i] / 2) % N_FOLDS
                np.testing.assert_allclose(in_fold[i], weight[i] * (np.arange(N_FOLDS) == fold))
                position += lengths[i]


def test_counts_are_cut_where_intervals_end():
    """By brute force: each unit of weight goes to the fold of its place on the line."""
    weight = np.random.default_rng(2).integers(1, 9, 60).astype(float)
    order, in_fold = row_order(CODES, Y, weight, [False] * 3), fold_weights(CODES, Y, weight)
    for c in (0, 1):
        position = 0
        for i in order[Y[order] == c]:
            places = np.arange(position, position + int(weight[i])) % N_FOLDS
            np.testing.assert_allclose(in_fold[i], np.bincount(places, minlength=N_FOLDS))
            position += int(weight[i])
