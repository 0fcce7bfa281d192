from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest

from immigrate.kernels import threads
from immigrate.kernels.threads import n_threads, run_in_order


def test_n_jobs_as_in_scikit_learn():
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    assert n_threads(-1) == joblib.cpu_count()
    with joblib.parallel_config(n_jobs=2):
        assert n_threads(None) == 2


def test_one_thread_inside_a_joblib_worker():
    inside = joblib.Parallel(n_jobs=2)(joblib.delayed(n_threads)(None) for _ in range(2))
    assert inside == [1, 1]


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_come_in_order(threads):
    assert run_in_order(lambda part: part**2, range(20), threads) == [k**2 for k in range(20)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_its_own_threads():
    run_in_order(abs, range(4), 2)
    child = os.fork()
    if child == 0:
        os._exit(0 if run_in_order(abs, range(4), 2) == [0, 1, 2, 3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_in_a_part_is_raised_and_no_further_part_begins(threads):
    begun = []

    def task(part):
        begun.append(part)
        time.sleep(0.001)
        if part == 5:
            raise IndexError("part 5")
        return part

    with pytest.raises(IndexError, match="part 5"):
        run_in_order(task, range(1000), threads)
    assert len(begun) < 100


def test_parts_may_have_parts():
    def outer(k):
        return sum(run_in_order(lambda part: part + k, range(10), 8))

    assert run_in_order(outer, range(20), 8) == [45 + 10 * k for k in range(20)]


def test_two_threads_that_come_at_once_share_the_pool(monkeypatch):
    monkeypatch.setattr(threads, "_pools", {})
    made = threads.ThreadPool

    def slowly(most):
        time.sleep(0.05)
        return made(most)

    monkeypatch.setattr(threads, "ThreadPool", slowly)
    with ThreadPoolExecutor(4) as callers:
        pools = [callers.submit(threads.pool_of_process) for _ in range(4)]
    assert len({id(found.result()) for found in pools}) == 1


def test_no_room_for_another_thread_costs_no_answer(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pools", {})
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert run_in_order(abs, range(10), 3) == list(range(10))


def test_an_error_of_a_helper_is_raised():
    """The caller waits in its first part until a helper has failed."""
    failed = threading.Event()

    def task(part):
        if threading.current_thread() is threading.main_thread():
            assert failed.wait(60)
            return part
        failed.set()
        raise IndexError("of a helper")

    with pytest.raises(IndexError, match="of a helper"):
        run_in_order(task, range(2), 2)


# A signal at a random moment of each of so many rounds; then the work is done as if nothing were.
INTERRUPTED = """
import random, signal, time
from immigrate.kernels.threads import run_in_order

def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
random.seed(0)
n_heard = 0
for _ in range(500):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 4e-4))
        for _ in range(10_000):  # far longer than until the signal
            run_in_order(abs, range(8), 4)
    except KeyboardInterrupt:
        n_heard += 1
assert run_in_order(abs, range(100), 4) == list(range(100))
print(n_heard)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer with a signal")
def test_interrupts_stop_neither_the_next_work_nor_the_end_of_the_process():
    """A pool of the standard library hangs here: an interrupt leaves one of its locks taken."""
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    # What Python itself ignores, as in a callback of its collector, is not heard.
    assert int(ended.stdout) > 450


def n_own_threads():
    return sum(thread.name.startswith("immigrate") for thread in threading.enumerate())


def test_threads_do_not_pile_up_with_the_numbers_asked_for():
    before = n_own_threads()
    for number in range(2, 60):
        run_in_order(abs, range(100), number)
    assert n_own_threads() <= before + max(4, os.cpu_count() or 1)
    before = n_own_threads()
    for number in range(2, 60):
        run_in_order(abs, range(100), number)
    assert n_own_threads() <= max(before, 4, os.cpu_count() or 1)
