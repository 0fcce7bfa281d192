"""One table in many containers has one reading."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from immigrate import Relief
from immigrate.table import Reader

NUMBERS = [1.5, None, -2.0, 1.5]
WHOLE = [3, 1, None, 3]
FLAGS = [True, None, False, True]
NAMES = ["red", "blue", None, "red"]
EXPECTED = np.array(
    [[1.5, 3, 1, 1], [np.nan, 1, np.nan, 0], [-2, np.nan, 0, np.nan], [1.5, 3, 1, 1]]
)
KINDS = ["number", "number", "flag", "nominal"]
COLUMNS = {"number": NUMBERS, "whole": WHOLE, "flag": FLAGS, "name": NAMES}


def pandas_of(types):
    return pd.DataFrame(
        {name: pd.Series(COLUMNS[name], dtype=dtype) for name, dtype in zip(COLUMNS, types)}
    )


def arrow_types():
    pa = pytest.importorskip("pyarrow")
    types = (pa.float64(), pa.int32(), pa.bool_(), pa.string())
    return [pd.ArrowDtype(one) for one in types]


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(COLUMNS)


def polars_categories():
    pl = pytest.importorskip("polars")
    return pl.DataFrame(COLUMNS).with_columns(pl.col("name").cast(pl.Categorical))


def arrow_table():
    pa = pytest.importorskip("pyarrow")
    return pa.table(COLUMNS)


def arrow_categories():
    pa = pytest.importorskip("pyarrow")
    names = pa.array(NAMES).dictionary_encode()
    return pa.table(COLUMNS | {"name": names}).to_batches()[0]


CONTAINERS = {
    "nullable": lambda: pandas_of(["Float64", "Int64", "boolean", "string"]),
    "arrow": lambda: pandas_of(arrow_types()),
    "objects": lambda: pandas_of([object] * 4),
    "numpy types": lambda: pandas_of([float, float, object, object]),
    "category": lambda: pandas_of([float, "Int64", "boolean", "category"]),
    "sparse": lambda: pandas_of([pd.SparseDtype(float), "Int64", "boolean", "str"]),
    "polars": polars_frame,
    "polars categories": polars_categories,
    "arrow table": arrow_table,
    "arrow batch with categories": arrow_categories,
    "object array": lambda: pandas_of([object] * 4).to_numpy(),
    "lists": lambda: [list(row) for row in zip(*COLUMNS.values())],
    "other numbers": lambda: pandas_of([object] * 4).assign(
        number=[Decimal("1.5"), pd.NA, Fraction(-2), np.float32(1.5)]
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_agree(container):
    table = CONTAINERS[container]()
    reader, values = Reader.fit(table)
    np.testing.assert_array_equal(values, EXPECTED)
    assert values.dtype == np.float64
    assert [kind.name for kind in reader.kinds] == KINDS
    assert reader.levels == ((), (), (), ("blue", "red"))
    np.testing.assert_array_equal(reader.is_nominal, [False, False, False, True])
    np.testing.assert_array_equal(reader.read(table), values)


@pytest.mark.parametrize("later", CONTAINERS)
def test_a_reader_reads_every_container(later):
    reader, values = Reader.fit(CONTAINERS["nullable"]())
    np.testing.assert_array_equal(reader.read(CONTAINERS[later]()), values)


def mixed_columns():
    texts = st.sampled_from(["a", "b", "ä", "long name", "1"])
    finite = st.floats(allow_nan=False, allow_infinity=False)
    kinds = (finite, st.integers(-(2**53), 2**53), st.booleans(), texts)
    rows = st.tuples(*(st.none() | kind for kind in kinds))
    return st.lists(rows, min_size=1, max_size=12)


@given(rows=mixed_columns())
def test_random_tables_read_alike(rows):
    columns = dict(zip(COLUMNS, map(list, zip(*rows))))
    frame = pd.DataFrame(columns, dtype=object)
    _, values = Reader.fit(frame)
    typed = frame.astype({"number": float, "whole": "Int64", "flag": "boolean", "name": "string"})
    np.testing.assert_array_equal(Reader.fit(typed)[1], values)
    np.testing.assert_array_equal(Reader.fit(frame.to_numpy())[1], values)
    np.testing.assert_array_equal(Reader.fit([list(row) for row in rows])[1], values)


@given(rows=mixed_columns())
def test_random_tables_read_alike_in_polars(rows):
    pl = pytest.importorskip("polars")
    columns = dict(zip(COLUMNS, map(list, zip(*rows))))
    types = {"number": pl.Float64, "whole": pl.Int64, "flag": pl.Boolean, "name": pl.String}
    reader, values = Reader.fit(pl.DataFrame(columns, schema=types))
    frame = pd.DataFrame(columns, dtype=object)
    np.testing.assert_array_equal(Reader.fit(frame)[1], values)
    np.testing.assert_array_equal(reader.read(frame), values)


@given(rows=mixed_columns(), seed=st.integers(0, 2**32 - 1))
def test_permuting_rows_permutes_values(rows, seed):
    frame = pd.DataFrame(rows, dtype=object)
    order = np.random.default_rng(seed).permutation(len(rows))
    reader, values = Reader.fit(frame)
    permuted_reader, permuted = Reader.fit(frame.iloc[order])
    np.testing.assert_array_equal(permuted, values[order])
    assert permuted_reader.levels == reader.levels


def test_values_of_several_types_have_an_order_that_rows_do_not_decide():
    column = np.array([["b"], [2], ["a"], [1.5], [("t", 1)]], dtype=object)
    first, backwards = Reader.fit(column)[0], Reader.fit(column[::-1])[0]
    assert first.levels == backwards.levels
    assert len(first.levels[0]) == 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_floats_are_not_copied(dtype):
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(5, 3)).astype(dtype))
    reader, values = Reader.fit(X)
    assert values is X
    assert reader.read(X) is X
    assert reader.names == ("x0", "x1", "x2")


def test_a_table_of_float32_stays_one():
    X = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    frame = pd.DataFrame(X, columns=list("abc"))
    assert Reader.fit(frame)[1].dtype == np.float32
    assert Reader.fit(frame.astype("Float32"))[1].dtype == np.float32
    assert Reader.fit(frame.assign(a=np.arange(5)))[1].dtype == np.float64


def test_boolean_arrays_hold_flags():
    reader, values = Reader.fit(np.array([[True, False], [False, False]]))
    assert [kind.name for kind in reader.kinds] == ["flag", "flag"]
    np.testing.assert_array_equal(values, [[1, 0], [0, 0]])


def test_ordered_categories_are_numbers_in_their_order():
    sizes = pd.Categorical(["L", "S", None], categories=["S", "M", "L"], ordered=True)
    reader, values = Reader.fit(pd.DataFrame({"size": sizes}))
    assert [kind.name for kind in reader.kinds] == ["ordered category"]
    np.testing.assert_array_equal(values[:, 0], [2, 0, np.nan])
    np.testing.assert_array_equal(reader.read([["M"], [None]])[:, 0], [1, np.nan])


def test_an_enum_of_polars_is_an_ordered_category():
    pl = pytest.importorskip("polars")
    sizes = pl.Series(["L", "S", None], dtype=pl.Enum(["S", "M", "L"]))
    reader, values = Reader.fit(pl.DataFrame({"size": sizes}))
    assert [kind.name for kind in reader.kinds] == ["ordered category"]
    np.testing.assert_array_equal(values[:, 0], [2, 0, np.nan])


def test_categories_keep_their_order_and_unseen_ones_are_no_levels():
    colour = pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"])
    reader, values = Reader.fit(pd.DataFrame({"colour": colour}))
    assert reader.levels == (("b", "a"),)
    np.testing.assert_array_equal(values[:, 0], [0, 1, 0])
    later = pd.DataFrame({"colour": pd.Categorical(["c", "a"], categories=["c", "b", "a"])})
    np.testing.assert_array_equal(reader.read(later)[:, 0], [2, 1])


def test_intervals_of_a_cut_are_ordered():
    _, values = Reader.fit(pd.DataFrame({"age": pd.cut(pd.Series([1.0, 5.0, 9.0]), 3)}))
    np.testing.assert_array_equal(values[:, 0], [0, 1, 2])


@pytest.mark.parametrize(
    "dates",
    [
        pd.Series(pd.date_range("2021", periods=3)),
        pd.Series(pd.date_range("2021", periods=3, tz="UTC")),
        pd.Series(pd.date_range("2021", periods=3).to_period("M")),
        pd.Series(pd.to_timedelta([1, 2, 3], "D")),
        pd.Series([datetime.date(2021, 1, 3), None, datetime.date(2021, 1, 4)]),
        pd.Series([datetime.time(10), datetime.time(11), None]),
    ],
    ids=["datetime", "zone", "period", "timedelta", "date objects", "time objects"],
)
def test_dates_of_every_type_are_refused(dates):
    with pytest.raises(ValueError, match="Column 'day' holds dates or times"):
        Reader.fit(pd.DataFrame({"dose": [1, 2, 3], "day": dates}))


@pytest.mark.parametrize("unit", ["date32", "time64", "timestamp", "duration"])
def test_arrow_dates_are_refused(unit):
    pa = pytest.importorskip("pyarrow")
    is_day = unit == "date32"
    numbers = pa.array([1, 2], pa.int32() if is_day else pa.int64())
    dates = numbers.cast(pa.date32() if is_day else getattr(pa, unit)("us"))
    column = pd.Series(pd.arrays.ArrowExtensionArray(dates))
    with pytest.raises(ValueError, match="Column 'day' holds dates or times"):
        Reader.fit(pd.DataFrame({"day": column}))


@pytest.mark.parametrize("type_name", ["Date", "Datetime", "Time", "Duration"])
def test_polars_dates_are_refused(type_name):
    pl = pytest.importorskip("polars")
    column = pl.Series([1, 2]).cast(pl.Int32 if type_name == "Date" else pl.Int64)
    with pytest.raises(ValueError, match="Column 'day' holds dates or times"):
        Reader.fit(pl.DataFrame({"day": column.cast(getattr(pl, type_name))}))


def test_arrays_of_dates_are_refused():
    with pytest.raises(ValueError, match=r"Column 'x0' holds dates or times \(datetime64\[D\]\)"):
        Reader.fit(np.array([["2021-01-03"], ["2021-01-04"]], dtype="datetime64[D]"))


def test_a_lazy_frame_is_refused():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match=r"Call X\.collect\(\) first"):
        Reader.fit(pl.DataFrame({"a": [1]}).lazy())


def test_names_that_are_not_text_give_way_to_numbers():
    assert Reader.fit(pd.DataFrame([[1, 2]], columns=[7, 7]))[0].names == ("x0", "x1")


def test_no_columns_and_no_rows():
    assert Reader.fit(pd.DataFrame(index=range(3)))[1].shape == (3, 0)
    assert Reader.fit(pd.DataFrame({"a": [], "b": []}))[1].shape == (0, 2)


def test_names_of_an_arrow_table_are_kept():
    pa = pytest.importorskip("pyarrow")
    X = pa.table({"a": [0.0, 0.1, 1.0, 1.1], "b": ["u", "v", "u", "v"]})
    model = Relief(n_features_to_select=1).fit(X, [0, 0, 1, 1])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert model.get_feature_names_out().tolist() == ["a"]
    np.testing.assert_array_equal(model.transform(X)[:, 0], [0.0, 0.1, 1.0, 1.1])


def test_a_frame_of_an_unknown_library_is_refused_by_name():
    class Frame:
        def __dataframe__(self):
            raise NotImplementedError

    with pytest.raises(TypeError, match=r"X is a Frame of .*to_pandas"):
        Reader.fit(Frame())


def test_masked_values_are_missing():
    """What lies below a mask is no value; NumPy's conversions would bring it back."""
    numbers = np.array([[1.0, 2.0], [3.0, 999.0], [5.0, 6.0]])
    known = np.where(numbers == 999.0, np.nan, numbers)
    for dtype in (np.float64, np.int64, object):
        masked = np.ma.masked_equal(numbers.astype(dtype), 999)
        np.testing.assert_array_equal(Reader.fit(masked)[1], known)
    single = np.ma.masked_equal(numbers.astype(np.float32), 999)
    assert Reader.fit(single)[1].dtype == np.float32
    names = np.ma.masked_equal(np.array([["a"], ["b"], ["?"]]), "?")
    reader, values = Reader.fit(names)
    assert reader.levels == (("a", "b"),)
    np.testing.assert_array_equal(values, [[0], [1], [np.nan]])


@pytest.mark.parametrize("as_", ["pandas", "Int64", "polars", "array", "objects", "listed"])
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(as_):
    numbers = [2**53, 2**53 + 1, 2**53]
    frame = pd.DataFrame({"id": numbers})
    X = {
        "Int64": frame.astype("Int64"),
        "array": frame.to_numpy(),
        "objects": frame.astype(object),
    }.get(as_, frame)
    if as_ == "polars":
        X = pytest.importorskip("polars").DataFrame({"id": numbers})
    with pytest.raises(ValueError, match=r"holds 9007199254740992 and 9007199254740993, which"):
        Reader.fit(X, [0] if as_ == "listed" else "from_dtype")


def test_large_whole_numbers_that_stay_apart_are_numbers():
    nanoseconds = 1_700_000_000_000_000_000 + 10**9 * np.arange(5)
    for X in (pd.DataFrame({"t": nanoseconds}), nanoseconds[:, None]):
        np.testing.assert_array_equal(Reader.fit(X)[1][:, 0], nanoseconds)
