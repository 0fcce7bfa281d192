"""Threads for work cut into fixed parts.

The parts do not depend on the number of threads and their results are put together in order,
so that any number of threads gives the same bits.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import joblib
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)

from immigrate.checks import check_jobs

LOCAL_BACKENDS = (SequentialBackend, ThreadingBackend, LokyBackend, MultiprocessingBackend)

P = TypeVar("P")
R = TypeVar("R")

_pools: dict[int, ThreadPoolExecutor] = {}


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's `n_jobs`.

    None is 1 unless a ``joblib.parallel_config`` says otherwise, -1 is all cores; inside a
    joblib worker it is 1, so that cores are not shared out twice.
    """
    asked = int(joblib.effective_n_jobs(check_jobs(n_jobs)))
    if isinstance(get_active_backend()[0], LOCAL_BACKENDS):
        return asked
    # Of a cluster joblib counts all threads, here and in every worker; they are not our threads.
    return 1 if n_jobs is None else min(asked, joblib.cpu_count())


def run_in_order(task: Callable[[P], R], parts: Sequence[P], n_threads: int) -> list[R]:
    """[task(part) for part in parts], on up to `n_threads` threads.

    The calling thread is one of them. It takes part after part like the others, so that it is
    never idle, and work that is called from inside a part cannot wait for itself.
    """
    if n_threads == 1 or len(parts) == 1:
        return [task(part) for part in parts]
    results: list[Any] = [None] * len(parts)
    left = deque(range(len(parts)))

    def work() -> None:
        # Taking a number off a deque is one step for all threads: no part is taken twice.
        while True:
            try:
                k = left.popleft()
            except IndexError:
                return
            try:
                results[k] = task(parts[k])
            except BaseException:
                # After an error or Ctrl-C nobody begins another part.
                left.clear()
                raise

    helpers: list[Future[None]] = []
    try:
        for _ in range(min(n_threads, len(parts)) - 1):
            helpers.append(_pool().submit(work))
        try:
            work()
        finally:
            _wait_for(helpers)
    except KeyboardInterrupt:
        left.clear()
        # It may have come between taking a lock of the pool and giving it back, and then whoever
        # asks this pool next waits for ever.
        _pools.pop(os.getpid(), None)
        raise
    return results


def _wait_for(helpers: Sequence[Future[None]]) -> None:
    """Wait for the helpers that have begun; those that have not would find nothing to do."""
    for helper in helpers:
        if not helper.cancel():
            helper.result()


def _pool() -> ThreadPoolExecutor:
    """One pool per process, whatever numbers of threads are asked for."""
    # A forked child inherits the dictionary but not the threads: the key keeps it off them.
    key = os.getpid()
    if key not in _pools:
        size = max(4, os.cpu_count() or 1)
        # In one step for all threads: of two that come at once, both get the same pool. The other
        # has not started a thread.
        _pools.setdefault(key, ThreadPoolExecutor(size, thread_name_prefix="immigrate"))
    return _pools[key]
