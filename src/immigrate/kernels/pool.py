"""Threads that wait for work, and that an interrupt cannot bring to a stop.

Ctrl-C reaches the main thread between any two of its steps. The pools of the standard library
take locks while they hand out work; an interrupt inside leaves such a lock taken, and then the
next fit, or the end of the process, waits for ever. Here all that threads share is done by single
calls of a `deque` or a `SimpleQueue`, before or after which an interrupt may come, but not within.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

Job = Callable[[], None]


class ThreadPool:
    """Up to `most` threads, each started when it is first needed.

    Examples
    --------
    >>> from queue import SimpleQueue
    >>> from immigrate.kernels.pool import ThreadPool
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
