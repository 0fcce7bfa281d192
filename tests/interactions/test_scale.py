from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from immigrate import InteractionTest
from immigrate.additive.design import table_design
from immigrate.additive.null_model import null_model
from immigrate.interactions import scale
from immigrate.interactions.scale import scale_of
from immigrate.table import read_training_table


def effects(n, seed):
    """Two features that act, two that do not, and the sum of the effects."""
    X = pd.DataFrame(np.random.default_rng(seed).normal(size=(n, 4)), columns=list("abcd"))
    return X, (X["a"] + X["b"]).to_numpy()


def noise(n, seed):
    return np.random.default_rng(seed + 1000).normal(size=n)


def scale_for(X, y):
    table = read_training_table(
        InteractionTest(),
        X,
        y,
        categorical_features=None,
        circular_features=None,
        least_per_class=1,
        outcome="number",
    ).counted()
    return scale_of(null_model(table_design(table)), np.asarray(y, dtype=float))[0]


def fitted(X, y, **parameters):
    return InteractionTest(outcome="number", **parameters).fit(X, y)


@pytest.fixture(scope="module")
def products():
    """What the features contribute is multiplied."""
    X, effect = effects(300, seed=0)
    return X, pd.Series(np.exp(effect + 0.3 * noise(300, seed=0)), name="price")


@pytest.mark.parametrize("n", [48, 300])
@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (lambda effect, e: 5.5 + effect + e, "identity"),
        (lambda effect, e: np.exp(effect + 0.3 * e), "log"),
    ],
)
def test_the_scale_is_that_on_which_effects_are_added(n, number, expected):
    chosen = []
    for seed in range(20):
        X, effect = effects(n, seed)
        y = number(effect, noise(n, seed))
        if y.min() > 0:
            chosen.append(scale_for(X, y))
    assert len(chosen) >= 10
    assert chosen.count(expected) >= 0.95 * len(chosen)


def test_squares_of_sums_are_added_as_roots():
    X, effect = effects(300, seed=1)
    assert scale_for(X, (5 + effect + 0.7 * noise(300, seed=1)) ** 2) == "root"


@pytest.mark.parametrize("unit", [1e-6, 0.01, 1e9])
def test_the_unit_of_the_number_does_not_matter(unit, products):
    X, price = products
    X_sum, effect = effects(300, seed=2)
    assert scale_for(X, unit * price) == "log"
    assert scale_for(X_sum, unit * (8 + effect + noise(300, seed=2))) == "identity"


def test_two_wild_numbers_do_not_choose_the_scale():
    X, effect = effects(300, seed=3)
    y = 8 + effect + 0.7 * noise(300, seed=3)
    y[:2] += 8
    assert scale_for(X, y) == "identity"


def test_a_sample_of_weight_two_counts_as_two(products):
    X, price = products
    X, price = X[:60], price[:60]
    weight = np.where(np.arange(60) < 30, 2, 1)
    twice = np.repeat(np.arange(60), weight)
    weighted = InteractionTest(outcome="number", stepwise=False)
    repeated = fitted(X.iloc[twice], price.iloc[twice], stepwise=False)
    assert weighted.fit(X, price, sample_weight=weight).notes_ == repeated.notes_ != []


@pytest.mark.parametrize(
    "number",
    [
        lambda price: price - 1,
        lambda price: price - price.min(),
        lambda price: 10 + price / price.max(),
    ],
)
def test_nothing_is_fitted_where_scales_have_no_meaning_or_hardly_differ(
    number, products, monkeypatch
):
    X, price = products
    monkeypatch.setattr(scale, "fitted_on", None)
    test = fitted(X, number(price))
    assert test.notes_ == []
    assert set(test.selected_["gone_on"]) <= {""}


def test_each_other_scale_costs_one_fit(products, monkeypatch):
    X, price = products
    calls, fit = [], scale.fitted_on
    monkeypatch.setattr(scale, "fitted_on", lambda *given: calls.append(given) or fit(*given))
    fitted(X, price)
    assert len(calls) == 2


def test_classes_have_no_scale(monkeypatch):
    X, effect = effects(100, seed=4)
    monkeypatch.setattr("immigrate.estimators.interaction_test.with_scale", None)
    assert "gone_on" not in InteractionTest().fit(X, (effect > 0).astype(int)).selected_


def test_a_pair_of_the_scale_given_that_is_gone_on_the_log_scale_is_marked(products):
    test = fitted(*products)
    found = test.selected_
    assert found[["feature_1", "feature_2", "gone_on"]].values.tolist() == [["a", "b", "log"]]
    assert "gone_on" not in test.table_
    (note,) = test.notes_
    assert note.startswith("On the log scale of price the features add up more evenly")
    (line,) = (line for line in test.summary().splitlines() if "a × b" in line)
    assert line.endswith("; gone on the log scale")


def test_a_pair_that_is_there_on_both_scales_is_not_marked():
    X, effect = effects(300, seed=5)
    y = np.exp(effect + X["c"] * X["d"] + 0.3 * noise(300, seed=5))
    marks = {
        (row.feature_1, row.feature_2): row.gone_on for row in fitted(X, y).selected_.itertuples()
    }
    assert marks["c", "d"] == ""


@pytest.mark.parametrize(
    "parameters",
    [{"adjust": "westfall-young"}, {"adjust": None}, {"split": 0.5}, {"stepwise": False}],
)
def test_marks_are_made_with_every_way_to_test(parameters, products):
    test = fitted(*products, **parameters)
    assert test.selected_["gone_on"].tolist()[0] == "log"
