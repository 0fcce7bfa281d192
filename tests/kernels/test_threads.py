from __future__ import annotations

import os

import joblib
import pytest

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
