"""Threads for work cut into fixed parts, and one thread of BLAS where matrices are small.

The parts do not depend on the number of threads and their results are put together in order,
so that any number of threads gives the same bits.

**Interrupts.** Ctrl-C reaches the main thread between any two of its steps. The pools of the
standard library take locks while they hand out work; an interrupt inside leaves such a lock taken,
and then the next fit, or the end of the process, waits for ever. Here all that threads share is
done by single calls of a `deque` or a `SimpleQueue`, before or after which an interrupt may come,
but not within.

**BLAS.** The test and the solvers multiply thousands of matrices of a few dozen rows. At that size
a second thread of BLAS costs more in waking and waiting than it computes, and on a busy machine
many times more. Cores are better used by threads that each take their own share of the work
(`n_jobs`).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any, TypeVar

import joblib

# The controller sees the libraries that are loaded when it is made: those of NumPy and SciPy.
import numpy  # noqa: F401
import scipy.linalg  # noqa: F401
from joblib.parallel import (
    LokyBackend,
    MultiprocessingBackend,
    SequentialBackend,
    ThreadingBackend,
    get_active_backend,
)
from threadpoolctl import ThreadpoolController

from immigrate.checks import check_jobs

LOCAL_BACKENDS = (SequentialBackend, ThreadingBackend, LokyBackend, MultiprocessingBackend)

P = TypeVar("P")
R = TypeVar("R")
Job = Callable[[], None]

# Rows from which on a second thread makes an eigenvalue decomposition faster.
WIDE_MATRIX = 384

# BLAS has one number of threads per process. Of blocks that overlap in several threads of Python
# the first one sets the limit, and the last one takes it away.
_lock, _blocks = threading.Lock(), list[ExitStack]()


def n_threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's `n_jobs`.

    None is 1 unless a ``joblib.parallel_config`` says otherwise, -1 is all cores; inside a
    joblib worker it is 1, so that cores are not shared out twice.
    """
    if n_jobs is not None:
        check_jobs(n_jobs)
    n = int(joblib.effective_n_jobs(n_jobs))
    if isinstance(get_active_backend()[0], LOCAL_BACKENDS):
        return n
    # Of a cluster joblib counts all threads, here and in every worker; they are not our threads.
    return 1 if n_jobs is None else min(n, joblib.cpu_count())


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
                # After an error or Ctrl-C no thread begins another part.
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
    of helpers that have not begun: they would find nothing to do, and no call waits for them.
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


class ThreadPool:
    """Up to `most` threads, each started when it is first needed.

    Examples
    --------
    >>> from queue import SimpleQueue
    >>> from immigrate.kernels.threads import ThreadPool
    >>> pool, done = ThreadPool(2), SimpleQueue()
    >>> for k in range(3):
    ...     pool.submit(lambda k=k: done.put(k))
    >>> sorted(done.get() for _ in range(3))
    [0, 1, 2]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        # One entry for each thread that waits. An interrupt can leave one too many or too few,
        # which costs a thread at work and no answer: whoever submits a job does not rely on it.
        self._idle: deque[None] = deque()

    def submit(self, job: Job) -> None:
        """Let a thread do a job as soon as one is free; the job must not raise."""
        self._jobs.put(job)
        try:
            self._idle.pop()
        except IndexError:
            if len(self._threads) < self._most:
                self._start()

    def _start(self) -> None:
        # A daemon: after an interrupt it may still be at work, and the process must end all the
        # same.
        name = f"immigrate_{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._threads.append(thread)
        try:
            thread.start()
        except RuntimeError:
            # No room for another thread: those that there are, or the caller, do the work.
            self._threads.remove(thread)

    def _work(self) -> None:
        while True:
            self._jobs.get()()
            self._idle.append(None)


_pools: dict[int, ThreadPool] = {}


def pool_of_process() -> ThreadPool:
    """One pool per process, whatever numbers of threads are asked for."""
    # A forked child inherits the dictionary but not the threads: the key keeps it off them.
    key = os.getpid()
    if key not in _pools:
        # In one step for all threads: of two that come at once, both get the same pool. The other
        # has not started a thread.
        _pools.setdefault(key, ThreadPool(max(4, os.cpu_count() or 1)))
    return _pools[key]


@cache
def _controller() -> ThreadpoolController:
    """Made at the first use and kept: looking through the loaded libraries takes milliseconds.

    A forked child can go on using it, because its libraries are where its parent's were.
    """
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread inside the block, or inside a function that this decorates.

    Threads that are started inside are limited as well: BLAS has one pool per process.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.kernels.threads import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    with _lock:
        block = ExitStack()
        if not _blocks:
            block.enter_context(_controller().limit(limits=1, user_api="blas"))
        _blocks.append(block)
    try:
        yield
    finally:
        with _lock:
            # The first block has the limit and is taken off last, whoever leaves last.
            _blocks.pop().close()


def blas_threads_for(n_rows: int) -> AbstractContextManager[None]:
    """As many threads of BLAS as are of use for square matrices of so many rows."""
    return one_blas_thread() if n_rows < WIDE_MATRIX else contextlib.nullcontext()
