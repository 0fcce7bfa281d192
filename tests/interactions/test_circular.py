"""The test with columns that come round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import special

from immigrate import InteractionTest

NUMBERS = ["p_value", "p_adjusted", "size"]


def shifts(seed=0, n=600):
    """Admissions by hour: at night a high dose helps, by day a low one; nights are worse."""
    rng = np.random.default_rng(seed)
    hour, dose, age = rng.uniform(0, 24, n), rng.normal(size=n), rng.normal(size=n)
    wave = np.cos(2 * np.pi * (hour - 2) / 24)
    y = rng.random(n) < special.expit(1.5 * wave * dose + wave)
    X = pd.DataFrame({"hour": hour, "dose": dose, "age": age})
    return X, np.where(y, "relapse", "none")


def turned_by(X, hours):
    return X.assign(hour=np.mod(X["hour"] + hours, 24))


@pytest.mark.parametrize("hours", [5.0, 13.5])
def test_turning_the_clock_changes_nothing(hours):
    X, y = shifts()
    test = InteractionTest(circular_features={"hour": 24}).fit(X, y)
    later = InteractionTest(circular_features={"hour": 24}).fit(turned_by(X, hours), y)
    np.testing.assert_allclose(later.table_[NUMBERS], test.table_[NUMBERS], rtol=1e-4)
    np.testing.assert_allclose(later.features_[NUMBERS], test.features_[NUMBERS], rtol=1e-4)


def test_words_name_the_hour():
    X, y = shifts()
    test = InteractionTest(circular_features={"hour": 24}).fit(X, y)
    words = test.selected_["direction"].tolist()
    assert len(words) == 1
    sentence = r"relapse is more likely where dose is high and hour is around (\d+\.?\d*) h, or "
    match = pd.Series(words).str.extract(sentence)[0].astype(float)
    assert abs(match[0] - 2) < 1.5
    own = test.features_.set_index("feature").loc["hour", "direction"]
    hour = float(own.split("around ")[1].split(" h")[0])
    assert abs(hour - 2) < 1.5


@pytest.mark.parametrize("other", ["level", "angle"])
def test_beside_levels_and_other_circles_directions_are_named(other):
    rng = np.random.default_rng(1)
    n = 800
    hour, angle = rng.uniform(0, 24, n), rng.uniform(0, 360, n)
    level = rng.choice(["u", "v"], n)
    sign = np.where(level == "u", 1, -1) if other == "level" else np.cos(np.radians(angle - 90))
    logit = 3 * sign * np.cos(2 * np.pi * (hour - 6) / 24)
    y = rng.random(n) < special.expit(logit)
    X = pd.DataFrame({"hour": hour, other: level if other == "level" else angle})
    circular = {"hour": 24} if other == "level" else {"hour": 24, "angle": 360}
    words = InteractionTest(circular_features=circular).fit(X, y).table_["direction"][0]
    assert "around 6" in words or "around 5." in words or "around 18" in words
    assert "or " in words
    assert "°" in words if other == "angle" else "level is u" in words
