import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from paper.cells import Cell, Outcome
from paper.cli import main
from paper.runner import run
from paper.store import Store, read_tracked, results, write_tracked
from paper.worker import Worker

ROOT = Path(__file__).parents[2]
PLAN = ["--sets", "WIN", "SYN", "--methods", "1NN", "LDA", "RF", "--repeats", "2", "--folds", "3"]


def started(folder):
    command = [sys.executable, "-m", "paper", "run", *PLAN, "--results", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


def n_results(folder):
    database = folder / "results.sqlite"
    return len(results(database, folder)) if database.exists() else 0


def without_times(folder):
    return pd.read_csv(folder / "repeats.csv").drop(columns="seconds")


def test_a_killed_run_continues_to_the_same_table(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = started(killed)
    deadline = time.monotonic() + 60
    while n_results(killed) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    n_before = n_results(killed)
    assert 4 <= n_before < 36
    assert not (killed / "repeats.csv").exists()

    assert started(killed).wait() == 0
    assert started(whole).wait() == 0
    assert n_results(killed) == n_results(whole) == 36
    pd.testing.assert_frame_equal(without_times(killed), without_times(whole))


def test_a_cell_over_the_time_limit_is_stopped_and_the_next_one_runs():
    worker = Worker(None, time_limit=0.01)
    try:
        late = worker(Cell("WIN", "RF", 0, 0, 3))
        assert late.status == "time-out"
        assert late.error == "stopped after 0.01 s"
        worker.time_limit = 60
        assert worker(Cell("WIN", "1NN", 0, 0, 3)).status == "ok"
    finally:
        worker.close()


@pytest.fixture
def plan():
    return [Cell("SYN", "1NN", 0, fold, 3) for fold in range(3)]


def test_only_missing_cells_run(tmp_path, plan):
    lines = []
    database = tmp_path / "results.sqlite"
    assert run(plan[:2], database, report=lines.append) == 2
    assert run(plan, database, report=lines.append) == 1
    assert run(plan, database, report=lines.append) == 0
    assert lines[1].startswith("2/2 (100 %), 0:00:00 left")


def test_failed_cells_run_again_only_when_asked(tmp_path, plan):
    database = tmp_path / "results.sqlite"
    with closing(Store(database)) as store:
        failed = Outcome("error", error="out of luck")
        store.add(plan[0], failed, "KNeighborsClassifier(n_neighbors=1)", "0")
    assert run(plan[:1], database, report=print) == 0
    assert run(plan[:1], database, report=print, retry=True) == 1


def test_changed_settings_run_again(tmp_path, plan):
    database = tmp_path / "results.sqlite"
    with closing(Store(database)) as store:
        store.add(plan[0], Outcome("ok", 1, 1), "KNeighborsClassifier(n_neighbors=7)", "0")
    assert run(plan[:1], database, report=print) == 1


def test_the_tracked_files_hold_everything(tmp_path):
    database = tmp_path / "results.sqlite"
    with closing(Store(database)) as store:
        store.add(Cell("WIN", "1NN", 0, 0, 2), Outcome("ok", 60, 65, 0.125), "a, b", "1.0")
        store.add(Cell("WIN", "1NN", 0, 1, 2), Outcome("ok", 61, 65, 0.25), "a, b", "1.0")
        store.add(Cell("WIN", "LDA", 0, 0, 2), Outcome("error", error="no"), "c", "1.0")
        store.add(Cell("WIN", "LDA", 0, 1, 2), Outcome("time-out", error="no"), "c", "1.0")
        frame = store.frame()
    write_tracked(frame, tmp_path)
    back = read_tracked(tmp_path)
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)
    with closing(Store(tmp_path / "copy.sqlite")) as copy:
        copy.fill(back)
        pd.testing.assert_frame_equal(copy.frame(), frame)


def test_a_new_database_starts_from_the_tracked_files(tmp_path, plan):
    run(plan, tmp_path / "first.sqlite", report=print)
    write_tracked(results(tmp_path / "first.sqlite", tmp_path), tmp_path)
    second = tmp_path / "second.sqlite"
    assert run(plan, second, tracked=tmp_path, report=print) == 0


def test_results_of_two_folders_join(tmp_path, plan):
    for name, part in (("one", plan[:1]), ("two", plan[1:])):
        run(part, tmp_path / name / "results.sqlite", report=print)
        main(["export", "--results", str(tmp_path / name)])
    main(["export", "--results", str(tmp_path / "one"), "--merge", str(tmp_path / "two")])
    assert set(read_tracked(tmp_path / "one")["fold"]) == {0, 1, 2}
