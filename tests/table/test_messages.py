"""Every word about a column, exactly: what came, what was expected, what to do."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from immigrate.table import (
    ColumnWarning,
    Note,
    Reader,
    Reason,
    column_notes,
    left_out,
    messages,
    read_training_table,
)

N = 24
Y = np.arange(N) % 2
DOSE = np.random.default_rng(0).permutation(N) / 4


def table(**columns):
    return pd.DataFrame({"dose": DOSE, **columns})


ERRORS = {
    "dates": (
        table(day=pd.date_range("2021", periods=N, unit="ns")),
        {},
        "Column 'day' holds dates or times (datetime64[ns]); a feature is a number or a category. "
        "Turn it into a number, such as days since a start, or into a category, such as the "
        "month; or drop it.",
    ),
    "infinity": (
        table(ratio=np.where(np.arange(N) % 10 == 3, np.inf, DOSE)),
        {},
        "Column 'ratio' holds infinity in 3 rows, first in row 3; a finite number was expected. "
        "Replace it by NaN if the value is not known, or by a limit.",
    ),
    "infinity in an array": (
        np.column_stack([DOSE, np.where(np.arange(N) == 5, -np.inf, np.nan)]),
        {},
        "Column 'x1' holds infinity in row 5; a finite number was expected. Replace it by NaN if "
        "the value is not known, or by a limit.",
    ),
    "gaps": (
        table(lab=np.where(np.arange(N) < 2, np.nan, DOSE)),
        {"allow_nan": False},
        "Column 'lab' holds NaN in 2 rows, first in row 0, and BaseEstimator takes no missing "
        "values. Fill them first, or drop the rows or the column.",
    ),
    "text that is not listed": (
        table(site=["A", "B"] * (N // 2)),
        {"categorical_features": None},
        "Column 'site' holds categories, but categorical_features leaves it out. Add it, or use "
        "categorical_features='from_dtype'.",
    ),
    "lists": (
        table(codes=[[1]] * N),
        {},
        "Column 'codes' holds a list in row 0, [1]; every value of the argument must be a string "
        "or a number. Unpack it into columns of its own, or drop the column.",
    ),
    "complex": (
        table(wave=DOSE * 1j),
        {},
        "Complex data not supported: column 'wave' holds complex numbers. Give their real and "
        "imaginary parts as two columns.",
    ),
    "complex objects": (
        table(wave=pd.Series([1j] * N, dtype=object)),
        {},
        "Complex data not supported: column 'wave' holds complex numbers. Give their real and "
        "imaginary parts as two columns.",
    ),
    "whole numbers that floats cannot tell apart": (
        table(id=2**60 + np.arange(N)),
        {},
        "Column 'id' holds 1152921504606846976 and 1152921504606846977, which are one number "
        "where 15 digits are kept, as they are here. If they are names, turn them into text; if "
        "they are measured, subtract a common start.",
    ),
    "unknown name": (
        table(site="A"),
        {"categorical_features": ["sight"]},
        "categorical_features names 'sight', but the columns of X are 'dose', 'site'. Did you "
        "mean 'site'? Use one of these names, indices or a mask.",
    ),
    "index": (
        table(),
        {"categorical_features": [1]},
        "categorical_features has index 1, but X has 1 features. Count from 0.",
    ),
    "mask": (
        table(),
        {"categorical_features": [True, False]},
        "categorical_features is a mask of 2 entries, but X has 1 features. Give one entry per "
        "feature.",
    ),
    "unknown word": (
        table(),
        {"categorical_features": "auto"},
        "categorical_features='auto' is not understood; give column names, indices or a mask, "
        "'from_dtype' (text and category columns), or None (no column).",
    ),
    "unknown item": (
        table(),
        {"categorical_features": [0.5]},
        "categorical_features=0.5 is not understood; give column names, indices or a mask, "
        "'from_dtype' (text and category columns), or None (no column).",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_say_what_came_and_what_to_do(case):
    X, options, message = ERRORS[case]
    with pytest.raises((ValueError, TypeError)) as caught:
        read_training_table(BaseEstimator(), X, Y, **options)
    assert str(caught.value) == message


WARNINGS = {
    "identifier": (
        table(id=[f"P{i}" for i in range(N)]),
        {},
        "Column 'id' (24 levels in 24 rows): fewer than two rows per level, as an identifier has. "
        "Left out of the model, with weight 0; drop it, or declare it categorical "
        "if its levels come back in new rows.",
    ),
    "listed identifier": (
        table(id=[f"P{i}" for i in range(N)]),
        {"categorical_features": ["id"]},
        "Column 'id' (24 levels in 24 rows): fewer than two rows per level, as an identifier has. "
        "Kept because it is declared categorical; drop it unless its levels come back in new "
        "rows.",
    ),
    "dates as text": (
        table(day=[f"0{1 + i % 3}.01.2021" for i in range(N)]),
        {},
        "Column 'day' (such as '01.01.2021'): dates written as text. Left out of the model, with "
        "weight 0; to use them, turn them into numbers, such as days since a start, or into "
        "categories, such as the month.",
    ),
    "numbers as text": (
        table(age=[f"{40 + i},5" for i in range(N)]),
        {},
        "Column 'age' (such as '40,5'): numbers written as text. Left out of the model, with "
        "weight 0; to use them, turn every cell into a number, or into a missing "
        "value where it holds none.",
    ),
    "all missing": (
        table(lost=np.nan, gone=pd.Series([None] * N, dtype=object)),
        {},
        "Columns 'lost', 'gone': no known value. Left out of the model, with weight 0; drop it.",
    ),
    "constant": (
        table(study="CARE", year=2021),
        {},
        "Columns 'study' (always 'CARE'), 'year' (always 2021): constant, and so no help in "
        "telling samples apart; drop it.",
    ),
    "copy": (
        table(again=DOSE),
        {},
        "Column 'again' (the same as 'dose'): the values of an earlier column, with which it "
        "shares the weight; drop one of them.",
    ),
    "same name": (
        pd.DataFrame(np.column_stack([DOSE, DOSE[::-1]]), columns=["lab", "lab"]),
        {},
        "Column 'lab.1' (position 1, named 'lab' as position 0): renamed, as pandas.read_csv "
        "does, because two columns have one name; give each column a name of its own.",
    ),
}


@pytest.mark.parametrize("case", WARNINGS)
def test_warnings_name_the_column_and_point_here(case):
    X, options, message = WARNINGS[case]
    with pytest.warns(ColumnWarning) as caught:
        read_training_table(BaseEstimator(), X, Y, **options)
    assert [str(one.message) for one in caught] == [message]
    assert caught[0].filename == __file__


QUIET = {
    "few rows": pd.DataFrame({"site": list("abcdefghij"), "dose": np.arange(10)}),
    "two rows per level": table(site=[f"S{i // 2}" for i in range(N)]),
    "one value or a gap": table(flag=[1.0, np.nan] * (N // 2)),
    "one name or a gap": table(flag=["yes", None] * (N // 2)),
    "codes as text": table(ward=[str(100 + i % 8) for i in range(N)]),
    "dates as categories": table(day=pd.Categorical(["03.01.2021", "04.01.2021"] * (N // 2))),
    "nominal and number alike": table(a=[0, 1] * (N // 2), b=["x", "y"] * (N // 2)),
    "unique numbers": table(number=np.arange(N)),
}


@pytest.mark.parametrize("case", QUIET)
def test_good_columns_raise_no_word(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        X = QUIET[case]
        table = read_training_table(BaseEstimator(), X, Y[: len(X)])
    assert table.reader.is_used.all()


@pytest.mark.parametrize(
    ("n_rows", "n_levels", "is_identifier"),
    [(10, 10, False), (11, 11, True), (40, 20, False), (40, 21, True)],
)
def test_an_identifier_has_more_than_ten_levels_and_fewer_than_two_rows_each(
    n_rows, n_levels, is_identifier
):
    levels = [f"P{i % n_levels}" for i in range(n_rows)]
    frame = pd.DataFrame({"id": levels, "dose": np.arange(n_rows)})
    gaps = pd.concat([frame, frame.iloc[:9].assign(id=None)])  # gaps are no rows of a level
    for X in (frame, gaps.reset_index(drop=True)):
        assert ("IDENTIFIER" in [note.reason.name for note in left_out(X)]) is is_identifier


def test_long_lists_are_cut():
    notes = [Note(j, f"g{j}", Reason.CONSTANT) for j in range(8)]
    assert [*messages(notes)] == [
        "Columns 'g0', 'g1', 'g2', 'g3', 'g4' and 3 more: constant, and so no help in telling "
        "samples apart; drop it."
    ]


def test_copies_are_found_in_wide_tables_and_those_that_differ_late_are_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(60, 200)).astype(float)
    X[:, 150] = X[:, 20]
    X[:, 160] = X[:, 20]
    X[-1, 160] = 1 - X[-1, 20]
    X[:, 170] = np.where(X[:, 30] == 0, -0.0, X[:, 30])
    reader, _ = Reader.fit(X)
    assert [(note.column, note.detail) for note in reader.notes] == [
        (150, "the same as 'x20'"),
        (170, "the same as 'x30'"),
    ]


def test_left_out_lists_what_can_be_no_feature_in_order():
    X = table(
        id=[f"P{i}" for i in range(N)],
        day=pd.date_range("2021", periods=N),
        study="CARE",
        again=DOSE,
        lost=np.nan,
    )
    assert [(note.column, note.reason) for note in left_out(X)] == [
        (1, Reason.IDENTIFIER),
        (2, Reason.DATES),
        (3, Reason.CONSTANT),
        (5, Reason.ALL_MISSING),
    ]
    assert Reason.COPY in [note.reason for note in column_notes(X)]
    mask = np.array([False, True, False, True, False, False])
    assert (1, Reason.IDENTIFIER) not in [(n.column, n.reason) for n in left_out(X, mask)]


@pytest.mark.parametrize(
    ("fitted", "later", "message"),
    [
        (
            {"dose": [1.0, 2.0]},
            {"dose": ["1", "high"]},
            "Column 'dose' held numbers in fit and holds '1' in row 0 now. Give numbers, or NaN "
            "where a value is missing.",
        ),
        (
            {"site": ["a", "b"]},
            {"site": [1, 2]},
            "Column 'site' held names such as 'a' in fit and holds numbers such as 1.0 now. Give "
            "it in the form that it had in fit.",
        ),
        (
            {"site": pd.Categorical([1, 2])},
            {"site": ["1", "2"]},
            "Column 'site' held numbers such as 1 in fit and holds names such as '1' now. Give it "
            "in the form that it had in fit.",
        ),
        (
            {"site": ["a", "b"]},
            {"site": [b"a", b"b"]},
            "Column 'site' held names such as 'a' in fit and holds bytes such as b'a' now. Give "
            "it in the form that it had in fit.",
        ),
        (
            {"stage": pd.Categorical(["I", "II"], ordered=True)},
            {"stage": [0, 1]},
            "Column 'stage' held names such as 'I' in fit and holds numbers such as 0.0 now. Give "
            "it in the form that it had in fit.",
        ),
        (
            {"site": ["a", "b"]},
            {"site": ["a"], "more": [1]},
            "X has 2 columns, but 1 were expected, as in fit. Give the columns of the table of "
            "fit.",
        ),
    ],
)
def test_tables_that_changed_since_fit_are_refused(fitted, later, message):
    reader, _ = Reader.fit(pd.DataFrame(fitted))
    with pytest.raises(ValueError) as caught:
        reader.read(pd.DataFrame(later))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("X", "what"),
    [
        ([1.0, 2.0], "an array of shape (2,) and type float64"),
        (np.ones((1, 2), dtype=complex), "an array of shape (1, 2) and type complex128"),
    ],
)
def test_what_is_no_table_is_refused(X, what):
    with pytest.raises(ValueError) as caught:
        Reader.fit(X)
    assert str(caught.value) == (
        f"A table of rows and columns was expected, got {what}. Give a data frame or an array of "
        "two dimensions."
    )


TO_FRAME = (
    "X is one column, a Series of {}; a table of rows and columns was expected. The table comes "
    "first and the label second, fit(X, y). A table of one column is X.to_frame(); for one row, "
    "give a table of one row."
)
NO_TABLES = {
    "column": (table()["dose"], ValueError, TO_FRAME.format("pandas")),
    "row": (table(site="A").iloc[0], ValueError, TO_FRAME.format("pandas")),
    "file": (
        "table.csv",
        TypeError,
        "X is 'table.csv', a text; a table was expected. If it names a file, read it first, for "
        "example with pandas.read_csv.",
    ),
    "dictionary": (
        {"dose": DOSE},
        TypeError,
        "X is a dict; a table was expected. Turn it into one with pandas.DataFrame(X).",
    ),
    "dictionaries": (
        [{"dose": 1}, {"dose": 2}],
        TypeError,
        "X is a list of dictionaries; a table was expected. Turn it into one with "
        "pandas.DataFrame(X).",
    ),
    "records": (
        table().to_records(),
        TypeError,
        "X is a structured array; a table was expected. Turn it into one with "
        "pandas.DataFrame(X).",
    ),
    "generator": (
        (row for row in [[1], [2]]),
        TypeError,
        "X is a generator, which can be read only once; a table was expected. Give list(X).",
    ),
}


@pytest.mark.parametrize("case", NO_TABLES)
def test_what_is_given_in_place_of_a_table_by_mistake_is_named(case):
    X, error, message = NO_TABLES[case]
    with pytest.raises(error) as caught:
        read_training_table(BaseEstimator(), X, Y)
    assert str(caught.value) == message


def test_a_column_of_polars_or_arrow_is_no_table():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for column in (polars.Series(DOSE), pyarrow.chunked_array([DOSE])):
        with pytest.raises(ValueError, match=r"^X is one column, .*A table of one column"):
            read_training_table(BaseEstimator(), column, Y)
