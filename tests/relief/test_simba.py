"""Differences from the means of classes, by loops over samples, classes and features."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.relief.simba import class_mean_differences

NAN = np.nan


def differences_by_loops(X, is_categorical, y):
    """Straight from the rules: own value left out, gaps filled by the known of the class."""
    n, p = X.shape
    found = np.full((n, int(y.max()) + 1, p), NAN)
    for f in range(p):
        x = X[:, f]
        known = [i for i in range(n) if not np.isnan(x[i])]
        if not known:
            found[:, :, f] = 0.0
            continue
        for i in known:
            for c in range(found.shape[1]):
                behind = [j for j in known if y[j] == c] or known
                # Who is all that is known of a class is as far from it as from its own value.
                others = [x[j] for j in behind if j != i] or [x[i]]
                if is_categorical[f]:
                    found[i, c, f] = np.mean([value != x[i] for value in others])
                else:
                    found[i, c, f] = abs(x[i] - np.mean(others))
        for i in set(range(n)) - set(known):
            alike = [j for j in known if y[j] == y[i]] or known
            found[i, :, f] = found[alike, :, f].mean(axis=0)
    return found


def check(X, is_categorical, y):
    X, is_categorical, y = np.array(X, dtype=float), np.array(is_categorical), np.array(y)
    before = X.copy()
    found = class_mean_differences(X, is_categorical, y)
    expected = differences_by_loops(X, is_categorical, y)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("share_missing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("seed", range(6))
def test_differences_are_those_of_loops(seed, share_missing):
    """Numbers far from 0 and levels, classes of different sizes, with and without gaps."""
    rng = np.random.default_rng(seed)
    n, is_categorical = 17, np.array([False, True, False, True])
    X = np.where(is_categorical, rng.integers(1, 4, (n, 4)), rng.normal(5.0, 2.0, (n, 4)))
    y = np.r_[0, 0, 1, 1, 2, 2, rng.choice(3, n - 6, p=[0.6, 0.3, 0.1])]
    check(np.where(rng.random((n, 4)) < share_missing, NAN, X), is_categorical, y)


@pytest.mark.parametrize("is_categorical", [False, True])
@pytest.mark.parametrize(
    "column",
    [
        [1.0, 2.0, 2.0, 5.0, 1.0],
        [1.0, NAN, 2.0, 5.0, 5.0],  # one known value in a class
        [NAN, NAN, 2.0, 5.0, 5.0],  # none in a class
        [NAN, NAN, 2.0, NAN, NAN],  # one at all
        [NAN, NAN, NAN, NAN, NAN],  # nothing is known
        [3.0, 3.0, 3.0, 3.0, 3.0],
    ],
)
def test_few_known_values_follow_the_rules(column, is_categorical):
    check(np.array(column)[:, None], [is_categorical], [0, 0, 1, 1, 1])


def test_a_class_of_one_is_no_distance_from_itself():
    found = class_mean_differences(
        np.array([[4.0, 1.0], [1.0, 2.0], [3.0, 2.0]]),
        np.array([False, True]),
        np.array([0, 1, 1]),
    )
    np.testing.assert_array_equal(found[0], [[0.0, 0.0], [2.0, 1.0]])


def test_huge_numbers_do_not_overflow():
    X = np.array([[1.0], [1.0], [-0.5], [0.5]]) * 1e308
    found = class_mean_differences(X, np.array([False]), np.array([0, 0, 1, 1]))[:, :, 0]
    np.testing.assert_allclose(found / 1e308, [[0, 1], [0, 1], [1.5, 1], [0.5, 1]], atol=1e-15)
