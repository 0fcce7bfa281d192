"""Threads for work cut into fixed parts.

The parts do not depend on the number of threads and their results are put together in order,
so that any number of threads gives the same bits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
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
from immigrate.kernels.pool import pool_of_process

LOCAL_BACKENDS = (SequentialBackend, ThreadingBackend, LokyBackend, MultiprocessingBackend)

P = TypeVar("P")
R = TypeVar("R")


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

    helpers = Helpers(work, min(n_threads, len(parts)) - 1)
    try:
        helpers.call()
        work()
    except BaseException:
        left.clear()
        raise
    finally:
        error = helpers.first_error()
    if error is not None:
        raise error
    return results


class Helpers:
    """Threads that do the same work beside the caller.

    A helper that begins takes a ticket. Tickets that are left when the caller has finished are
    of helpers that have not begun: they would find nothing to do, and nobody waits for them.
    """

    def __init__(self, work: Callable[[], None], n: int) -> None:
        self._work, self._n = work, n
        self._tickets = deque(range(n))
        self._ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def call(self) -> None:
        """Ask for all of them."""
        pool = pool_of_process()
        for _ in range(self._n):
            pool.submit(self._help)

    def first_error(self) -> BaseException | None:
        """Wait for the helpers that have begun; an error of theirs, or None."""
        n_begun = self._n
        while self._tickets:
            try:
                self._tickets.pop()
            except IndexError:  # taken in this moment, by a helper that begins
                break
            n_begun -= 1
        errors = [self._ended.get() for _ in range(n_begun)]
        return next((error for error in errors if error is not None), None)

    def _help(self) -> None:
        try:
            self._tickets.pop()
        except IndexError:
            return
        try:
            self._work()
            self._ended.put(None)
        except BaseException as error:
            self._ended.put(error)
