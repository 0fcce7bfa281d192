"""The selector where the label is a number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from immigrate import ImmigrateClassifier, ImmigrateRegressor, ImmigrateSelector, InteractionTest


@pytest.fixture(scope="module")
def table():
    """A product of two of five columns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    return X, X["b"] * X["d"] + 0.3 * rng.normal(size=200)


def test_weights_of_the_regressor_choose_features_and_pairs(table):
    selector = ImmigrateSelector(n_features_to_select=2, pairs=True, n_pairs=1).fit(*table)
    assert isinstance(selector.estimator_, ImmigrateRegressor)
    assert selector.get_feature_names_out().tolist() == ["b", "d", "b × d"]
    assert not hasattr(selector, "classes_")


def test_the_test_of_numbers_chooses_pairs(table):
    X, y = table
    selector = ImmigrateSelector(n_features_to_select=1, pairs=True, test=True).fit(X, y)
    assert selector.pairs_.tolist() == [[1, 3]]
    direct = InteractionTest().fit(X, y)
    pd.testing.assert_frame_equal(selector.test_.table_, direct.table_)
    model = make_pipeline(ImmigrateSelector(pairs=True, test=True), LinearRegression())
    assert model.fit(X, y).score(X, y) > 0.8 > LinearRegression().fit(X, y).score(X, y)


def test_auto_goes_by_the_estimator_then_by_the_values(table):
    X, y = table
    few = np.digitize(y, [-1, 0, 1])
    assert hasattr(ImmigrateSelector().fit(X, few), "classes_")
    forest = RandomForestRegressor(10, random_state=0)
    for selector in (
        ImmigrateSelector(outcome="number"),
        ImmigrateSelector(ImmigrateRegressor()),
        ImmigrateSelector(forest),
    ):
        assert not hasattr(selector.fit(X, few), "classes_")
    with pytest.raises(ValueError, match="continuous"):
        ImmigrateSelector(ImmigrateClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="outcome"):
        ImmigrateSelector(outcome="numbers").fit(X, y)


def test_weights_of_samples_reach_the_regressor(table):
    X, y = table
    weight = np.where(np.arange(200) < 100, 1.0, 0.0)
    one, other = (ImmigrateSelector().fit(X, y, w).feature_importances_ for w in (None, weight))
    assert np.abs(one - other).max() > 1e-3
