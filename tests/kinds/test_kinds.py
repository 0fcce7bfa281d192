"""The list of kinds: every column finds one, and a reader comes back from a file with it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from immigrate.kinds import KINDS, Circular, fitted_kind
from immigrate.kinds.column import Column, Content
from immigrate.table import Reader

FRAME = pd.DataFrame(
    {
        "hour": [1.0, 30.0, np.nan],
        "site": ["A", None, "B"],
        "size": pd.Categorical(["S", "L", None], categories=["S", "M", "L"], ordered=True),
        "is_old": [True, False, True],
        "dose": [0.5, np.nan, 2.0],
    }
)


def test_each_kind_takes_its_columns_and_comes_back_from_a_file():
    reader, values = Reader.fit(FRAME, circular_features={"hour": 24})
    assert [type(kind) for kind in reader.kinds] == list(KINDS)
    again = pickle.loads(pickle.dumps(reader))
    assert again == reader
    np.testing.assert_array_equal(again.read(FRAME), values)


def test_names_of_kinds_are_in_files_and_differ():
    assert [kind.name for kind in KINDS] == [
        "circular",
        "nominal",
        "ordered category",
        "flag",
        "number",
    ]


def test_columns_that_are_listed_twice_are_refused():
    column = Column("hour", Content.NUMBERS, np.arange(3.0), "float64")
    assert fitted_kind(column, None, 24.0) == Circular(period=24.0, is_whole=True)
    with pytest.raises(ValueError, match="in circular_features and is in categorical_features"):
        fitted_kind(column, True, 24.0)
