"""Margin classifiers with columns that come round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mixed_tables import MAKERS
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from immigrate import ImmigrateClassifier, ImmigrateSelector, InteractionTest, ReliefF
from immigrate.options import ClassCentres, Columns
from immigrate.persistence import load_model, save_model

CLOCK = Columns(circular_features={"hour": 24})


def nights(n=120, seed=0):
    """Two classes: near midnight, and the rest of the day; one hour in ten is not known."""
    rng = np.random.default_rng(seed)
    hour = rng.uniform(0, 24, n)
    y = np.where(np.minimum(hour, 24 - hour) < 5, "night", "day")
    X = pd.DataFrame({"hour": hour, "dose": rng.normal(size=n), "site": rng.choice(["A", "B"], n)})
    X.loc[rng.random(n) < 0.1, "hour"] = np.nan
    return X, y


def turned_by(X, hours):
    return X.assign(hour=np.mod(X["hour"] + hours, 24))


@pytest.mark.parametrize("name", MAKERS)
def test_turning_the_clock_changes_nothing(name):
    X, y = nights()
    model = MAKERS[name](columns=CLOCK).fit(X, y)
    for hours in (5.0, 12.75):
        later = MAKERS[name](columns=CLOCK).fit(turned_by(X, hours), y)
        np.testing.assert_allclose(
            later.predict_proba(turned_by(X, hours)), model.predict_proba(X), atol=1e-6
        )
        np.testing.assert_allclose(
            later.feature_importances_, model.feature_importances_, atol=1e-6
        )


def test_midnight_is_one_place():
    X, y = nights(300)
    model = ImmigrateClassifier(columns=CLOCK).fit(X, y)
    ends = pd.DataFrame({"hour": [23.9, 0.1, 24.1], "dose": 0.0, "site": "A"})
    p = model.predict_proba(ends)
    np.testing.assert_allclose(p[1], p[2], atol=1e-9)
    np.testing.assert_allclose(p[0], p[1], atol=0.05)
    assert (model.predict(ends) == "night").all()


def test_centres_are_directions():
    X, y = nights(300)
    model = ImmigrateClassifier(columns=CLOCK, references=ClassCentres(20), random_state=0)
    model.fit(X, y)
    hour = model.model_.references.values[model.model_.references.codes == 1, 0]
    known = hour[~np.isnan(hour)]
    # On a line the centre of 23 h and 1 h would be noon.
    assert len(known)
    assert (np.minimum(known, 24 - known) < 6).all()
    assert model.score(X, y) > 0.85


def test_a_stored_model_knows_its_clock(tmp_path):
    X, y = nights()
    model = ImmigrateClassifier(columns=CLOCK).fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_pairs_of_columns_that_are_circular_for_the_estimator_alone_are_refused():
    X, y = nights()
    X = X.dropna()
    selector = ImmigrateSelector(ImmigrateClassifier(columns=CLOCK), pairs=True, n_pairs=3)
    with pytest.raises(ValueError, match="Column 'hour' is circular for the estimator and"):
        selector.fit(X, y[X.index])
    selector.set_params(pairs=False).fit(X, y[X.index])


def tides(n=300, seed=0):
    """The dose counts one way in the morning and the other way in the evening."""
    rng = np.random.default_rng(seed)
    hour, dose = rng.uniform(0, 24, n), rng.normal(size=n)
    X = pd.DataFrame({"dose": dose, "hour": hour, "other": rng.normal(size=n)})
    return X, np.where(np.cos(2 * np.pi * hour / 24) * dose > 0, "ill", "well")


@pytest.mark.parametrize("test", [True, None])
def test_pairs_with_an_hour_become_products_with_its_waves(test):
    X, y = tides()
    selector = ImmigrateSelector(
        pairs=True, test=test, n_pairs=1, circular_features={"hour": 24}
    ).fit(X, y)
    names = [f"{wave} × dose" for wave in ("cos(hour)", "sin(hour)", "cos(2 hour)", "sin(2 hour)")]
    swapped = [" × ".join(name.split(" × ")[::-1]) for name in names]
    out = list(selector.get_feature_names_out())
    assert out[-4:] in (names, swapped)
    chosen = np.asarray(selector.transform(X), dtype=float)
    score = LogisticRegression().fit(chosen, y).score(chosen, y)
    assert score > 0.95
    # Turned, the waves are others, which span the same.
    later = clone(selector).fit(turned_by(X, 7), y)
    np.testing.assert_array_equal(later.pairs_, selector.pairs_)
    chosen = np.asarray(later.transform(turned_by(X, 7)), dtype=float)
    np.testing.assert_allclose(
        LogisticRegression().fit(chosen, y).score(chosen, y), score, atol=0.02
    )


def test_the_estimator_of_a_selector_sees_the_circles():
    X, y = nights()
    for estimator in (ImmigrateClassifier(), ReliefF()):
        selector = ImmigrateSelector(estimator, circular_features={"hour": 24}).fit(X, y)
        assert selector.estimator_.column_reader_.kinds[0].period == 24
        assert "hour" in selector.get_feature_names_out()


def test_an_estimator_without_circles_is_refused():
    X, y = nights()
    selector = ImmigrateSelector(LogisticRegression(), circular_features={"hour": 24})
    with pytest.raises(ValueError, match="LogisticRegression has no circular columns"):
        selector.fit(X[["dose", "hour"]].fillna(0), y)


def test_a_test_of_a_table_that_was_read_otherwise_is_refused():
    X, y = nights()
    test = InteractionTest(circular_features={"hour": 24})
    with pytest.raises(ValueError, match=r"circular_features=\{'hour': 24\}, and the table was"):
        ImmigrateSelector(test=test).fit(X, y)
