"""A table is converted once and scanned once, whatever is made of it later."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV, InteractionTest, ReliefF
from immigrate.datasets import make_xor
from immigrate.table import read_training_table, table

X, Y = make_xor(60, 4, random_state=0)
FRAME = pd.DataFrame(X.to_numpy(), columns=list("abcd"))


@pytest.mark.parametrize(
    "model",
    [
        ImmigrateClassifier(),
        ImmigrateClassifierCV(cv=3, sigmas=[1.0, 2.0]),
        InteractionTest(),
        ReliefF(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_ranges_are_scanned_once(model, container, monkeypatch):
    scans = []
    ranges = table.column_ranges
    monkeypatch.setattr(
        table, "column_ranges", lambda values: scans.append(values.shape) or ranges(values)
    )
    model.fit(container(X), Y)
    assert scans == [X.shape]


def test_a_frame_of_numbers_is_converted_once(monkeypatch):
    conversions = []
    to_numpy = pd.DataFrame.to_numpy

    def counted(self, *args, **options):
        conversions.append(self.shape)
        return to_numpy(self, *args, **options)

    monkeypatch.setattr(pd.DataFrame, "to_numpy", counted)
    read_training_table(BaseEstimator(), FRAME, Y)
    assert conversions == [FRAME.shape]


def test_an_array_of_floats_is_not_copied():
    values = FRAME.to_numpy()
    assert read_training_table(BaseEstimator(), values, Y).values is values


def test_a_frame_keeps_its_memory_to_itself():
    read = read_training_table(BaseEstimator(), FRAME, Y)
    assert not np.shares_memory(read.values, FRAME.to_numpy())


@pytest.mark.parametrize(
    ("change", "is_plain"),
    [
        (lambda frame: frame, True),
        (lambda frame: frame.mask(frame == frame.iloc[0, 0]), False),
        (lambda frame: frame.assign(d=np.where(frame["a"] > 0, "u", "v")), False),
        (lambda frame: frame.assign(d=np.nan), False),
    ],
    ids=["numbers", "a gap", "levels", "a column without a value"],
)
@pytest.mark.filterwarnings("ignore::immigrate.table.ColumnWarning")
def test_a_table_knows_whether_it_is_plain(change, is_plain):
    assert read_training_table(BaseEstimator(), change(FRAME), Y).is_plain is is_plain


@pytest.mark.filterwarnings("ignore::immigrate.table.ColumnWarning")
def test_rows_and_features_are_those_of_the_table():
    frame = FRAME.assign(d=np.nan, e=np.where(FRAME["a"] > 0, "u", "v"), f=1.0)
    read = read_training_table(BaseEstimator(), frame, Y)
    some = np.arange(0, 60, 2)
    part = read.rows(some)
    np.testing.assert_array_equal(part.values, read.values[some])
    assert part.of is read
    assert part.rows(np.arange(3)).of is read
    own = read.features(read.reader.is_used & ~read.reader.is_constant)
    assert own.reader.names == ("a", "b", "c", "e")
    assert own.reader.notes == ()
    assert own.reader.n_levels.tolist() == [0, 0, 0, 2]
    assert [note.column for note in read.features(read.low == read.high).reader.notes] == [0, 1]
