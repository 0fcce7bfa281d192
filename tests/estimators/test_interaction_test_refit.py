"""A fit of InteractionTest that does not end well leaves the test of before."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from interaction_problems import additive_data, xor_data

import immigrate.estimators.interaction_test as estimator_module
from immigrate import InteractionTest
from immigrate.estimators.interaction_test import fitted_on_table
from immigrate.outcomes import Labels
from immigrate.table import SampleWeight, Table

STAGES = [
    "read_training_table",
    "sample_counts",
    "table_design",
    "null_model",
    "tested_terms",
    "feature_evidence",
    "findings_of",
]


def state(test):
    return {
        name: value.copy() if isinstance(value, pd.DataFrame | np.ndarray) else value
        for name, value in vars(test).items()
    }


def assert_unchanged(test, before):
    assert vars(test).keys() == before.keys()
    for name, value in before.items():
        now = vars(test)[name]
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(now, value, check_exact=True)
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(now, value)
        else:
            assert now is value


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_at_any_stage_leaves_the_old_test_whole(monkeypatch, stage, error):
    names = list("abcdef")
    X, y = xor_data(n=120)
    test = InteractionTest().fit(pd.DataFrame(X, columns=names), y)
    before = state(test)

    def broken(*args, **kwargs):
        raise error("planted")

    monkeypatch.setattr(estimator_module, stage, broken)
    with pytest.raises(error, match="planted"):
        test.fit(*additive_data(n=80))
    assert_unchanged(test, before)


def test_a_refused_table_leaves_the_old_test_whole():
    X, y = xor_data(n=120)
    test = InteractionTest().fit(X, y)
    before = state(test)
    days = pd.DataFrame({"day": pd.date_range("2021", periods=120), "dose": X[:, 0]})
    for table, label in ((days, y), (X, np.zeros(120)), (X[:, :1], y)):
        with pytest.raises(ValueError, match=r"dates|one class|n_features=1"):
            test.fit(table, label)
        assert_unchanged(test, before)


def test_a_failed_first_fit_is_no_fit():
    test = InteractionTest()
    with pytest.raises(ValueError, match="one class only"):
        test.fit(np.eye(4), np.zeros(4))
    assert vars(test) == vars(InteractionTest())


def test_values_that_were_read_give_what_the_table_gives():
    rng = np.random.default_rng(0)
    X, y = xor_data(n=500)
    table = pd.DataFrame(X, columns=list("abcdef")).assign(colour=rng.choice(list("rgb"), len(y)))
    table.loc[::9, "c"] = np.nan
    weight = rng.integers(0, 3, len(y)).astype(float)
    test = InteractionTest().fit(table, y, sample_weight=weight)
    reader = test.column_reader_
    labels = Labels(np.unique(y), y)
    read = Table.of_values(reader, reader.read(table), labels, SampleWeight(weight, "count"))
    again = fitted_on_table(InteractionTest(), read)
    pd.testing.assert_frame_equal(again.table_, test.table_, check_exact=True)
    pd.testing.assert_frame_equal(again.selected_, test.selected_, check_exact=True)
