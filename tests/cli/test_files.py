"""Every format gives the table that it holds, or a question; never another number."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from cli.tables import csv_text, xor_table

from immigrate.cli.ending import CommandError
from immigrate.cli.files import Reading, read_file
from immigrate.cli.tables import whole
from immigrate.cli.text import Cells

TABLE = xor_table().assign(
    flag=[True, False] * 40, count=range(80), gap=[None, 1.5, 2.25, 1.125] * 20
)
TEXT = csv_text(TABLE)


def read(tmp_path, content, name="t.csv", **reading):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(path, Reading(**reading))


def assert_same(frame, expected):
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False, check_column_type=False)
    kinds = [frame[name].dtype.kind for name in ("dose", "flag", "count", "gap")]
    assert kinds == ["f", "b", "i", "f"]


TEXTS = {
    "commas": (TEXT.encode(), "read t: 80 rows, 7 columns; UTF-8, commas, decimal points"),
    "tabs": (
        csv_text(TABLE, sep="\t").encode(),
        "read t: 80 rows, 7 columns; UTF-8, tabs, decimal points",
    ),
    "semicolons": (
        csv_text(TABLE, sep=";", decimal=",").encode(),
        "read t: 80 rows, 7 columns; UTF-8, semicolons, decimal commas",
    ),
    "semicolons and points": (
        csv_text(TABLE, sep=";").encode(),
        "read t: 80 rows, 7 columns; UTF-8, semicolons, decimal points",
    ),
    "bars": (
        csv_text(TABLE, sep="|").encode(),
        "read t: 80 rows, 7 columns; UTF-8, bars, decimal points",
    ),
    "tabs and decimal commas": (
        csv_text(TABLE, sep="\t", decimal=",").encode(),
        "read t: 80 rows, 7 columns; UTF-8, tabs, decimal commas",
    ),
    "gzip": (
        gzip.compress(TEXT.encode()),
        "read t: 80 rows, 7 columns; gzip, UTF-8, commas, decimal points",
    ),
    "UTF-8 with a mark": (
        TEXT.encode("utf-8-sig"),
        "read t: 80 rows, 7 columns; UTF-8, commas, decimal points",
    ),
    "UTF-16": (
        TEXT.encode("utf-16"),
        "read t: 80 rows, 7 columns; UTF-16, commas, decimal points",
    ),
    "line ends of Windows": (
        TEXT.replace("\n", "\r\n").encode(),
        "read t: 80 rows, 7 columns; UTF-8, commas, decimal points",
    ),
    "old line ends": (
        TEXT.replace("\n", "\r").encode(),
        "read t: 80 rows, 7 columns; UTF-8, commas, decimal points",
    ),
    "all quoted": (
        csv_text(TABLE, quoting=1).encode(),
        "read t: 80 rows, 7 columns; UTF-8, commas, decimal points",
    ),
}


@pytest.mark.parametrize("form", TEXTS)
def test_a_text_file_gives_its_table_and_says_what_was_guessed(form, tmp_path):
    content, said = TEXTS[form]
    found = read(tmp_path, content, "t")
    assert_same(found.frame, TABLE)
    assert found.said == said
    assert found.notes == ()


@pytest.mark.parametrize("form", ["parquet", "feather", "xlsx"])
def test_a_typed_file_gives_its_table(form, tmp_path):
    path = tmp_path / f"t.{form}"
    if form == "xlsx":
        TABLE.to_excel(path, index=False)
    else:
        getattr(TABLE, f"to_{form}")(path)
    found = read_file(path, Reading())
    assert_same(found.frame, TABLE)
    words = {"parquet": "Parquet", "feather": "Feather", "xlsx": "Excel, sheet 'Sheet1'"}
    assert found.said == f"read {path.name}: 80 rows, 7 columns; {words[form]}"


def test_the_sheet_can_be_chosen(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": ["1,5", "2,5"], "when": pd.to_datetime(["2021", "2022"])}).to_excel(
            book, sheet_name="first", index=False
        )
        TABLE.to_excel(book, sheet_name="second", index=False, startrow=2, startcol=1)
    first = read_file(path, Reading())
    assert first.guessed == ("Excel, sheet 'first' of 2",)
    assert first.frame["a"].tolist() == [1.5, 2.5]
    assert first.frame["when"].dtype.kind == "M"
    assert_same(read_file(path, Reading(sheet="second")).frame, TABLE)
    with pytest.raises(CommandError, match=r"no sheet 'secnd'\. Did you mean 'second'\? Sheets:"):
        read_file(path, Reading(sheet="secnd"))


@pytest.mark.parametrize(
    ("start", "what"), [(b"PAR1", "Parquet"), (b"ARROW1", "Feather"), (b"PK\x03\x04", "Excel")]
)
def test_a_damaged_typed_file_is_named(start, what, tmp_path):
    with pytest.raises(CommandError, match=f"^t.csv is no {what} file that can be read \\("):
        read(tmp_path, start + bytes(100))


def test_western_text_is_guessed_and_said(tmp_path):
    found = read(tmp_path, "Ort,n\nZürich,1\nSão Paulo,2\n".encode("cp1252"))
    assert found.frame["Ort"].tolist() == ["Zürich", "São Paulo"]
    assert found.guessed[0] == "CP1252"
    assert found.notes == (
        "t.csv is not UTF-8; it was read as cp1252. If letters are wrong, give --encoding.",
    )


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2", "-3"], [1, 2, -3]),
        (["1.5", "2", ""], [1.5, 2.0, None]),
        (["1,5", "2", "NA"], [1.5, 2.0, None]),
        (["0,222", "1,111"], [0.222, 1.111]),
        (["1,234", "1,234,567"], [1234, 1234567]),
        (["1.234", "1.234.567"], [1234, 1234567]),
        (["1.234,5", "12"], [1234.5, 12]),
        (["1,234.5", "12"], [1234.5, 12]),
        (["1 234,5", "12"], [1234.5, 12]),
        (["1'234", "12'000"], [1234, 12000]),
        (["1\N{NO-BREAK SPACE}234", "5"], [1234, 5]),
        (["1e3", "2.5E-2"], [1000.0, 0.025]),
        (["?", "1"], [None, 1.0]),
        (["#DIV/0!", "1"], [None, 1.0]),
    ],
)
def test_numbers_are_what_their_cells_mean(cells, values):
    found = Cells().column("x", cells)
    assert found.dtype.kind in "if"
    assert [None if np.isnan(one) else one for one in found] == values


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5", "2,5"],
        ["12,34", "12.345,6.7"],
        ["007", "008"],
        ["1,23,456", "1"],
        ["5 %", "6 %"],
        ["3.2.1", "3.2.2"],
        ["03.01.2021", "04.01.2021"],
        ["<0.5", "0.7"],
        ["1_000", "2"],
        ["0x10", "1"],
        ["12 34", "5"],
        ["٣", "4a"],
        ["1,5,", "2"],
    ],
)
def test_what_is_no_number_stays_text(cells):
    assert Cells(decimal=".").column("x", cells).tolist() == cells


def test_a_doubtful_column_is_decided_by_the_others():
    cells = Cells()
    frame = cells.frame(["doubt", "clear"], [["1,234", "5,678"], ["0,5", "1,5"]])
    assert frame["doubt"].tolist() == [1.234, 5.678]
    cells = Cells()
    frame = cells.frame(["doubt", "clear"], [["1,234", "5,678"], ["0.5", "1.5"]])
    assert frame["doubt"].tolist() == [1234, 5678]
    assert cells.notes == ["column 'doubt' has thousands separators: 1,234 is 1234."]


@pytest.mark.parametrize(("decimal", "values"), [(",", [1.234, 5.678]), (".", [1234, 5678])])
def test_the_user_decides_where_the_file_does_not(decimal, values, tmp_path):
    found = read(tmp_path, "x;y\n1,234;a\n5,678;b\n", decimal=decimal)
    assert found.frame["x"].tolist() == values


def test_three_decimals_between_commas_or_tabs_are_decimals(tmp_path):
    for delimiter in ",\t|":
        text = f"x{delimiter}y\n1.234{delimiter}a\n5.678{delimiter}b\n"
        assert read(tmp_path, text).frame["x"].tolist() == [1.234, 5.678]


def test_names_that_repeat_or_are_blank_are_said(tmp_path):
    found = read(tmp_path, "lab,,lab,age,lab.1\n1,2,3,4,5\n6,7,8,9,10\n")
    assert list(found.frame) == ["lab", "column 2", "lab.2", "age", "lab.1"]
    assert found.notes == (
        "columns without a name are called 'column 2'.",
        "column 3 is a second 'lab'; it is called 'lab.2'.",
    )


def test_row_numbers_in_front_are_left_out_and_delimiters_behind_forgotten(tmp_path):
    found = read(tmp_path, ",a,b,\n0,5,6,\n1,7,8,\n")
    assert list(found.frame) == ["a", "b"]
    assert found.notes == ("the first column has no name and counts the rows; it is left out.",)


def test_marks_for_missing_values_can_be_added(tmp_path):
    text = "x,y\n1.5,a\nn.d.,b\n2.5,?\n"
    assert read(tmp_path, text).frame["x"].tolist() == ["1.5", "n.d.", "2.5"]
    frame = read(tmp_path, text, missing=("n.d.",)).frame
    assert frame["x"].isna().tolist() == [False, True, False]
    assert frame["x"].dtype.kind == "f"
    assert frame["y"].isna().tolist() == [False, False, True]


def test_a_cell_may_hold_the_delimiter_and_line_breaks(tmp_path):
    found = read(tmp_path, 'x,"y, long"\n1,"a, b\nc"\n2,"say ""hi"""\n')
    assert found.frame["y, long"].tolist() == ["a, b\nc", 'say "hi"']


