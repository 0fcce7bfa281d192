"""Threads for work cut into fixed parts.

The parts do not depend on the number of threads and their results are put together in order,
so that any number of threads gives the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import joblib

P = TypeVar("P")
R = TypeVar("R")

_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's `n_jobs`.

    None is 1 unless a ``joblib.parallel_config`` says otherwise, -1 is all cores; inside a
    joblib worker it is 1, so that cores are not shared out twice.
    """
    return int(joblib.effective_n_jobs(n_jobs))


def run_in_order(task: Callable[[P], R], parts: Sequence[P], n_threads: int) -> list[R]:
    """[task(part) for part in parts], on up to `n_threads` threads."""
    if n_threads == 1 or len(parts) == 1:
        return [task(part) for part in parts]
    return list(_pool(n_threads).map(task, parts))


def _pool(n_threads: int) -> ThreadPoolExecutor:
    # A forked child inherits the dictionary but not the threads: the key keeps it off them.
    key = (os.getpid(), n_threads)
    if key not in _pools:
        _pools[key] = ThreadPoolExecutor(n_threads, thread_name_prefix="immigrate")
    return _pools[key]
