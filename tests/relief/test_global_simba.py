"""Margins to the means of classes, blended with those to the nearest neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate import Simba
from immigrate.datasets import make_xor
from immigrate.relief.base import mixed_table
from immigrate.relief.simba import Margin, class_mean_differences


def mixed_case(n=36, n_classes=3, gaps=0.0):
    rng = np.random.default_rng(4)
    X = rng.uniform(size=(n, 4))
    X[:, 2] = rng.integers(0, 3, n)
    y = np.arange(n) % n_classes
    X[:, 0] += 0.3 * y
    X[rng.uniform(size=X.shape) < gaps] = np.nan
    return X, y, np.arange(4) == 2


def loop_difference(x, is_categorical, y, n, c):
    """Difference of sample n from the mean of class c, one sample after the other."""

    def apart(value, leave_out):
        others = [x[j] for j in range(len(x)) if y[j] == c and j != leave_out]
        others = [v for v in others if not np.isnan(v)]
        if not others:  # the class is the sample alone
            others = [value]
        return (
            np.mean([v != value for v in others])
            if is_categorical
            else abs(value - np.mean(others))
        )

    if not np.isnan(x[n]):
        return apart(x[n], n)
    known = [j for j in range(len(x)) if y[j] == y[n] and not np.isnan(x[j])]
    return np.mean([apart(x[j], j) for j in known])


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_differences_are_those_of_loops(gaps):
    X, y, is_categorical = mixed_case(gaps=gaps)
    found = class_mean_differences(X, is_categorical, y)
    for n, c, f in np.ndindex(found.shape):
        expected = loop_difference(X[:, f], is_categorical[f], y, n, c)
        assert found[n, c, f] == pytest.approx(expected, abs=1e-12)


def test_a_feature_of_which_nothing_is_known_makes_no_difference():
    X, y, is_categorical = mixed_case()
    X[:, 1] = np.nan
    X[y == 0, 0] = np.nan
    found = class_mean_differences(X, is_categorical, y)
    assert np.isfinite(found).all()
    assert not found[:, :, 1].any()


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_steps_are_along_the_gradient_of_the_margin(share, gaps):
    X, y, is_categorical = mixed_case(gaps=gaps)
    n = len(y)
    w, step = np.random.default_rng(1).uniform(0.5, 1, 4), 1e-6
    table = mixed_table(X, y, is_categorical)
    for i in range(n):
        alone = Margin(table, np.eye(n)[i], global_share=share)
        numeric = [
            (alone.value(w + e) - alone.value(w - e)) / (2 * step) for e in step * np.eye(4)
        ]
        np.testing.assert_allclose(alone.gradient(w, i) / n, numeric, atol=1e-7)


def test_the_margin_is_the_blend_of_both():
    X, y, is_categorical = mixed_case()
    table, D = mixed_table(X, y, is_categorical), np.full(len(y), 1 / len(y))
    w = np.linspace(0.3, 1, 4)
    local, half, means = (Margin(table, D, global_share=s).value(w) for s in (0.0, 0.5, 1.0))
    assert half == pytest.approx((local + means) / 2)
    difference = class_mean_differences(table.values, is_categorical, y)
    length = np.sqrt((difference**2) @ w**2)
    own = length[np.arange(len(y)), y]
    other = np.where(np.eye(3, dtype=bool)[y], np.inf, length).min(axis=1)
    assert means == pytest.approx(np.mean(other - own) / 2)


def test_a_share_of_0_is_simba_to_the_bit():
    X, y = make_xor(n_samples=120, n_features=5, random_state=0)
    plain = Simba(random_state=0).fit(X, y)
    none = Simba(global_share=0, random_state=0).fit(X, y)
    np.testing.assert_array_equal(plain.feature_importances_, none.feature_importances_)
    assert plain.margin_ == none.margin_


def test_means_of_classes_withstand_wrong_labels():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 20))
    X[:, :3] += y[:, None]
    wrong = y ^ (rng.uniform(size=200) < 0.2)

    def n_found(share):
        model = Simba(3, global_share=share, n_starts=2, random_state=0).fit(X, wrong)
        return model.get_support()[:3].sum()

    assert n_found(1.0) == 3
    assert n_found(0.0) < 3
