"""What somebody types or gives in the first hour, and what helps on."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from cli.tables import csv_text, xor_table

GOOD = csv_text(xor_table())
BELOW = (
    "'outcome' stands in a lower row, but the first row is to hold the names of the columns: "
    "delete the rows above them in the file."
)


def said(ended) -> str:
    """The one line of an error."""
    return ended.err.splitlines()[-1]


def test_a_title_above_the_names_in_a_sheet_is_recognised(run, tmp_path):
    rows = [["Export of March", *[None] * 3], [None] * 4, [None, "Given", "", ""]]
    table = xor_table()
    sheet = pd.DataFrame([*rows, table.columns.tolist(), *table.astype(object).values.tolist()])
    sheet.to_excel(tmp_path / "t.xlsx", header=False, index=False)
    assert BELOW in said(run("test", "t.xlsx", "--target", "outcome"))


@pytest.mark.parametrize("title", ["Export,,,\n", "Export,,,\n,,,\nunit,,mg,\n"])
def test_a_title_above_the_names_in_a_text_file_is_recognised(title, run, tmp_path):
    (tmp_path / "t.csv").write_text(title + GOOD)
    assert BELOW in said(run("test", "t.csv", "--target", "outcome"))


def test_a_title_of_one_cell_is_recognised(run, tmp_path):
    (tmp_path / "t.csv").write_text("Export of March\n" + GOOD)
    assert said(run("test", "t.csv", "--target", "outcome")) == (
        "immigrate: t.csv: line 2 has 4 cells, but the first line has 1. Delete a title above the "
        "names of the columns, or say what stands between cells: --delimiter"
    )


def test_a_table_of_one_column_asks_for_the_delimiter(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace(",", "~"))
    assert said(run("test", "t.csv", "--target", "outcome")).startswith(
        "immigrate: --target names 'outcome', which is no column. All was read as one column: "
    )


@pytest.mark.parametrize("corner", ["gene", ""])
def test_a_table_that_lies_on_its_side_is_recognised(corner, run, tmp_path):
    xor_table(6).T.to_csv(tmp_path / "t.csv", index_label=corner)
    assert (
        "'outcome' is the name of a row, but a row is to be a sample and a column a feature: "
        "transpose the table in the file."
    ) in said(run("test", "t.csv", "--target", "outcome"))


def test_a_value_of_the_target_is_no_column(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    assert "which is no column. 'ill' is a value of column 'outcome'. Columns: " in said(
        run("report", "t.csv", "--target", "ill")
    )


@pytest.mark.parametrize("command", ["report", "test", "compare"])
def test_the_example_of_a_target_is_one_of_the_command(command, run):
    assert said(run(command, "t.csv")).endswith(
        f"as in: immigrate {command} t.csv --target outcome"
    )


@pytest.mark.parametrize(
    ("typed", "needed"), [((), "--target"), (("--target", "outcome"), "--out")]
)
def test_fit_says_what_is_to_be_typed(typed, needed, run):
    ended = run("fit", "t.csv", *typed)
    assert ended.code == 2
    assert f"Say so with {needed}, as in: " in said(ended)
    assert said(ended).endswith("immigrate fit t.csv --target outcome --out t.model")


def test_a_column_that_the_model_left_out_may_be_absent(run, tmp_path):
    table = xor_table()
    table.insert(0, "patient", [f"P{i}" for i in range(len(table))])
    table["visit"] = pd.date_range("2024-01-01", periods=len(table)).astype(str)
    (tmp_path / "t.csv").write_text(csv_text(table))
    (tmp_path / "new.csv").write_text(csv_text(table.drop(columns=["patient", "visit"])))
    assert run("fit", "t.csv", "--target", "outcome", "--out", "m.model").code == 0
    with_all, without = run("predict", "m.model", "t.csv"), run("predict", "m.model", "new.csv")
    assert (with_all.code, without.code) == (0, 0)
    assert with_all.out == without.out


def test_a_page_under_the_name_of_another_format_is_said(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    ended = run("report", "t.csv", "--target", "outcome", "--out", "page.pdf")
    assert ended.code == 0
    assert (
        "note: page.pdf will hold a web page, whatever its name says; call it page.html.\n"
    ) in ended.err


def test_python_runs_it_as_a_module():
    ended = subprocess.run(
        [sys.executable, "-m", "immigrate", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.startswith("immigrate ")
