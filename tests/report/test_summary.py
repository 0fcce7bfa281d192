"""The summary is plain values, and the same input gives the same bytes."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from immigrate import ImmigrateClassifier, Report
from immigrate.datasets import make_monk1, make_trial, make_xor
from immigrate.report import evidence, folds


def made(**options):
    return Report.of(make_trial(120, random_state=0), "outcome", cv=2, **options)


def test_it_is_json_with_a_version_and_can_be_saved(tmp_path):
    report = made()
    path = report.save_json(tmp_path / "new" / "report.json")
    assert json.loads(path.read_text("utf-8")) == report.summary
    assert report.summary["format"] == 1
    assert report.summary["target"] == "outcome"


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_same_input_same_bytes_whatever_the_processes(monkeypatch, n_jobs):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    # As large as in the other processes, where it is not made small for tests.
    monkeypatch.setattr(folds, "RandomForestClassifier", RandomForestClassifier)
    first, second = made(), made(n_jobs=n_jobs)
    assert first.summary["date"] == "1970-01-02"
    assert first.html() == second.html()


def test_the_date_is_the_only_thing_that_time_changes(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first = made().html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert made().html() == first.replace("1970-01-01", "1970-01-02")


def test_what_is_no_number_is_null():
    X, y = make_monk1()
    report = Report.of(X.assign(flat=1), y, ImmigrateClassifier(), cv=2)
    assert "NaN" not in json.dumps(report.summary, allow_nan=False)


def test_samples_are_the_values_of_the_table():
    table = make_trial(120, random_state=0)
    report = Report.of(table, "outcome", cv=2)
    samples, names = report.summary["samples"], report.summary["pairs"]["names"]
    drug = samples["columns"][str(names.index("treatment"))]
    assert [drug["levels"][k] for k in drug["values"]] == table["treatment"].tolist()
    age = samples["columns"][str(names.index("age"))]
    assert np.array(age["values"], dtype=float) == pytest.approx(table["age"], nan_ok=True)
    assert [report.summary["data"]["classes"][k]["label"] for k in samples["codes"]] == list(
        table["outcome"]
    )


def test_large_tables_carry_the_samples_of_the_strongest_columns(monkeypatch):
    monkeypatch.setattr(evidence, "MOST_ROWS", 50)
    monkeypatch.setattr(evidence, "MOST_VALUES", 200)
    X, y = make_xor(300, 12, noise=0.05, random_state=0)
    # The pair in other places than the first.
    report = Report.of(X[X.columns[::-1]], y, ImmigrateClassifier(), cv=2)
    samples, names = report.summary["samples"], report.summary["pairs"]["names"]
    assert len(samples["rows"]) == 50
    assert samples["n"] == 300
    assert len(samples["columns"]) == 4
    assert samples["n_without"] == 8
    assert {"a", "b"} <= {names[int(j)] for j in samples["columns"]}


def test_surfaces_belong_to_their_pair():
    report = made()
    names = report.summary["pairs"]["names"]
    surface = report.summary["surfaces"][0]
    assert {names[surface["a"]], names[surface["b"]]} == {"treatment", "variant"}
    effect = report.test.effect(names[surface["a"]], names[surface["b"]])
    assert np.array(surface["value"]) == pytest.approx(effect.value, rel=1e-3)
    assert surface["x"]["values"] == [str(value) for value in effect.axes[0].values]


def test_the_whole_table_is_tested_whatever_the_model_keeps_of_it():
    X, y = make_xor(300, 4, noise=0.05, random_state=0)
    few = Report.of(X, y, ImmigrateClassifier(references=20), cv=2)
    every = Report.of(X, y, ImmigrateClassifier(), cv=2)
    assert len(few.estimator.model_.references.values) < len(X)
    for name in ("found", "shown", "n_pairs", "least_p"):
        assert few.summary["test"][name] == every.summary["test"][name]
    assert few.summary["samples"] == every.summary["samples"]


def test_groups_are_kept_apart_and_repeated_people_are_not_tested():
    X, y = make_xor(90, 3, noise=0.05, random_state=0)
    people = np.repeat(np.arange(45), 2)
    report = Report.of(X.assign(person=people), y, ImmigrateClassifier(), cv=3, groups="person")
    assert "person" not in report.summary["features"]["name"]
    assert report.test is None
    assert "Some groups have more than one sample" in report.html()
    assert report.summary["performance"]["by_groups"]
    pairs, columns = report.summary["pairs"], report.summary["samples"]["columns"]
    assert len(pairs["a"]) == 3
    # A pair is known by the places of its columns, tested or not.
    assert np.array(columns[str(pairs["names"].index("noise_0"))]["values"]) == pytest.approx(
        X["noise_0"], rel=1e-3
    )
    assert report.table["weight"].size
    alone = Report.of(X, y, ImmigrateClassifier(), cv=3, groups=np.arange(90))
    assert alone.test is not None


def test_groups_of_another_length_are_refused():
    X, y = make_xor(40, 3, random_state=0)
    with pytest.raises(ValueError, match="groups has 3 entries for 40 samples"):
        Report.of(X, y, groups=[1, 2, 3])


def test_a_misspelt_target_is_guessed():
    table = pd.DataFrame({"outcome": [0, 1], "age": [1, 2]})
    with pytest.raises(ValueError, match=r"Did you mean 'outcome'\?"):
        Report.of(table, "outcom")
