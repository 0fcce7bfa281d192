"""Numbers as outcome: predictions by their definition, and what must not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import immigrate
from immigrate import ImmigrateRegressor
from immigrate.margin import numbers as road
from immigrate.options import Columns, Descent, Screen


def joint_table(seed=0, n=120):
    """A product, a sum of levels, text, a gap, a circle; and a column of noise."""
    rng = np.random.default_rng(seed)
    a, b, noise = rng.normal(size=(3, n))
    hour = rng.uniform(0, 24, n).round(1)
    site = rng.choice(["north", "south", "west"], n)
    y = a * b + (site == "south") + np.cos(hour * np.pi / 12) + 0.1 * rng.normal(size=n)
    X = pd.DataFrame({"a": a, "b": b, "site": site, "hour": hour, "noise": noise})
    X.loc[3, "b"] = np.nan
    return X, 10 + 3 * y


@pytest.fixture(scope="module")
def table():
    return joint_table()


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[:150], y[:150]


@pytest.fixture(scope="module")
def fitted(diabetes):
    return ImmigrateRegressor().fit(*diabetes)


def soft_mean(model, X, X_new, y, left_out=None):
    """The prediction by its definition: numbers in units of their deviation, one row at a time."""
    X, X_new = X / np.std(X, axis=0), X_new / np.std(X, axis=0)
    found = []
    for x in X_new:
        d = np.abs(X - x)
        q = np.array([row @ model.weight_matrix_ @ row for row in d])
        if left_out is not None:
            q[left_out] = np.inf
        weight = np.exp(-(q - q.min()) / model.sigma_)
        found.append(weight @ y / weight.sum())
    return np.array(found)


def test_predictions_are_means_of_soft_neighbours(diabetes, fitted):
    X, y = (np.asarray(part, dtype=float) for part in diabetes)
    np.testing.assert_allclose(fitted.predict(diabetes[0]), soft_mean(fitted, X, X, y), rtol=1e-9)
    left_out = [soft_mean(fitted, X, X[[i]], y, left_out=i)[0] for i in range(5)]
    np.testing.assert_allclose(fitted.leave_one_out_predict()[:5], left_out, rtol=1e-9)


def test_sigma_has_the_smallest_leave_one_out_error(diabetes):
    X, y = diabetes

    def error(model):
        return np.mean((model.leave_one_out_predict() - y) ** 2)

    chosen = ImmigrateRegressor(solver=Descent(tol=1e-6)).fit(X, y)
    others = [
        ImmigrateRegressor(chosen.sigma_ * factor, solver=Descent(tol=1e-6)).fit(X, y)
        for factor in (4.0, 8.0)
    ]
    assert error(chosen) <= min(map(error, others)) * 1.02


@pytest.mark.parametrize(("factor", "shift"), [(2.5, 0.0), (1.0, -1e3), (1e-6, 40.0)])
def test_units_of_the_outcome_change_predictions_alike_and_weights_not_at_all(
    diabetes, fitted, factor, shift
):
    X, y = diabetes
    other = ImmigrateRegressor().fit(X, factor * y + shift)
    np.testing.assert_array_equal(other.weight_matrix_, fitted.weight_matrix_)
    expected = factor * fitted.predict(X) + shift
    np.testing.assert_allclose(other.predict(X), expected, rtol=1e-9)


def test_the_other_direction_of_the_outcome_has_the_same_weights(diabetes, fitted):
    X, y = diabetes
    other = ImmigrateRegressor().fit(X, -y)
    np.testing.assert_allclose(other.weight_matrix_, fitted.weight_matrix_, atol=1e-6)
    np.testing.assert_allclose(other.predict(X), -fitted.predict(X), rtol=1e-5)


def test_order_of_rows_and_columns_does_not_matter(diabetes, fitted):
    X, y = diabetes
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = ImmigrateRegressor().fit(X.iloc[rows, columns], y.iloc[rows])
    expected = fitted.weight_matrix_[np.ix_(columns, columns)]
    np.testing.assert_allclose(other.weight_matrix_, expected, atol=1e-6)
    np.testing.assert_allclose(other.predict(X.iloc[:, columns]), fitted.predict(X), rtol=1e-5)


def test_threads_change_nothing(diabetes, fitted):
    X, y = diabetes
    other = ImmigrateRegressor(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(other.weight_matrix_, fitted.weight_matrix_)


def test_predictions_stay_within_the_numbers_of_fit(diabetes, fitted):
    X, y = diabetes
    found = fitted.predict(100 * X)
    assert y.min() <= found.min() <= found.max() <= y.max()


def test_weight_zero_leaves_a_sample_a_neighbour(diabetes):
    X, y = diabetes
    weight = np.ones(len(y))
    same = ImmigrateRegressor().fit(X, y, 3 * weight).weight_matrix_
    np.testing.assert_allclose(same, ImmigrateRegressor().fit(X, y).weight_matrix_, atol=1e-9)
    weight[:50] = 0
    other = ImmigrateRegressor().fit(X, y, weight)
    assert np.abs(other.weight_matrix_ - same).max() > 1e-3
    assert len(other.model_.references.codes) == len(y)


def test_text_gaps_and_circles_by_the_same_road(table):
    X, y = table
    columns = Columns(circular_features={"hour": 24})
    model = ImmigrateRegressor(columns=columns).fit(X, y)
    assert model.get_feature_names_out().tolist() == X.columns.tolist()
    assert model.feature_importances_[-1] == model.feature_importances_.min()
    new, answer = joint_table(seed=1)
    assert model.score(new, answer) > 0.4


def test_containers_agree(table):
    X, y = table
    model = ImmigrateRegressor().fit(X, y)
    other = ImmigrateRegressor().fit(pl.from_pandas(X), pl.Series(y))
    np.testing.assert_array_equal(other.predict(pl.from_pandas(X)), model.predict(X))


def test_a_pair_that_matters_only_together_is_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=300)
    model = ImmigrateRegressor().fit(X[:200], y[:200])
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}
    assert model.score(X[200:], y[200:]) > 0.5
    table = model.interactions(test=immigrate.InteractionTest(outcome="number").fit(X, y))
    assert table.loc[0, ["feature_1", "feature_2"]].tolist() == ["x0", "x1"]


def test_a_large_table_is_fitted_on_a_sample_and_predicted_from_all(monkeypatch, diabetes):
    X, y = load_diabetes(return_X_y=True)
    monkeypatch.setattr(road, "MOST_FITTED", 120)
    model = ImmigrateRegressor(random_state=0).fit(X[:400], y[:400])
    assert model.n_anchors_ == model.n_references_ == 120
    assert model.weight_error_.max() > 0
    assert len(model.model_.references.codes) == 400
    assert model.score(X[400:], y[400:]) > 0.2
    with pytest.raises(ValueError, match="no leave-one-out"):
        model.leave_one_out_predict()


@pytest.mark.parametrize(
    "options",
    [
        {"constraint": "nonnegative"},
        {"penalty": "l1"},
        {"penalty": "prune"},
        {"screen": Screen("im4e", threshold=0.1)},
        {"screen": Screen("pairs", threshold=0.1)},
        {"sigma": 0.5},
        {"columns": Columns(nominal="mismatch")},
    ],
)
def test_options_of_the_classifier_do_what_they_do_there(options, table):
    X, y = table
    model = ImmigrateRegressor(**options).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    if options.get("constraint") == "nonnegative":
        assert model.weight_matrix_.min() >= 0
    if "sigma" in options:
        assert model.sigma_ == 0.5
    if "screen" in options:
        assert model.screen_importances_.sum() == pytest.approx(1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_steps_of_the_paper_can_be_asked_for(diabetes):
    model = ImmigrateRegressor(solver="paper").fit(*diabetes)
    assert np.isfinite(model.predict(diabetes[0])).all()


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(150, 3.0), "is 3 for all samples"),
        (np.repeat(["low", "high", "low"], 50), "to be a number"),
        (np.append(np.arange(149.0), np.inf), "contains infinity"),
    ],
)
def test_outcomes_that_are_no_numbers_are_refused(diabetes, y, words):
    with pytest.raises(ValueError, match=words):
        ImmigrateRegressor().fit(diabetes[0], y)


def test_a_column_that_is_infinite_is_named(diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match="Column 'bmi' holds infinity"):
        ImmigrateRegressor().fit(X.assign(bmi=np.inf), y)


def test_it_works_in_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = make_pipeline(StandardScaler(), clone(ImmigrateRegressor()))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.35
    assert "ImmigrateRegressor" in ImmigrateRegressor()._repr_html_()
