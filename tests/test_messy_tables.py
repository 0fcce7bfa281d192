"""The made-up exports hold what they are said to hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.columns.messy_tables import messy_table
from immigrate.table import Reason, column_notes

SEEDS = range(12)


@pytest.fixture(scope="module")
def tables():
    return [messy_table(seed) for seed in SEEDS]


def test_a_seed_gives_one_table():
    first, second = messy_table(5), messy_table(5)
    pd.testing.assert_frame_equal(first.X, second.X)
    assert first.y.equals(second.y)
    assert (first.pairs, first.main) == (second.pairs, second.main)


def test_seeds_give_other_columns(tables):
    assert len({tuple(table.X) for table in tables}) == len(tables)
    assert len({frozenset(table.pairs) for table in tables}) == len(tables)


def test_planted_columns_are_five_distinct_features(tables):
    for table in tables:
        planted = {*table.pairs[0], *table.pairs[1], table.main}
        assert len(planted) == 5
        assert planted <= set(table.X) - table.no_features


def test_every_kind_of_mess_is_there(tables):
    reasons = {note.reason for table in tables for note in column_notes(table.X)}
    assert reasons >= {Reason.IDENTIFIER, Reason.TEXT_DATES, Reason.CONSTANT}
    assert all(any(name.endswith(".1") for name in table.X) for table in tables)
    assert all(table.X.isna().to_numpy().any() for table in tables)
    assert any(table.X.dtypes.eq(bool).any() for table in tables)
    assert any(not name.isascii() for table in tables for name in table.X)


def test_text_dates_are_always_recognised(tables):
    for table in tables:
        by_name = {note.name: note.reason for note in column_notes(table.X)}
        assert by_name["visit_date"] is Reason.TEXT_DATES
        assert by_name["study"] is Reason.CONSTANT


def test_both_outcomes_are_common(tables):
    assert all(0.15 < (table.y == "relapse").mean() < 0.85 for table in tables)


def test_the_main_effect_raises_the_risk(tables):
    effects = [
        table.X[table.main].corr((table.y == "relapse").astype(float), method="spearman")
        for table in tables
    ]
    assert np.mean(effects) > 0.15
