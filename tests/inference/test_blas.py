from __future__ import annotations

from threading import Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from immigrate import InteractionTest
from immigrate.inference import blas
from immigrate.inference.blas import one_blas_thread


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


def test_the_libraries_are_looked_for_once(monkeypatch):
    with one_blas_thread():
        pass
    monkeypatch.setattr(blas, "ThreadpoolController", None)
    with one_blas_thread():
        assert n_blas_threads() == {1}


def test_the_interaction_test_runs_on_one_thread():
    seen = []
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2

    class Watched(InteractionTest):
        def _say(self, progress):
            seen.append(n_blas_threads())

    Watched().fit(X, y)
    assert seen
    assert all(found == {1} for found in seen)
    assert n_blas_threads() == {2}
