from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from immigrate import (
    L1,
    Columns,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    Screen,
    StabilitySelection,
)
from immigrate.datasets import make_xor
from immigrate.estimators._stability import n_pairs_within


@pytest.fixture(scope="module")
def xor():
    return make_xor(120, 5, random_state=0)


@pytest.fixture(scope="module")
def fitted(xor):
    return StabilitySelection(n_splits=4, random_state=0).fit(*xor)


def test_halves_are_complementary_and_hold_half_of_every_class():
    codes = np.repeat([0, 1, 2], [20, 8, 5])
    halves = StabilitySelection(n_splits=3, random_state=0)._halves(codes)
    assert len(halves) == 6
    for one, other in zip(halves[::2], halves[1::2]):
        assert sorted([*one, *other]) == list(range(33))
        np.testing.assert_array_equal(np.bincount(codes[one]), [10, 4, 2])


@pytest.mark.parametrize("threshold", [0.6, 0.75, 1.0])
@pytest.mark.parametrize("max_false", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("m", [10, 45, 1225])
def test_q_is_the_largest_within_the_bound(threshold, max_false, m):
    def bound(q):
        return q**2 / ((2 * threshold - 1) * m)

    q = n_pairs_within(max_false, threshold, m)
    assert 1 <= q <= m
    assert q == 1 or bound(q) <= max_false + 1e-12
    assert q == m or bound(q + 1) > max_false


def test_every_half_selects_q_pairs(fitted):
    """So that the frequencies sum to q, each pair counted once."""
    assert np.triu(fitted.frequencies_, 1).sum() == pytest.approx(fitted.n_pairs_)
    assert fitted.expected_false_ == pytest.approx(fitted.n_pairs_**2 / (0.5 * 10))
    assert fitted.expected_false_ <= 1
    assert fitted.n_possible_ == len(fitted.table_) == 10


def test_the_table_is_sorted_and_says_which_are_stable(fitted):
    table = fitted.table_
    assert table["frequency"].is_monotonic_decreasing
    np.testing.assert_array_equal(table["is_stable"], table["frequency"] >= 0.75)
    assert len(fitted.selected_) == table["is_stable"].sum()
    names = list(fitted.feature_names_in_)
    a, b = (names.index(table[f"feature_{k}"].iloc[0]) for k in (1, 2))
    assert fitted.frequencies_[a, b] == fitted.frequencies_[b, a] == table["frequency"].iloc[0]


def test_the_pair_that_enters_first_is_the_most_frequent(xor):
    """On a clear table halves agree with the path of the whole table."""
    X, y = xor
    path = ImmigrateClassifierCV(
        ImmigrateClassifier(constraint="nonnegative"), penalties="path", rules=("energy",)
    ).fit(X, y)
    first = next(W for W in path.weights_by_strength_ if np.triu(W, 1).any())
    a, b = np.unravel_index(np.triu(first, 1).argmax(), first.shape)
    frequency = StabilitySelection(n_splits=10, random_state=1).fit(X, y).frequencies_
    assert frequency[a, b] >= np.median(frequency[np.triu_indices(5, 1)])


def test_the_same_seed_and_any_number_of_processes_give_the_same(xor, fitted):
    again = clone(fitted).set_params(n_jobs=2).fit(*xor)
    np.testing.assert_array_equal(again.frequencies_, fitted.frequencies_)


def test_a_screen_and_nominal_columns_keep_their_names(xor):
    X, y = xor
    X = X.assign(color=pd.Categorical(np.where(X.iloc[:, 0] > 0, "red", "blue")))
    base = ImmigrateClassifier(
        constraint="nonnegative",
        penalty=L1(),
        columns=Columns(nominal="levels"),
        screen=Screen("im4e", max_features=4),
    )
    found = StabilitySelection(base, n_splits=3, random_state=0).fit(X, y)
    assert found.frequencies_.shape == (6, 6)
    assert set(found.table_["feature_1"]) <= set(X.columns)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"threshold": 0.5}, "threshold must be above 0.5"),
        ({"threshold": 1.1}, "threshold must be above 0.5"),
        ({"max_false": 0}, "max_false must be a number above 0"),
        ({"n_splits": 0}, "n_splits must be a whole number"),
        ({"estimator": ImmigrateClassifierCV()}, "must be an ImmigrateClassifier"),
        (
            {"estimator": ImmigrateClassifier(constraint="clip", solver="paper")},
            "needs a projection",
        ),
    ],
)
def test_bad_parameters_are_refused(parameters, message, xor):
    with pytest.raises(ValueError, match=message):
        StabilitySelection(**parameters).fit(*xor)


def test_a_rare_class_and_a_single_feature_are_refused(xor):
    X, y = xor
    with pytest.raises(ValueError, match=r"Class 2 has n_samples = 3.* at least 4 samples"):
        StabilitySelection().fit(X[:20], np.r_[[2, 2, 2], y[3:20]])
    with pytest.raises(ValueError, match="n_features = 1"):
        StabilitySelection().fit(X.iloc[:, :1], y)


@pytest.mark.slow
def test_on_noise_stable_pairs_stay_below_the_bound():
    counts = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((80, 8)), rng.permutation(np.arange(80) % 2)
        found = StabilitySelection(threshold=0.6, max_false=2.0, n_splits=10, random_state=seed)
        counts.append(len(found.fit(X, y).selected_))
    assert np.mean(counts) <= found.expected_false_
