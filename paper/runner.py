"""Running cells: what is missing, in parallel, each result on disk the moment it is known."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import immigrate
from paper.cells import Cell, Outcome, settings
from paper.claims import Answer, Claims
from paper.store import joined_store
from paper.worker import Worker

# How soon a run sees that another one has ended.
SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Tally:
    """How many cells a run ran, and how many of these failed or timed out."""

    n_run: int
    n_failed: int


def run(
    cells: list[Cell],
    results: Path,
    *,
    data: str | None = None,
    n_jobs: int = 1,
    time_limit: float = 600.0,
    retry: bool = False,
    report: Callable[[str], None] | None = None,
) -> Tally:
    """Run the cells that the folder `results` does not hold yet; says how many ran and failed.

    Stopping at any point, even by kill -9, loses only the cells that were running. What the
    tracked files of the folder know counts as done. Cells whose method has other settings now
    than when they ran are run again; failed ones only if `retry`. Runs on one folder share the
    cells: each waits for those of the others, and takes them over if the other one dies.
    """
    described = {method: settings(method) for method in {cell.method for cell in cells}}
    with closing(joined_store(results, described)) as store:
        done = store.finished(described, retry=retry)
        pending = deque(cell for cell in cells if cell not in done)
        progress = Progress(len(pending), report or ToStandardError())
        claims = Claims(store, described, retry=retry)
        workers = [Worker(data, time_limit) for _ in range(n_jobs)]
        try:
            with closing(_outcomes(pending, claims, workers, progress)) as outcomes:
                for cell, result in outcomes:
                    store.add(cell, result, described[cell.method], immigrate.__version__)
                    progress.advance(cell, result)
        finally:
            claims.release()
    return Tally(progress.n_done, progress.n_failed)


def _outcomes(
    pending: deque[Cell], claims: Claims, workers: list[Worker], progress: Progress
) -> Iterator[tuple[Cell, Outcome]]:
    """Pairs of cell and outcome as they come in, from killable workers."""
    idle, running = list(workers), {}
    # The threads only wait for their worker process; the processes do the work.
    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            while pending or running:
                for cell in _claimed(pending, len(idle), claims, progress):
                    worker = idle.pop()
                    running[threads.submit(worker, cell)] = worker, cell
                if not running and pending:
                    time.sleep(SECONDS_BETWEEN_LOOKS)  # all that is left is with other runs
                for future in wait(running, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED).done:
                    worker, cell = running.pop(future)
                    idle.append(worker)
                    yield cell, future.result()
                claims.beat()
        finally:
            for worker in workers:
                worker.stop()
    for worker in workers:
        worker.close()


def _claimed(
    pending: deque[Cell], n_wanted: int, claims: Claims, progress: Progress
) -> Iterator[Cell]:
    """Take cells that nobody else runs; those of others wait at the end of the line."""
    for _ in range(len(pending)):
        if n_wanted == 0:
            return
        cell = pending.popleft()
        answer = claims.ask(cell)
        if answer is Answer.MINE:
            n_wanted -= 1
            yield cell
        elif answer is Answer.TAKEN:
            pending.append(cell)
        else:
            progress.n_cells -= 1


class Progress:
    """A line that says how far the run is, what failed and how long it will take."""

    def __init__(self, n_cells: int, report: Callable[[str], None]):
        self.n_cells, self.report = n_cells, report
        self.n_done = self.n_failed = 0
        self.start = time.monotonic()
        if n_cells:
            # The first cell of a large table can take long.
            self.report(f"0/{n_cells} (0 %)")

    def advance(self, cell: Cell, result: Outcome) -> None:
        """Count one more cell and report."""
        self.n_done += 1
        self.n_failed += result.status != "ok"
        elapsed = time.monotonic() - self.start
        left = elapsed / self.n_done * (self.n_cells - self.n_done)
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        trial = f"{cell.data} {cell.method} {cell.repeat + 1}/{cell.fold + 1}"
        share = 100 * self.n_done / self.n_cells
        self.report(
            f"{self.n_done}/{self.n_cells} ({share:.0f} %){failed}, {_clock(left)} left  {trial}"
        )


class ToStandardError:
    """Overwrites one line on a terminal; in a log file prints one line per minute at most."""

    SECONDS_BETWEEN_LINES = 60.0

    def __init__(self):
        self._last_time = -float("inf")

    def __call__(self, line: str) -> None:
        """Show the line, or not yet."""
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last_time >= self.SECONDS_BETWEEN_LINES:
            print(line, file=sys.stderr, flush=True)
            self._last_time = time.monotonic()


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
