from __future__ import annotations

import warnings
from threading import Thread
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

from immigrate import ImmigrateClassifier, InteractionTest
from immigrate.estimators import interaction_test
from immigrate.kernels import threads
from immigrate.kernels.threads import WIDE_MATRIX, blas_threads_for, one_blas_thread
from immigrate.margin.problem import MarginProblem
from immigrate.options import Descent, FullSteps


def n_blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2, user_api="blas"):
        if n_blas_threads() != {2}:
            pytest.skip("this BLAS has one thread only")
        yield


def test_the_limit_holds_inside_and_is_lifted_outside():
    with one_blas_thread():
        assert n_blas_threads() == {1}
    assert n_blas_threads() == {2}


def test_the_limit_is_lifted_after_an_error():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        _ = 1 / 0
    assert n_blas_threads() == {2}


def test_threads_started_inside_are_limited():
    seen = []
    with one_blas_thread():
        other = Thread(target=lambda: seen.append(n_blas_threads()))
        other.start()
        other.join()
    assert seen == [{1}]


def test_overlapping_blocks_leave_nothing_behind():
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert n_blas_threads() == {1}
    second.__exit__(None, None, None)
    assert n_blas_threads() == {2}


@pytest.mark.parametrize(("n_rows", "n_threads"), [(WIDE_MATRIX - 1, 1), (WIDE_MATRIX, 2)])
def test_wide_matrices_have_all_threads(n_rows, n_threads):
    with blas_threads_for(n_rows):
        assert n_blas_threads() == {n_threads}


@pytest.mark.parametrize("solver", [Descent(max_iter=2), FullSteps(max_iter=2)])
def test_solvers_run_on_one_thread(solver, monkeypatch):
    seen = []
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    evaluate = MarginProblem.evaluate

    def watched(*args, **options):
        seen.append(n_blas_threads())
        return evaluate(*args, **options)

    monkeypatch.setattr(MarginProblem, "evaluate", watched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ImmigrateClassifier(solver=solver).fit(X, y)
    assert seen
    assert all(found == {1} for found in seen)


def test_an_effect_is_measured_on_one_thread(monkeypatch):
    seen = []
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    test = InteractionTest().fit(X, y)
    monkeypatch.setattr(
        interaction_test, "pair_effect", lambda *args: seen.append(n_blas_threads()) or Mock()
    )
    test.effect(0, 1)
    assert seen == [{1}]


def test_the_libraries_are_looked_for_once(monkeypatch):
    with one_blas_thread():
        pass
    monkeypatch.setattr(threads, "ThreadpoolController", None)
    with one_blas_thread():
        assert n_blas_threads() == {1}


def test_the_interaction_test_runs_on_one_thread():
    seen = []
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2

    class Watched(InteractionTest):
        def _say(self, progress):
            seen.append(n_blas_threads())

    Watched(verbose=True).fit(X, y)
    assert seen
    assert all(found == {1} for found in seen)
    assert n_blas_threads() == {2}
