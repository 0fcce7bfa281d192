"""What fit learned holds for every later table."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from immigrate.checks import chosen_mask
from immigrate.persistence import packed, unpacked
from immigrate.table import ColumnWarning, Reader

FRAME = pd.DataFrame(
    {"dose": [1.0, 2.0, 4.0, 2.0], "site": ["A", "B", "A", "C"], "arm": [0, 1, 2, 1]}
)


@given(
    seen=st.lists(st.text(max_size=3), min_size=1),
    later=st.lists(st.none() | st.text(max_size=3), min_size=1),
)
def test_codes_are_those_of_a_plain_lookup(seen, later):
    levels = sorted(set(seen))
    code = {level: j for j, level in enumerate(levels)} | {None: np.nan}
    reader, values = Reader.fit(pd.DataFrame({"site": seen}), ["site"])
    assert reader.levels == (tuple(levels),)
    np.testing.assert_array_equal(values[:, 0], [code[level] for level in seen])
    np.testing.assert_array_equal(
        reader.read(pd.DataFrame({"site": pd.Series(later, dtype=object)}))[:, 0],
        [code.get(level, len(levels)) for level in later],
    )


def test_gaps_only_at_predict_are_gaps():
    reader, _ = Reader.fit(FRAME)
    later = pd.DataFrame({"dose": [None], "site": [None], "arm": [None]}, dtype=object)
    assert np.isnan(reader.read(later)).all()


@pytest.mark.parametrize(
    "stored",
    [
        lambda reader: pickle.loads(pickle.dumps(reader)),
        copy.deepcopy,
        lambda reader: unpacked(packed(reader)),
    ],
)
def test_a_reader_survives_storing(stored):
    frame = FRAME.assign(study="CARE")
    reader, values = Reader.fit(frame, ["site", "arm", "study"])
    again = stored(reader)
    assert again == reader
    assert again.notes
    np.testing.assert_array_equal(again.read(frame), values)


@pytest.mark.parametrize(
    "chosen",
    [
        ["site", "arm"],
        ["site", 2],
        [1, -1],
        [False, True, True],
        np.array([1, 2]),
        pd.Index([1, 2]),
    ],
    ids=str,
)
def test_names_indices_and_masks_choose_alike(chosen):
    reader, values = Reader.fit(FRAME, chosen)
    assert [kind.name for kind in reader.kinds] == ["number", "nominal", "nominal"]
    assert reader.levels[2] == (0, 1, 2)
    np.testing.assert_array_equal(values[:, 2], [0, 1, 2, 1])


def test_none_says_that_no_column_is_categorical():
    codes = pd.Categorical([10, 20, 10, 20])
    reader, values = Reader.fit(FRAME[["dose"]].assign(code=codes), None)
    assert [kind.name for kind in reader.kinds] == ["number", "number"]
    np.testing.assert_array_equal(values[:, 1], [10, 20, 10, 20])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
def test_listed_columns_of_arrays_are_coded_without_touching_the_array(dtype):
    X = np.array([[5, 1], [7, 2], [5, 3]], dtype=dtype)
    before = X.copy()
    reader, values = Reader.fit(X, [0])
    np.testing.assert_array_equal(values, [[0, 1], [1, 2], [0, 3]])
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(
        reader.read(np.array([[7.0, 1.0], [6.0, 1.0]])), [[1, 1], [2, 1]]
    )


def test_listed_floats_with_gaps():
    X = np.array([[0.5], [np.nan], [-1.0]])
    reader, values = Reader.fit(X, [0])
    assert reader.levels == ((-1, 0.5),)
    np.testing.assert_array_equal(values[:, 0], [1, np.nan, 0])


def test_an_ordered_category_that_is_listed_is_nominal():
    size = pd.Categorical(["S", "L", "S", "L"], categories=["S", "M", "L"], ordered=True)
    reader, _ = Reader.fit(FRAME.assign(size=size), ["site", "size"])
    assert reader.kinds[3].name == "nominal"
    assert reader.levels[3] == ("S", "L")


def test_an_empty_choice_is_no_column():
    assert not chosen_mask([], ["a", "b"]).any()


def test_a_value_without_a_place_in_the_order_is_missing_and_said():
    size = pd.Categorical(["S", "L"], categories=["S", "L"], ordered=True)
    reader, _ = Reader.fit(pd.DataFrame({"size": size}))
    with pytest.warns(ColumnWarning, match="Column 'size' holds 'XXL', which is not among"):
        values = reader.read(pd.DataFrame({"size": ["XXL", "L"]}))
    np.testing.assert_array_equal(values[:, 0], [np.nan, 1])


def identified(n=30):
    return pd.DataFrame(
        {
            "id": [f"P{i}" for i in range(n)],
            "day": [f"{1 + i % 28:02d}.02.2021" for i in range(n)],
            "lost": [np.nan] * n,
            "dose": np.arange(n) / 2,
            "weight": [f"{60 + i / 7:.1f}" for i in range(n)],
        }
    )


def test_what_is_no_feature_reads_as_0_everywhere():
    reader, values = Reader.fit(identified())
    np.testing.assert_array_equal(reader.is_used, [False, False, False, True, False])
    assert not values[:, ~reader.is_used].any()
    np.testing.assert_array_equal(values[:, 3], np.arange(30) / 2)
    # What is left out is not even looked at later, whatever it holds.
    later = pd.DataFrame(
        {"id": [1], "day": pd.to_datetime(["2021-01-03"]), "lost": ["x"], "dose": [7], "weight": 1}
    )
    np.testing.assert_array_equal(reader.read(later), [[0, 0, 0, 7, 0]])


def test_a_listed_identifier_is_kept():
    reader, values = Reader.fit(identified()[["id", "day", "dose"]], ["id", "day"])
    assert reader.is_used.all()
    np.testing.assert_array_equal(np.sort(values[:, 0]), np.arange(30))
    assert [note.reason.name for note in reader.notes] == ["KEPT_IDENTIFIER", "KEPT_IDENTIFIER"]


def test_an_array_column_without_a_value_reads_as_0():
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    reader, values = Reader.fit(X)
    np.testing.assert_array_equal(values, [[1, 0], [2, 0]])
    assert np.isnan(X[:, 1]).all()
    np.testing.assert_array_equal(reader.read(np.array([[1.0, 5.0]])), [[1, 0]])


def test_constants_are_named_and_stay():
    reader, values = Reader.fit(np.array([[1.0, 7.0], [2.0, 7.0]]))
    np.testing.assert_array_equal(reader.is_constant, [False, True])
    assert reader.is_used.all()
    np.testing.assert_array_equal(values[:, 1], 7)
