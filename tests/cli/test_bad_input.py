"""What goes wrong is said in one line, with the exit code that the documentation promises."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import zipfile
from typing import NamedTuple

import pytest
from cli.tables import csv_text, xor_table
from sklearn.linear_model import LogisticRegression
from stored_models import FOLDER

from immigrate.persistence import CONTENT, FORMAT

GOOD = csv_text(xor_table())
COLUMNS = "Columns: 'dose', 'age', 'group', 'outcome'."
BINARY = bytes(range(256)) * 4
FORMATS = (
    "Give a CSV, TSV, Excel (.xlsx), Parquet or Feather file, or one of these packed with gzip."
)
REPORT = ("report", "t.csv", "--target", "outcome")
TEST = ("test", "t.csv", "--target", "outcome")
NO_MODEL = (
    "m.model is no model that immigrate fit wrote. The model comes first, then the table: "
    "immigrate predict MODEL TABLE"
)


def zipped(content: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as place:
        place.writestr("t.csv", content)
    return archive.getvalue()


class Case(NamedTuple):
    """What is in t.csv, what is typed, and the one line that is said."""

    content: str | bytes | None
    typed: tuple[str, ...]
    message: str
    code: int = 1


CASES = {
    "missing file": Case(None, REPORT, "there is no file t.csv."),
    "missing file, another near": Case(
        GOOD,
        ("report", "tt.csv", "--target", "outcome"),
        "there is no file tt.csv. Did you mean 't.csv'?",
    ),
    "folder": Case(GOOD, ("report", ".", "--target", "outcome"), ". is a folder; give a file."),
    "empty": Case("", REPORT, "t.csv is empty."),
    "blank lines only": Case("\n\n \n", REPORT, "t.csv is empty."),
    "empty gzip": Case(gzip.compress(b""), REPORT, "t.csv is empty."),
    "cut gzip": Case(
        gzip.compress(GOOD.encode())[:-20],
        REPORT,
        "t.csv cannot be unpacked (Compressed file ended before the end-of-stream marker was "
        "reached); is it complete?",
    ),
    "header only": Case(
        "dose,age,outcome\n", REPORT, "t.csv has names of columns, but no row below them."
    ),
    "binary": Case(BINARY, REPORT, f"t.csv is no table: it holds binary data. {FORMATS}"),
    "standard input": Case(
        None,
        ("report", "-", "--target", "outcome"),
        "there is no file -. To read standard input, give /dev/stdin.",
    ),
    "no jobs": Case(
        GOOD,
        (*TEST, "--jobs", "0"),
        "--jobs must be a whole number such as 2, or -1 for all cores; got 0.",
    ),
    "ZIP": Case(
        zipped(GOOD),
        REPORT,
        "t.csv is a ZIP archive and no Excel file; unpack it, or pack the table with gzip.",
    ),
    "old Excel": Case(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + BINARY,
        REPORT,
        "t.csv is an old Excel file; save it as .xlsx or as CSV.",
    ),
    "wrong encoding": Case(
        GOOD.replace("red", "Zürich").encode("cp1252"),
        (*REPORT, "--encoding", "utf-8"),
        "t.csv: line 2 is not utf-8 (byte 0xfc). Leave --encoding out to have it guessed, or give "
        "another one, such as cp1252.",
    ),
    "unknown encoding": Case(
        GOOD,
        (*REPORT, "--encoding", "utf-9"),
        "'utf-9' is no encoding; usual ones are utf-8, utf-16, cp1252 and latin-1.",
    ),
    "UTF-16 without its mark": Case(
        GOOD.encode("utf-16-le"),
        REPORT,
        "t.csv seems to be UTF-16 without its mark; try --encoding utf-16-le.",
    ),
    "uneven line": Case(
        "dose,age,outcome\n1,2,ill\n1,2,3,well\n",
        REPORT,
        "t.csv: line 3 has 4 cells, but the first line has 3. Mend the line, or say what stands "
        "between cells: --delimiter",
    ),
    "open quote": Case(
        'dose,age,outcome\n1,2,ill\n1,"2,well\n',
        REPORT,
        "t.csv: line 3 cannot be read (unexpected end of data). Is there a quote that is not "
        "closed?",
    ),
    "thousands or decimals": Case(
        'dose;outcome\n"1,234";ill\n"5,678";well\n',
        REPORT,
        "column 'dose' holds 1,234, which may be 1.234 or 1234. Say which mark is the decimal "
        "one: --decimal , or --decimal .",
    ),
    "unknown decimal mark": Case(
        GOOD, (*REPORT, "--decimal", "x"), "--decimal takes . or , ; got 'x'."
    ),
    "unknown target": Case(
        GOOD,
        ("report", "t.csv", "--target", "Outcom"),
        f"--target names 'Outcom', which is no column. Did you mean 'outcome'? {COLUMNS}",
    ),
    "unknown target, none near": Case(
        GOOD,
        ("test", "t.csv", "--target", "zzz"),
        f"--target names 'zzz', which is no column. {COLUMNS}",
    ),
    "unknown column to drop": Case(
        GOOD,
        (*TEST, "--drop", "does"),
        f"--drop names 'does', which is no column. Did you mean 'dose'? {COLUMNS}",
    ),
    "unknown categorical column": Case(
        GOOD,
        (*TEST, "--categorical", "colour"),
        f"--categorical names 'colour', which is no column. {COLUMNS}",
    ),
    "unknown column to adjust for": Case(
        GOOD,
        (*TEST, "--adjust-for", "agee"),
        "--adjust-for names 'agee', which is no column. Did you mean 'age'? Columns: 'dose', "
        "'age', 'group'.",
    ),
    "unknown column to adjust a report for": Case(
        GOOD,
        (*REPORT, "--adjust-for", "agee"),
        "--adjust-for names 'agee', which is no column. Did you mean 'age'? Columns: 'dose', "
        "'age', 'group'.",
    ),
    "unknown pair": Case(
        GOOD,
        (*TEST, "--pairs", "dose:sex"),
        "--pairs names 'sex', which is no column. Columns: 'dose', 'age', 'group'.",
    ),
    "no pair": Case(
        GOOD,
        (*TEST, "--pairs", "dose:age:group"),
        "--pairs takes a feature, or pairs such as age:dose,age:sex; 'dose:age:group' is none.",
    ),
    "one feature": Case(
        "dose,outcome\n1,ill\n2,well\n",
        TEST,
        "'dose' is the only feature, and a pair takes two; immigrate report does without.",
    ),
    "target dropped": Case(
        GOOD, (*TEST, "--drop", "outcome"), "'outcome' is the target and in --drop."
    ),
    "target alone": Case(
        "outcome\nill\nwell\n", TEST, "t.csv has no column beside the target 'outcome'."
    ),
    "target without a value": Case(
        "dose,outcome\n1,\n2,NA\n", TEST, "column 'outcome', the target, has no value in any row."
    ),
    "one class": Case(
        GOOD.replace("well", "ill"),
        REPORT,
        "The target has one class only ('ill'); a margin needs at least 2 classes. Check that the "
        "right column is used as the target.",
    ),
    "class of one row": Case(
        GOOD + "0.5,0.5,red,dead\n",
        ("fit", "t.csv", "--target", "outcome", "--out", "m.model"),
        "Class 'dead' has 1 sample; a nearest hit needs at least 2. Merge rare classes or drop "
        "them.",
    ),
    "names as a number": Case(
        GOOD,
        (*REPORT, "--outcome", "number"),
        "The target holds no numbers, but names; leave --outcome number out.",
    ),
    "output is the input": Case(
        GOOD, (*REPORT, "--out", "./t.csv"), "t.csv is what is read; write to another file."
    ),
    "two outputs, one file": Case(
        GOOD,
        (*TEST, "--csv", "e.csv", "--json", "e.csv"),
        "e.csv is to be written twice; give two names.",
    ),
    "output is a folder": Case(
        GOOD, (*REPORT, "--out", "."), "cannot write .: it is a folder; give the name of a file."
    ),
    "output below a file": Case(
        GOOD,
        (*REPORT, "--out", "t.csv/page.html"),
        "cannot write t.csv/page.html: {folder}/t.csv is a file and no folder.",
    ),
    "too many folds": Case(
        GOOD,
        ("compare", "t.csv", "--target", "outcome", "--folds", "50"),
        "--folds 50 is more than the 38 rows of the smallest class, 'well'; give --folds 38 or "
        "fewer.",
    ),
    "unknown circular column": Case(
        GOOD,
        (*TEST, "--circular", "doze=24"),
        f"--circular names 'doze', which is no column. Did you mean 'dose'? {COLUMNS}",
    ),
    "circular names": Case(
        GOOD,
        (*TEST, "--circular", "group=7"),
        "--circular names 'group', which holds no numbers but cells such as 'red'. Number its "
        "values in the file, such as the days of the week from 0 to 6.",
    ),
    "circular target": Case(
        GOOD,
        (*REPORT, "--circular", "outcome=7"),
        "'outcome' is the target and in --circular.",
    ),
    "circular and categorical": Case(
        GOOD,
        (*REPORT, "--circular", "dose=7", "--categorical", "dose"),
        "'dose' is in --categorical and in --circular.",
    ),
    "circular without a period": Case(
        GOOD,
        (*TEST, "--circular", "dose"),
        "--circular takes a column and its period, such as hour=24; got 'dose'.",
        2,
    ),
    "circular with a period of 0": Case(
        GOOD,
        (*TEST, "--circular", "dose=0"),
        "--circular dose=0: the period is to be a number above 0, such as 24 for hours, 7 for "
        "days of the week or 360 for degrees; got '0'.",
        2,
    ),
    "no target": Case(
        GOOD,
        ("report", "t.csv"),
        "which column is the outcome? Say so with --target, as in: immigrate report t.csv "
        "--target outcome",
        2,
    ),
    "unknown command": Case(
        GOOD, ("zzz", "t.csv"), "No such command 'zzz'. See: immigrate --help", 2
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_said_in_one_line(name, run, tmp_path):
    case = CASES[name]
    if case.content is not None:
        is_text = isinstance(case.content, str)
        (tmp_path / "t.csv").write_bytes(case.content.encode() if is_text else case.content)
    before = sorted(tmp_path.iterdir())
    ended = run(*case.typed)
    *_, last = ended.err.splitlines()
    assert last == f"immigrate: {case.message.format(folder=tmp_path.resolve())}"
    assert "Traceback" not in ended.err
    assert (ended.code, ended.out) == (case.code, "")
    assert sorted(tmp_path.iterdir()) == before


USAGE = {
    "unknown option": ("report", "t.csv", "--tarrget", "outcome"),
    "no table": ("report", "--target", "outcome"),
    "unknown outcome": ("test", "t.csv", "--target", "outcome", "--outcome", "colour"),
    "no number": ("compare", "t.csv", "--target", "outcome", "--folds", "many"),
}


@pytest.mark.parametrize("name", USAGE)
def test_what_is_not_understood_has_one_line_and_code_2(name, run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD)
    ended = run(*USAGE[name])
    # The words before the hint are those of Typer, which change.
    assert ended.err.startswith("immigrate: ")
    assert ended.err.endswith(f" See: immigrate {USAGE[name][0]} --help\n")
    assert ended.err.count("\n") == 1
    assert (ended.code, ended.out) == (2, "")


def test_an_older_file_is_kept_when_a_command_fails(run, tmp_path):
    (tmp_path / "t.csv").write_text(GOOD.replace("well", "ill"))
    (tmp_path / "page.html").write_text("older")
    assert run(*REPORT, "--out", "page.html").code == 1
    assert (tmp_path / "page.html").read_text() == "older"


def test_a_column_without_a_value_is_left_out_and_named(run, tmp_path):
    (tmp_path / "t.csv").write_text(csv_text(xor_table().assign(weight=None)))
    ended = run(*TEST)
    assert ended.code == 0
    assert (
        "note: Column 'weight': no known value. Left out of the model, with weight 0; drop it.\n"
        in (ended.err)
    )


def test_debug_gives_the_trace_before_the_line(run):
    ended = run(*REPORT, "--debug")
    assert ended.err.startswith("Traceback (most recent call last):")
    assert ended.err.endswith("immigrate: there is no file t.csv.\n")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            xor_table().drop(columns="dose").rename(columns={"age": "Age"}),
            "t.csv lacks 2 of the 3 columns of the model: 'dose', 'age'. Did you mean 'Age' for "
            "'age'?",
        ),
        (
            xor_table().drop(columns="group"),
            "t.csv lacks 1 of the 3 columns of the model: 'group'.",
        ),
    ],
)
def test_other_columns_at_predict(frame, message, run, tmp_path, model_file):
    (tmp_path / "t.csv").write_text(csv_text(frame))
    ended = run("predict", model_file, "t.csv", "--out", "p.csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"immigrate: {message}"
    assert not (tmp_path / "p.csv").exists()


def test_text_where_the_model_has_numbers_is_named(run, tmp_path, model_file):
    (tmp_path / "t.csv").write_text(csv_text(xor_table().assign(dose="much")))
    ended = run("predict", model_file, "t.csv")
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("immigrate: ")
    assert "dose" in ended.err.splitlines()[-1]


class Evil:
    """Runs a command when it is unpickled."""

    def __reduce__(self):
        import os

        return os.system, ("touch evil",)


def archive(head: dict, name: str = CONTENT) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr(name, json.dumps({"dict": head}))
    return content.getvalue()


def models(good: bytes) -> dict[str, tuple[bytes, str]]:
    return {
        "no model": (b"dose,age\n1,2\n", NO_MODEL),
        "empty": (b"", NO_MODEL),
        "pickle": (pickle.dumps(Evil()), NO_MODEL),
        "cut": (good[:-100], "m.model is damaged: its end or a part is missing."),
        "of scikit-learn": (
            pickle.dumps(LogisticRegression()),
            NO_MODEL,
        ),
        "zip archive": (
            archive({}, "other.json"),
            NO_MODEL,
        ),
        "unknown type": (
            archive({"format": FORMAT, "library": "0.1.0", "model": {"Fraction": {}}}),
            "m.model holds what no model of this library holds (Fraction); it was not loaded.",
        ),
        "of the first version": (
            (FOLDER / "0.1.0" / "Relief.skops").read_bytes(),
            "m.model was written by immigrate 0.1.0, whose files are not read any more; fit the "
            "model again with immigrate fit.",
        ),
    }


@pytest.mark.parametrize("name", models(b""))
def test_a_foreign_model_is_refused(name, run, tmp_path, model_file, xor_csv):
    content, message = models(model_file.read_bytes())[name]
    (tmp_path / "m.model").write_bytes(content)
    ended = run("predict", "m.model", xor_csv)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1] == f"immigrate: {message}"
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_a_flipped_byte_is_refused_or_changes_nothing(place, run, tmp_path, model_file, xor_csv):
    content = bytearray(model_file.read_bytes())
    content[int(place * len(content))] ^= 0xFF
    (tmp_path / "m.model").write_bytes(content)
    ended = run("predict", "m.model", xor_csv)
    if ended.code == 0:
        assert ended.out == run("predict", model_file, xor_csv).out
    else:
        assert ended.err.splitlines()[-1].startswith("immigrate: m.model is damaged")


def test_what_to_install_is_said_without_the_extra(capsys, monkeypatch):
    import sys

    from immigrate.cli import main

    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "immigrate.cli.app")
    assert main(["--version"]) == 1
    assert capsys.readouterr().err == (
        "immigrate: the command line needs the package typer, which is not installed; run: pip "
        "install 'immigrate[cli]'\n"
    )
