from __future__ import annotations

import os
import threading
import time

import joblib
import pytest

from immigrate.kernels import threads as threads_module
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
    monkeypatch.setattr(threads_module, "_pools", {})
    made = threads_module.ThreadPoolExecutor

    def slowly(*sizes, **names):
        time.sleep(0.05)
        return made(*sizes, **names)

    monkeypatch.setattr(threads_module, "ThreadPoolExecutor", slowly)
    with made(4) as callers:
        pools = [callers.submit(threads_module._pool) for _ in range(4)]
    assert len({id(pool.result()) for pool in pools}) == 1


def test_a_pool_that_was_interrupted_is_replaced(monkeypatch):
    """An interrupt can leave a lock of the pool taken, and the next fit waited for it."""
    expected = list(range(10))
    assert run_in_order(abs, range(10), 2) == expected
    pool = threads_module._pool()

    def interrupted(work):
        pool._idle_semaphore._cond.acquire()
        raise KeyboardInterrupt

    monkeypatch.setattr(pool, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_in_order(abs, range(10), 2)
    assert run_in_order(abs, range(10), 2) == expected
    # Its threads wait for the lock, and Python waits for them at its end.
    pool._idle_semaphore._cond.release()


def n_own_threads():
    return sum(thread.name.startswith("immigrate") for thread in threading.enumerate())


def test_threads_do_not_pile_up_with_the_numbers_asked_for():
    # An interrupt in a test before this one may have left a thread that no pool knows of.
    before = n_own_threads()
    for threads in range(2, 60):
        run_in_order(abs, range(100), threads)
    assert n_own_threads() <= before + max(4, os.cpu_count() or 1)
    before = n_own_threads()
    for threads in range(2, 60):
        run_in_order(abs, range(100), threads)
    assert n_own_threads() <= max(before, 4, os.cpu_count() or 1)
