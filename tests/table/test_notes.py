from __future__ import annotations

import pandas as pd
import pytest

from immigrate.table.notes import are_dates, number_like
from immigrate.table.open import distinct_labels


@pytest.mark.parametrize(
    "text",
    [
        "2021-01-03",
        "2021/1/3",
        "2021-01-03T10:20:30Z",
        "2021-01-03 10:20:30.123+02:00",
        "03.01.2021",
        "3.1.2021",
        "03.01.21",
        "12/31/2021",
        "31/12/2021 23:59",
        "03-Jan-2021",
        "3 January 2021",
        "3. Sep 2021",
        "Jan 3, 2021",
        " 2021-01-03 ",
        "10:20",
        "10:20:30",
        "9:05 PM",
    ],
)
def test_usual_dates_are_recognised(text):
    assert are_dates([text])


@pytest.mark.parametrize(
    "text",
    [
        "3.2.1",
        "1.2.3.4",
        "20210103",
        "2021",
        "52.9",
        "13.13.2021",
        "32.01.2021",
        "2021-13-14",
        "99:99",
        "GG",
        "P1000",
        "10-20-30-40",
        "555-12-3456",
        "may",
        "",
        "1:2",
    ],
)
def test_other_texts_are_no_dates(text):
    assert not are_dates([text])


def test_one_other_value_makes_a_column_no_dates():
    assert not are_dates(["03.01.2021", "unknown"])
    assert not are_dates([])


def test_numbers_beside_a_few_other_words():
    assert number_like([f"{i / 7:.3f}" for i in range(30)] + ["<0.5"]) == "'<0.5' among numbers"
    assert number_like([i / 7 for i in range(30)] + ["n/a"]) == "'n/a' among numbers"
    assert number_like(["1.5", "a", "b"]) == ""
    assert number_like(["1e-3", "+2.5", "-.5", "1,5"]) == "such as '+2.5'"
    assert number_like(["1", "2", "3"]) == ""


@pytest.mark.parametrize(
    "labels", [["a", "b"], ["a", "a", "a"], ["a", "a.1", "a"], ["a", "a", "a.1", "a.1"]]
)
def test_names_are_distinct_and_first_ones_stay(labels):
    distinct, repeated = distinct_labels(labels)
    assert len(set(distinct)) == len(labels)
    renamed = {j for j, _ in repeated}
    assert renamed == set(pd.Series(labels).duplicated().to_numpy().nonzero()[0])
    assert all(distinct[j] == labels[j] for j in range(len(labels)) if j not in renamed)


def test_repeats_are_named_as_pandas_does(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("lab,lab,age,lab\n1,2,3,4\n")
    assert distinct_labels(["lab", "lab", "age", "lab"])[0] == list(pd.read_csv(path).columns)
