"""A report of a number: measures by their definition, and what the page says."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateRegressor, InteractionTest, Report
from immigrate.report.input import Thirds
from immigrate.report.numbers import number_measures


def wages(n=120, seed=0):
    """A number that rises with years, more for one of two groups; text and a gap."""
    rng = np.random.default_rng(seed)
    years, group = rng.uniform(0, 20, n), rng.choice(["a", "b"], n)
    frame = pd.DataFrame({"years": years, "group": group, "noise": rng.normal(size=n)})
    frame.loc[5, "noise"] = np.nan
    frame["wage"] = 5 + years * np.where(group == "a", 0.5, 1.5) + rng.normal(size=n)
    return frame


@pytest.fixture(scope="module")
def report():
    return Report.of(wages(), "wage", cv=4)


def test_the_page_says_how_large_errors_are(report):
    assert isinstance(report.estimator, ImmigrateRegressor)
    found, answer = report.summary["performance"], report.summary["answers"][2]
    assert answer["headline"] == [f"R² {found['r2']['value']:.2f}"]
    assert "smaller than those of guessing the mean" in answer["details"][0]["evidence"]
    assert found["r2"]["low"] < found["r2"]["value"] < found["r2"]["high"] <= 1
    names = [one["name"] for one in found["methods"]]
    assert names == [
        "ImmigrateRegressor",
        "ridge regression",
        "random forest",
        "guessing the mean",
    ]
    assert found["methods"][-1]["r2"]["value"] == 0
    assert len(found["observed"]) == len(found["predicted"]) == 120
    html = report.html()
    for wrong in ("log-odds of", "AUC", "guessing the largest class"):
        assert wrong not in str(report)
    assert "adds to <bdi>wage</bdi>" in html
    assert "Does the outcome depend on a feature?" in html


def test_features_and_the_data_are_those_of_a_number(report):
    shown = [row["feature"] for row in report.summary["test"]["shown"]]
    assert {"years", "group"} <= set(shown)
    data = report.summary["data"]
    assert data["number"]["low"] == pytest.approx(wages()["wage"].min(), rel=1e-3)
    assert sum(one["n"] for one in data["classes"]) == 120
    assert len(report.summary["samples"]["numbers"]) == 120
    json.dumps(report.summary, allow_nan=False)


def test_the_page_does_not_depend_on_jobs(report):
    again = Report.of(wages(), "wage", cv=4, n_jobs=2)
    assert again.summary == report.summary


def test_measures_are_those_of_their_definition():
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=(2, 4000))
    found = number_measures(y, y + 0.5 * noise, np.zeros(4000))
    assert found["r2"]["value"] == pytest.approx(1 - 0.25 * np.mean(noise**2) / np.mean(y**2))
    assert found["mae"]["value"] == pytest.approx(np.mean(np.abs(0.5 * noise)))
    draws = rng.integers(0, 4000, (400, 4000))
    drawn = [1 - np.mean((0.5 * noise[i]) ** 2) / np.mean(y[i] ** 2) for i in draws]
    ends = found["r2"]["low"], found["r2"]["high"]
    assert np.quantile(drawn, [0.025, 0.975]) == pytest.approx(ends, abs=0.005)


def test_noise_is_not_shown_to_be_better_than_guessing():
    rng = np.random.default_rng(1)
    report = Report.of(rng.normal(size=(60, 3)), rng.normal(size=60), cv=3)
    assert report.summary["answers"][2]["headline"] == ["Not shown to be better than guessing"]


def test_what_the_label_is_goes_by_the_user_the_test_the_estimator_and_the_values():
    table = wages(60)
    few = table.drop(columns="wage").assign(rating=np.digitize(table["wage"], [10, 15, 20]))
    as_classes = Report.of(few, "rating", cv=2)
    assert as_classes.summary["data"]["number"] is None
    assert any("outcome='number'" in note for note in as_classes.summary["data"]["notes"])
    for options in (
        {"outcome": "number"},
        {"test": InteractionTest(outcome="number")},
        {"estimator": make_pipeline(StandardScaler(), ImmigrateRegressor())},
    ):
        X = few[["years", "rating"]]
        assert Report.of(X, "rating", cv=2, **options).summary["data"]["number"]
    with pytest.raises(ValueError, match="continuous"):
        Report.of(table, "wage", ImmigrateClassifier())
    with pytest.raises(ValueError, match="outcome"):
        Report.of(table, "wage", outcome="numbers")
    with pytest.raises(TypeError, match="ImmigrateRegressor"):
        Report.of(table, "wage", LogisticRegression())


def test_groups_and_splits_are_kept():
    table = wages(60)
    table["person"] = np.arange(60) // 2
    report = Report.of(table, "wage", cv=3, groups="person")
    assert report.summary["performance"]["by_groups"]
    assert report.summary["test"]["why_untested"]
    half = [(np.arange(30), np.arange(30, 60))]
    report = Report.of(table.drop(columns="person"), "wage", cv=half)
    assert report.summary["performance"]["n_never_held_out"] == 30


@pytest.mark.parametrize(
    ("numbers", "labels"),
    [
        (np.arange(9.0), ["up to 2", "above 2 to 5", "above 5"]),
        (np.array([0.0, 0, 0, 0, 1]), ["up to 0", "above 0"]),
        (np.array([-1.5, 1, 1, 1, 1, 1]), ["all"]),
    ],
)
def test_thirds_have_names_and_no_empty_part(numbers, labels):
    found = Thirds.of(numbers)
    assert found.labels == labels
    assert (np.bincount(found.codes, minlength=len(labels)) > 0).all()
