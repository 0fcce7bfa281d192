"""A process that runs cells one after another and can be killed when one takes too long.

Threads cannot be stopped and a process for each cell would import scikit-learn each time, so
a worker stays alive between cells and is replaced only after it had to be killed.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from threading import Thread

from paper.cells import Cell, Outcome, outcome

# Each worker is one core's worth of work.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


class Worker:
    """A handle on a process that answers cells with outcomes."""

    def __init__(self, folder: str | None, time_limit: float):
        self.folder, self.time_limit = folder, time_limit
        self._process, self._is_stopped = None, False

    def __call__(self, cell: Cell) -> Outcome:
        """The outcome of `cell`, at the latest after the time limit."""
        if self._process is None:
            self._start()
        start = time.perf_counter()
        try:
            self._pipe.send(cell)
            if self._pipe.poll(self.time_limit):
                return self._pipe.recv()
            result = Outcome("time-out", error=f"stopped after {self.time_limit:g} s")
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode
            result = Outcome("error", error=f"the worker process died with exit code {code}")
        self.close()
        return Outcome(result.status, seconds=time.perf_counter() - start, error=result.error)

    def stop(self) -> None:
        """Kill the process from another thread; whoever waits for an answer gets an error."""
        self._is_stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        os.environ.update(ONE_THREAD)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self.folder), daemon=True)
        self._process.start()
        theirs.close()
        if self._is_stopped:
            self._process.kill()
        # Not counted against the first cell: a new process imports for a second or two.
        self._pipe.recv()


def _serve(pipe, folder) -> None:
    Thread(target=_end_with_parent, daemon=True).start()
    pipe.send("ready")
    while True:
        try:
            pipe.send(outcome(pipe.recv(), folder))
        except (EOFError, OSError):
            return  # The parent is gone: nobody would read another answer.


def _end_with_parent() -> None:
    """When the run is killed, drop the cell that nobody waits for: it may take an hour."""
    multiprocessing.parent_process().join()
    os._exit(1)
