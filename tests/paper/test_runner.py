import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from paper.cells import Cell, Outcome, outcome, settings
from paper.claims import SILENCE, Answer, Claims
from paper.cli import main
from paper.runner import Tally, ToStandardError, run
from paper.store import (
    DATABASE,
    SETTINGS,
    TRACKED,
    Store,
    read_tracked,
    with_settings,
    write_tracked,
)
from paper.worker import Worker

ROOT = Path(__file__).parents[2]
PLAN_1NN = ["--sets", "SYN", "--methods", "1NN", "--repeats", "1", "--folds", "3"]
# Enough cells to be stopped among them.
PLAN = ["--sets", "WIN", "SYN", "--methods", "1NN", "LDA", "ADB", "--repeats", "1", "--folds", "3"]
N_CELLS = 18


def started(folder):
    command = [sys.executable, "-m", "paper", "run", *PLAN, "--results", str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


def n_results(folder):
    return len(stored(folder)) if (folder / DATABASE).exists() else 0


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def stored(folder):
    with closing(Store(folder / DATABASE)) as store:
        return store.frame()


def without_times(folder):
    return pd.read_csv(folder / "repeats.csv").drop(columns="seconds")


class InThisProcess:
    """A worker whose cells run here, where only the bookkeeping is tested."""

    def __init__(self, folder, time_limit):
        self.folder = folder

    def __call__(self, cell):
        return outcome(cell, self.folder)

    def stop(self):
        """There is no process to be stopped."""

    close = stop


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr("paper.runner.Worker", InThisProcess)


def test_a_killed_run_continues_to_the_same_table(here, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = started(killed)
    deadline = time.monotonic() + 60
    while n_results(killed) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    n_before = n_results(killed)
    assert 4 <= n_before < N_CELLS
    assert not (killed / "repeats.csv").exists()

    main(["run", *PLAN, "--results", str(killed)])
    main(["run", *PLAN, "--results", str(whole)])
    assert n_results(killed) == n_results(whole) == N_CELLS
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


HANGING_RUN = """
import sys
from paper.cells import Cell
from paper.worker import Worker
worker = Worker(sys.argv[1], time_limit=600)
worker._start()
print(worker._process.pid, flush=True)
worker(Cell("GLA", "1NN", 0, 0, 3))
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="asks /proc which processes run")
def test_a_worker_ends_with_its_run(tmp_path):
    """Its cell reads a pipe that nobody writes to, and so would never end."""
    os.mkfifo(tmp_path / "GLA.csv")
    command = [sys.executable, "-c", HANGING_RUN, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as parent:
        worker = int(parent.stdout.readline())
        assert is_running(worker)
        time.sleep(1)
        parent.kill()
    deadline = time.monotonic() + 30
    while is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(worker)


@pytest.fixture
def plan():
    return [Cell("SYN", "1NN", 0, fold, 3) for fold in range(3)]


def test_only_missing_cells_run(here, tmp_path, plan):
    lines = []
    assert run(plan[:2], tmp_path, report=lines.append) == Tally(2, 0)
    assert run(plan, tmp_path, report=lines.append) == Tally(1, 0)
    assert run(plan, tmp_path, report=lines.append) == Tally(0, 0)
    assert lines[0] == "0/2 (0 %)"
    assert lines[2].startswith("2/2 (100 %), 0:00:00 left")
    assert len(lines) == 5


def test_a_log_gets_a_line_a_minute(capsys, monkeypatch):
    report = ToStandardError()
    for seconds, line in [(0, "first"), (59, "too soon"), (61, "second")]:
        monkeypatch.setattr("paper.runner.time.monotonic", lambda now=seconds: now)
        report(line)
    assert capsys.readouterr().err.split() == ["first", "second"]


def test_failed_cells_run_again_only_when_asked(here, tmp_path, plan):
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(plan[0], Outcome("error", error="out of luck"), settings("1NN"), "0")
    assert run(plan[:1], tmp_path, report=print).n_run == 0
    assert run(plan[:1], tmp_path, report=print, retry=True).n_run == 1


def test_changed_settings_run_again(here, tmp_path, plan):
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(plan[0], Outcome("ok", 1, 1), "KNeighborsClassifier(n_neighbors=7)", "0")
    assert run(plan[:1], tmp_path, report=print).n_run == 1


def test_the_tracked_files_hold_everything(tmp_path):
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(Cell("WIN", "1NN", 0, 0, 2), Outcome("ok", 60, 65, 0.125), "a, b", "1.0")
        store.add(Cell("WIN", "1NN", 0, 1, 2), Outcome("ok", 61, 65, 0.25), "a, b", "1.0")
        store.add(Cell("WIN", "LDA", 0, 0, 2), Outcome("error", error="no"), "c", "1.0")
        store.add(Cell("WIN", "LDA", 0, 1, 2), Outcome("time-out", error="no"), "c", "1.0")
        frame = store.frame()
    write_tracked(frame, tmp_path)
    back = read_tracked(tmp_path)
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)
    with closing(Store(tmp_path / "copy.sqlite")) as copy:
        copy.fill(back, {})
        pd.testing.assert_frame_equal(copy.frame(), frame)


def tracked(folder, part):
    """Results of a part of the plan, as the tracked files of a fresh clone."""
    run(part, folder, report=print)
    write_tracked(stored(folder), folder)
    (folder / DATABASE).unlink()


def test_a_run_goes_on_from_the_tracked_files(here, tmp_path, plan):
    tracked(tmp_path, plan)
    assert run(plan, tmp_path, report=print).n_run == 0


def test_a_run_keeps_tracked_results_that_its_database_does_not_know(here, tmp_path, plan):
    tracked(tmp_path, plan[:2])
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(plan[2], Outcome("ok", 1, 1), settings("1NN"), "0")
    main(["run", *PLAN_1NN, "--results", str(tmp_path)])
    assert set(read_tracked(tmp_path)["fold"]) == {0, 1, 2}


@pytest.mark.parametrize("is_fresh", [True, False])
def test_results_of_two_folders_join(here, tmp_path, plan, is_fresh):
    one, two = tmp_path / "one", tmp_path / "two"
    tracked(one, plan[:1])
    tracked(two, plan[1:])
    if not is_fresh:
        run(plan[:1], one, report=print)
    main(["export", "--results", str(one), "--merge", str(two)])
    assert set(read_tracked(one)["fold"]) == {0, 1, 2}


def test_joined_results_prefer_current_settings(here, tmp_path, plan):
    tracked(tmp_path, plan[:1])
    right = read_tracked(tmp_path)["n_correct"].item()
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(plan[0], Outcome("ok", 0, 1), "old", "0")
    main(["export", "--results", str(tmp_path)])
    assert read_tracked(tmp_path)["n_correct"].item() == right


def test_tables_leave_out_other_settings(tmp_path, plan):
    with closing(Store(tmp_path / DATABASE)) as store:
        store.add(plan[0], Outcome("ok", 1, 1), "old", "0")
        store.add(plan[1], Outcome("ok", 1, 1), settings("1NN"), "0")
        frame = store.frame()
    assert with_settings(frame, {"1NN": settings("1NN")})["fold"].tolist() == [1]
    assert len(with_settings(frame, {"1NN": "newer than all"})) == 2


def test_unknown_methods_and_missing_tables_are_no_results(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("IMMIGRATE_DATA", raising=False)
    here = ["--results", str(tmp_path)]
    with pytest.raises(SystemExit, match="Unknown method IGTT; choose from SV1"):
        main(["run", "--methods", "IGTT", *here])
    with pytest.raises(SystemExit, match="No data set to run"):
        main(["run", "--sets", "GLA", "--methods", "1NN", *here])
    assert "GLA is left out. No source has GLA" in capsys.readouterr().err
    assert not (tmp_path / DATABASE).exists()


def test_two_runs_share_the_cells(here, tmp_path, plan):
    """Each of them would run all six; together they do, and both end when all are there."""
    plan = plan + [Cell("SYN", "LDA", 0, fold, 3) for fold in range(3)]
    with ThreadPoolExecutor(2) as threads:
        tallies = list(threads.map(lambda _: run(plan, tmp_path, report=print), range(2)))
    assert sum(tally.n_run for tally in tallies) == 6
    assert all(tally.n_failed == 0 for tally in tallies)
    assert len(stored(tmp_path)) == 6


def test_failed_cells_are_tried_again_by_one_of_two_runs(here, tmp_path, plan):
    with closing(Store(tmp_path / DATABASE)) as store:
        for cell in plan:
            store.add(cell, Outcome("error", error="out of luck"), settings("1NN"), "0")
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(run, plan, tmp_path, retry=True, report=print) for _ in range(2)]
        assert sum(one.result().n_run for one in runs) == 3


@pytest.fixture
def asked(tmp_path):
    """Who asks for cells: a function that makes a new run on one folder."""
    stores = []

    def new():
        stores.append(Store(tmp_path / DATABASE))
        return Claims(stores[-1], {"1NN": "settings"}), stores[-1]

    yield new
    for store in stores:
        store.close()


def test_a_claimed_cell_is_taken_until_it_is_done_or_given_back(asked, plan):
    (one, store), (two, _) = asked(), asked()
    assert one.ask(plan[0]) is one.ask(plan[1]) is Answer.MINE
    assert two.ask(plan[0]) is two.ask(plan[1]) is Answer.TAKEN
    store.add(plan[0], Outcome("ok", 1, 1), "settings", "0")
    one.release()
    assert two.ask(plan[0]) is Answer.DONE
    assert two.ask(plan[1]) is Answer.MINE


def test_cells_of_a_dead_process_are_free(asked, plan, monkeypatch):
    (one, _), (two, _) = asked(), asked()
    with subprocess.Popen([sys.executable, "-c", ""]) as dead:
        dead.wait()
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: dead.pid)
        assert one.ask(plan[0]) is Answer.MINE
    assert two.ask(plan[0]) is Answer.MINE


def test_a_run_on_another_machine_is_alive_while_it_is_heard_of(asked, plan, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
    one, _ = asked()
    monkeypatch.undo()
    two, _ = asked()
    now = time.time()
    assert one.ask(plan[0]) is Answer.MINE
    monkeypatch.setattr("paper.claims.time.time", lambda: now + SILENCE - 1)
    assert two.ask(plan[0]) is Answer.TAKEN
    one.beat()
    monkeypatch.setattr("paper.claims.time.time", lambda: now + SILENCE + 1)
    assert two.ask(plan[0]) is Answer.TAKEN
    monkeypatch.setattr("paper.claims.time.time", lambda: now + 2 * SILENCE)
    assert two.ask(plan[0]) is Answer.MINE


def test_a_run_takes_over_the_cells_of_one_that_was_killed(here, tmp_path):
    first = started(tmp_path)
    deadline = time.monotonic() + 60
    while n_results(tmp_path) < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(main, ["run", *PLAN, "--results", str(tmp_path)])
        while n_results(tmp_path) < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        first.kill()
        first.wait()
        assert n_results(tmp_path) < N_CELLS
        second.result(timeout=600)
    assert len(read_tracked(tmp_path)) == N_CELLS
    assert (read_tracked(tmp_path)["status"] == "ok").all()


@pytest.mark.parametrize("name", [TRACKED, SETTINGS])
def test_an_export_over_cut_files_stops_and_changes_nothing(here, tmp_path, plan, name):
    tracked(tmp_path, plan)
    lines = (tmp_path / name).read_text().splitlines(keepends=True)
    (tmp_path / name).write_text("".join(lines[:-1]))
    before = {one: (tmp_path / one).read_bytes() for one in (TRACKED, SETTINGS)}
    with pytest.raises(ValueError, match="are damaged"):
        main(["export", "--results", str(tmp_path)])
    assert {one: (tmp_path / one).read_bytes() for one in before} == before