def test_columns_that_are_names_stay_text(tmp_path):
    frame = read(tmp_path, "x,y\n01.50,a\n2,b\n", as_text=frozenset(["x"])).frame
    assert frame["x"].tolist() == ["01.50", "2"]


@pytest.mark.parametrize(
    "cells",
    [
        [str(10**18 + k) for k in range(4)],
        [str(10**20 + k) for k in range(4)],
        [str(-(10**18) - k) for k in range(4)],
        ["1000000000000000001", "1000000000000000002", "", "5"],
    ],
)
def test_whole_numbers_that_floats_cannot_tell_apart_are_names(cells):
    read_cells = Cells()
    assert read_cells.column("id", cells).tolist() == [cell or None for cell in cells]
    (note,) = read_cells.notes
    assert note.startswith("column 'id' has whole numbers that differ only after the 15 digits")


def test_long_whole_numbers_that_stay_apart_are_numbers():
    cells = [str(1_700_000_000_000_000_000 + 10**9 * k) for k in range(4)]
    read_cells = Cells()
    assert read_cells.column("t", cells).tolist() == [int(cell) for cell in cells]
    assert read_cells.notes == []


def test_a_target_with_gaps_keeps_numbers_that_are_no_whole_ones():
    """A cast to whole numbers made one number of all that are too large for one."""
    for values in ([1e20, 2e20], [np.inf, 1.0], [0.5, 1.0]):
        assert whole(pd.Series(values)).tolist() == values
    assert whole(pd.Series([0.0, 1.0])).dtype.kind == "i"
