from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from io import StringIO

import numpy as np
import pandas as pd
import pytest

from immigrate.files import spreadsheet_csv, whole_file, write_text_whole


def test_a_file_is_written_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "folder" / "page.html"
    assert write_text_whole(path, "größer ≥") == path
    assert path.read_text(encoding="utf-8") == "größer ≥"
    assert os.listdir(path.parent) == ["page.html"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "table.csv"
    path.write_text("old")

    def write():
        with whole_file(path) as place:
            place.write_text("half of")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_a_text_without_an_encoding_leaves_the_old_file(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text_whole(path, "a lone surrogate: \ud800")
    assert path.read_text() == "old"


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "true.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to(tmp_path / "true.txt")
    write_text_whole(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "true.txt").read_text() == "new"


SLOW_WRITER = """
import sys, time
from immigrate.files import whole_file
with whole_file(sys.argv[1]) as place, place.open("w") as file:
    for _ in range(1000):
        file.write("new " * 1000)
        file.flush()
        print("writing", flush=True)
        time.sleep(0.01)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.2])
def test_a_killed_writer_leaves_the_old_file(tmp_path, wait):
    path = tmp_path / "table.csv"
    path.write_text("old")
    writer = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, str(path)], stdout=subprocess.PIPE
    )
    writer.stdout.readline()
    time.sleep(wait)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert path.read_text() == "old"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    """As ``/dev/null`` would be by somebody who may write there; no test touches a true device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="a device or a pipe and no file"):
        write_text_whole(pipe, "new")
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


FORMULAS = ["=1+1", "+1", "-1+2", "@SUM(A1)", " =1", "\t=1", "\r=1", "a;=1+1", 'a","=1']


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_name_cannot_run_as_a_formula(formula):
    """Every cell that a spreadsheet would see, whatever it takes for a separator, is harmless."""
    table = pd.DataFrame({"feature_1": [formula, "x"], formula: [0.5, -2.0]})
    content = spreadsheet_csv(table)
    header, row, _ = csv.reader(StringIO(content))
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in [*header, row[0]])
    assert formula in row[0]
    # Whatever separates, a quoted cell is one cell.
    assert content.startswith('"feature_1","')


def test_a_table_comes_back_from_its_csv():
    table = pd.DataFrame({"name": ["a", "b, c"], "p": [-0.5, np.nan], "is": [True, False]})
    pd.testing.assert_frame_equal(pd.read_csv(StringIO(spreadsheet_csv(table))), table)
