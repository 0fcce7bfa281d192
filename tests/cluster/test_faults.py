"""Workers and schedulers that die in the middle of a fit."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from distributed import Client, LocalCluster, Status
from scheduler_tasks import wait_until_forgotten

from immigrate import ImmigrateClassifier
from immigrate import cluster as cluster_module
from immigrate.cluster import Cluster, ClusterError, ClusterLostError, on
from immigrate.options import Descent

# Until a test that hangs is given up; nothing here takes a tenth of it.
HANGS = 120.0
PARTS = 1e-3


@pytest.fixture
def during(monkeypatch):
    """Lets something happen in some of the passes, by their numbers, when their tasks are out."""

    def arranged(action, numbers):
        results, seen = Cluster.results, []

        def disturbed(self, futures):
            seen.append(len(futures))
            if len(seen) in numbers:
                action()
            return results(self, futures)

        monkeypatch.setattr(Cluster, "results", disturbed)
        return seen

    return arranged


@pytest.fixture(scope="module")
def table():
    """Large enough for a pass to last longer than a murder."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 12))
    return X, X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0


def within_time(function):
    """What `function` returns or raises; a failure where it does not come back."""
    outcome = []

    def kept():
        try:
            outcome.append((function(), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=kept, daemon=True)
    thread.start()
    thread.join(HANGS)
    assert outcome, f"nothing came back within {HANGS} seconds"
    value, error = outcome[0]
    if error is not None:
        raise error
    return value


def test_three_workers_killed_in_a_fit_change_nothing(client, table, during):
    X, y = table

    def fitted():
        with on(client, part_seconds=PARTS, patience=HANGS):
            return ImmigrateClassifier(solver=Descent(tol=1e-5)).fit(X, y)

    undisturbed = fitted().weight_matrix_
    killed = []

    def kill_one():
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    seen = during(kill_one, numbers=(2, 4, 6))
    weights = within_time(fitted).weight_matrix_
    assert len(killed) == 3
    assert len(seen) >= 6
    assert np.array_equal(weights, undisturbed)
    client.wait_for_workers(2, timeout=HANGS)


@contextmanager
def process(*arguments):
    """A process of Dask's command line, ended at the end whatever happened to it."""
    running = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def wait_for_file(path):
    end = time.monotonic() + HANGS
    while not path.exists():
        assert time.monotonic() < end, f"{path} has not been written"
        time.sleep(0.05)


def test_a_killed_scheduler_is_an_error_that_says_so(tmp_path, table, during):
    X, y = table
    place = tmp_path / "scheduler.json"
    with (
        process(
            *("scheduler", "--host", "127.0.0.1", "--port", "0"),
            *("--no-dashboard", "--scheduler-file", str(place)),
        ) as scheduler,
        process(
            *("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard"),
            *("--scheduler-file", str(place), "--local-directory", str(tmp_path)),
        ),
    ):
        wait_for_file(place)
        with Client(scheduler_file=str(place), set_as_default=False) as client:
            client.wait_for_workers(1, timeout=HANGS)
            during(scheduler.kill, numbers=(2,))
            before = ImmigrateClassifier().fit(X[:50], y[:50])
            weights = before.weight_matrix_

            def refit():
                with on(client, part_seconds=PARTS):
                    before.fit(X, y)

            with pytest.raises(ClusterLostError, match=r"tcp://127.*was lost.*new Client"):
                within_time(refit)
            # The model of the fit before is still there, and predicts without a cluster.
            assert np.array_equal(before.weight_matrix_, weights)
            assert len(before.predict(X)) == len(X)


@pytest.fixture
def nobody():
    """A cluster without workers."""
    with (
        LocalCluster(
            n_workers=0, processes=False, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def test_no_worker_is_an_error_after_the_patience(nobody, table):
    X, y = table

    def fitted():
        with on(nobody, part_seconds=PARTS, patience=1.5):
            ImmigrateClassifier().fit(X, y)

    with pytest.raises(ClusterLostError, match=r"no worker for 2 seconds.*Start workers"):
        within_time(fitted)


def paused(dask_worker):
    # As Dask does when the memory of a worker is nearly full; the check that would undo it is off.
    dask_worker.memory_manager.memory_pause_fraction = False
    dask_worker.status = Status.paused


def test_paused_workers_are_an_error_after_the_patience(nobody, table):
    X, y = table
    nobody.cluster.scale(1)
    nobody.wait_for_workers(1, timeout=HANGS)
    nobody.run(paused)

    def fitted():
        with on(nobody, part_seconds=PARTS, patience=1.5):
            ImmigrateClassifier().fit(X, y)

    with pytest.raises(ClusterLostError, match=r"All 1 workers.*paused for 2 seconds.*memory"):
        within_time(fitted)


def test_tasks_that_a_paused_worker_keeps_are_an_error_in_the_end(monkeypatch):
    """Dask does not give them to the others, and the fit waited for ever."""
    clock, ends = itertools.count(0.0, 10.0), iter([0, 1, 1, 1, 1, 1, 1, 1, 1])
    kept = SimpleNamespace(status="pending", done=lambda: next(ends))
    client = SimpleNamespace(status="running", as_current=nullcontext)

    def too_late(futures, timeout):
        raise TimeoutError

    monkeypatch.setattr("distributed.wait", too_late)
    # Not of the module `time`, which the threads of other clusters share.
    monkeypatch.setattr(cluster_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(
        cluster_module, "worker_states", lambda client, patience: ["running", "paused"]
    )
    monkeypatch.setattr(cluster_module, "address", lambda client: "here")
    with pytest.raises(ClusterLostError, match=r"^1 of 2 workers .*paused for 50 seconds.*memory"):
        cluster_module.results(client, [kept], patience=10.0)
    # A task ended at 20 s; from then on 50 s are waited, and no longer.
    assert next(clock) == 90.0


def test_a_worker_that_comes_late_is_waited_for(nobody, table):
    X, y = table
    late = threading.Timer(1.5, lambda: nobody.cluster.scale(1))
    late.start()

    def fitted():
        with on(nobody, part_seconds=PARTS):
            return ImmigrateClassifier().fit(X, y)

    assert within_time(fitted).converged_
    late.join()


def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def no_second_try(client):
    """Dask blames a task for the first worker that dies with it, and not for the fourth."""
    before = client.run_on_scheduler(set_allowed_failures, 0)
    yield
    client.run_on_scheduler(set_allowed_failures, before)


def set_allowed_failures(number, dask_scheduler):
    before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, number
    return before


@pytest.mark.usefixtures("no_second_try")
def test_a_part_that_kills_its_workers_is_an_error_that_says_so(on_cluster):
    tasks = on_cluster.mapped(killed, [0], "part")
    with pytest.raises(ClusterError, match=r"died again and again.*more memory"):
        within_time(lambda: on_cluster.results(tasks))
    on_cluster.client.wait_for_workers(2, timeout=HANGS)


def without_a_package(_):
    raise ModuleNotFoundError("No module named 'immigrate'", name="immigrate")


def test_workers_without_the_library_are_an_error_that_says_so(on_cluster):
    tasks = on_cluster.mapped(without_a_package, [0], "part")
    with pytest.raises(ClusterError, match=r"cannot import immigrate.*same packages"):
        on_cluster.results(tasks)


def test_other_errors_of_a_part_come_as_they_are(on_cluster):
    tasks = on_cluster.mapped(int, ["three"], "part")
    with pytest.raises(ValueError, match="three"):
        on_cluster.results(tasks)


def test_after_ctrl_c_nobody_goes_on(on_cluster):
    tasks = on_cluster.mapped(time.sleep, [2.0] * 20, "nap")
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        on_cluster.results(tasks)
    interrupt.join()
    wait_until_forgotten(on_cluster.client)
