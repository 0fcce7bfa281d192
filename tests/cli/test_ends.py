"""Real processes that are stopped, run out of disk or lose their reader: nothing is half done."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

if sys.platform == "win32":
    pytest.skip("needs signals and limits of Unix", allow_module_level=True)

import resource

from cli.tables import csv_text, xor_table

from harness.victims import limit
from immigrate.datasets import make_xor

COMMAND = [sys.executable, "-m", "immigrate"]
OLDER = "an older file"


def started(*arguments, **options):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def outputs(xor_csv, tmp_path):
    """Commands that write, each with the file that is there already."""
    page, model = tmp_path / "page.html", tmp_path / "m.model"
    for path in (page, model):
        path.write_text(OLDER)
    common = (xor_csv, "--target", "outcome", "--out")
    return {"report": ("report", *common, page), "fit": ("fit", *common, model)}


@pytest.mark.parametrize(("command", "by"), [("report", signal.SIGINT), ("fit", signal.SIGTERM)])
def test_an_interrupted_command_says_so_and_leaves_the_older_file(command, by, tmp_path):
    # Large enough that the signal finds it at work, and not in its last moments.
    X, y = make_xor(1500, 12, random_state=0)
    folder = tmp_path / "outputs"
    folder.mkdir()
    X.assign(outcome=y).to_csv(tmp_path / "large.csv", index=False)
    process = started(*outputs(tmp_path / "large.csv", folder)[command])
    assert process.stderr.readline().startswith("read large.csv: ")
    process.send_signal(by)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err.splitlines()[-1] == "immigrate: interrupted."
    assert "Traceback" not in err
    assert {one.name: one.read_text() for one in folder.iterdir()} == {
        "page.html": OLDER,
        "m.model": OLDER,
    }


@pytest.mark.parametrize("command", ["report", "fit"])
def test_a_killed_command_leaves_the_older_file_or_a_whole_one(command, xor_csv, tmp_path):
    arguments = outputs(xor_csv, tmp_path)[command]
    process = started(*arguments)
    process.stderr.readline()
    # Killed as soon as it begins to write, if that can be seen in time.
    while process.poll() is None and not list(tmp_path.glob(".*")):
        time.sleep(0.002)
    process.kill()
    process.communicate()
    found = arguments[-1].read_bytes()
    if found != OLDER.encode():
        again = tmp_path / f"whole{arguments[-1].suffix}"
        # Another process: in this one forests are small, and a page shows what they come to.
        whole = started(*arguments[:-1], again)
        whole.communicate()
        assert whole.returncode == 0
        assert found == again.read_bytes()


@pytest.mark.parametrize("command", ["report", "fit"])
def test_a_full_disk_is_said_and_the_older_file_kept(command, run, xor_csv, tmp_path):
    arguments = outputs(xor_csv, tmp_path)[command]
    with limit(resource.RLIMIT_FSIZE, 3000):
        ended = run(*arguments)
    assert (ended.code, ended.out) == (1, "")
    reason = os.strerror(errno.EFBIG)
    assert ended.err.splitlines()[-1] == (
        f"immigrate: cannot write {arguments[-1]}: {reason}. Nothing was changed."
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == ["m.model", "page.html"]
    assert arguments[-1].read_text() == OLDER


def test_no_space_left_is_said(run, xor_csv, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    ended = run("test", xor_csv, "--target", "outcome", "--csv", "e.csv")
    assert ended.code == 1
    assert ended.err.splitlines()[-1] == (
        f"immigrate: cannot write e.csv: {os.strerror(errno.ENOSPC)}. Nothing was changed."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_before_the_work(run, xor_csv, monkeypatch):
    # Root may write everywhere.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    ended = run("report", xor_csv, "--target", "outcome", "--out", "/page.html")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "immigrate: cannot write /page.html: the folder / is read-only.\n"


def test_a_pipe_or_a_device_is_refused_before_the_work(run, xor_csv, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = run("report", xor_csv, "--target", "outcome", "--out", "pipe")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == (
        "immigrate: cannot write pipe: it is a device or a pipe; give the name of a file.\n"
    )
    assert pipe.is_fifo()


@pytest.mark.parametrize("command", ["test", "--help"])
def test_a_reader_that_has_gone_gives_no_trace(command, xor_csv):
    arguments = ("test", xor_csv, "--target", "outcome") if command == "test" else ("--help",)
    reads, writes = os.pipe()
    os.close(reads)
    process = started(*arguments, stdout=writes)
    os.close(writes)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    assert "Exception" not in err


def test_a_closed_standard_output_is_said_and_closed_errors_are_no_error(xor_csv):
    arguments = [*COMMAND, "test", str(xor_csv), "--target", "outcome"]
    process = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.returncode == 1
    assert process.stderr == (
        "immigrate: standard output is closed; send it to a file, to a program or to /dev/null.\n"
    )
    process = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.returncode == 0
    assert process.stdout.startswith("Which features matter")


def test_predictions_in_a_pipe_are_utf_8_whatever_the_language_settings(run, tmp_path):
    table = xor_table().replace({"ill": "krank ✓", "well": "wohl ×"})
    (tmp_path / "t.csv").write_text(csv_text(table), encoding="utf-8")
    assert run("fit", "t.csv", "--target", "outcome", "--out", "m.model").code == 0
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    said = subprocess.run(
        [*COMMAND, "predict", "m.model", "t.csv"],
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, **plain},
    )
    assert said.returncode == 0
    assert said.stdout.decode("utf-8") == run("predict", "m.model", "t.csv").out
    assert {"krank ✓", "wohl ×"} <= set(said.stdout.decode("utf-8").replace('"', ",").split(","))


def test_progress_is_on_a_terminal_and_two_processes_store_the_same_model(
    xor_csv, model_file, tmp_path
):
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "fit", str(xor_csv), "-t", "outcome", "-o", str(tmp_path / "m.model")],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "PYTHONHASHSEED": "7"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    out = process.communicate()[0].decode()
    assert b"fit" in seen
    assert b"0:00:0" in seen
    assert "\x1b" not in out
    assert (tmp_path / "m.model").read_bytes() == model_file.read_bytes()
