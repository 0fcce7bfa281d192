"""What stands round a fit, and what is said meanwhile: warnings, and progress."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Listener:
    """Collects messages of warnings; those of category `hidden` do not reach the user."""

    hidden: type[Warning]
    messages: list[str] = field(default_factory=list)


# Of this thread, the innermost last.
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("_listeners", default=())


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if from the first caller outside this package."""
    for listener in reversed(_listeners.get()):
        if issubclass(category, listener.hidden):
            return
        listener.messages.append(message)
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("immigrate."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def collected_warnings(hidden: type[Warning]) -> Iterator[list[str]]:
    """Collect the messages of `warn_user` in this thread; those of category `hidden` end here.

    All others reach the user as well. ``warnings.catch_warnings`` would change the filters of the
    whole process: each of two threads would collect the warnings of the other.
    """
    listener = Listener(hidden)
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield listener.messages
    finally:
        _listeners.reset(token)


# Of this thread: takes lines of progress; None is standard output.
_line_listener: ContextVar[Callable[[str], None] | None] = ContextVar(
    "_line_listener", default=None
)


def print_line(line: str) -> None:
    """One line of progress; on standard output it is there at once, whatever the buffering."""
    listener = _line_listener.get()
    if listener is not None:
        listener(line)
    else:
        print(line, flush=True)


@contextmanager
def progress_goes_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Inside the block, this function takes the lines of progress, those of `verbose` as well."""
    token = _line_listener.set(listener)
    line = ProgressLine(lambda text: listener(text.removeprefix("immigrate: ")))
    try:
        with reporting_progress(line):
            yield
    finally:
        _line_listener.reset(token)


SILENT_SECONDS = 2.0
"""Work that takes longer reports how far it is."""


class ProgressLine:
    """How far long work is: on a terminal one line that is overwritten, else ever fewer lines.

    Parameters
    ----------
    write : callable or None
        Takes the lines; None is standard error.

    Examples
    --------
    >>> from immigrate.progress import ProgressLine
    >>> clock = iter([0.0, 1.0, 2.5, 3.0, 6.0])
    >>> line = ProgressLine(print, clock=lambda: next(clock))
    >>> for step in range(4):
    ...     line.beat("fold 2 of 5", f"step {step}")
    immigrate: 2 s: fold 2 of 5, step 1
    immigrate: 6 s: fold 2 of 5, step 3
    """

    def __init__(
        self,
        write: Callable[[str], None] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write, self._clock = write, clock
        self._begun, self._due, self._width = clock(), SILENT_SECONDS, 0

    def beat(self, *stages: str) -> None:
        """Work goes on; reported if nothing was reported for a while."""
        elapsed = self._clock() - self._begun
        if elapsed < self._due:
            return
        line = f"immigrate: {elapsed:.0f} s: {', '.join(stages)}"
        is_watched = self._write is None and sys.stderr.isatty()
        # Lines that stay, in a notebook or a log, come at doubled intervals.
        self._due = elapsed + SILENT_SECONDS if is_watched else 2 * elapsed
        if self._write is not None:
            self._write(line)
        elif is_watched:
            print(f"\r{line:{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Wipe the line on a terminal."""
        if self._width:
            print(f"\r{'':{self._width}}\r", end="", file=sys.stderr, flush=True)


class Run:
    """The number of threads, and where a long stage reports its progress.

    Examples
    --------
    >>> from immigrate.progress import Run
    >>> run = Run(write=print, seconds_between=0.0)
    >>> run.stage = "null model"
    null model
    >>> run.tick(3, 4)
    null model, 75 %
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        write: Callable[[str], None] | None = None,
        seconds_between: float = 3.0,
    ) -> None:
        self.n_jobs, self._stage = n_jobs, ""
        self._write, self._pause, self._last = write, seconds_between, time.monotonic()

    @property
    def stage(self) -> str:
        """The current stage; reported when it begins, if nothing was reported for a while."""
        return self._stage

    @stage.setter
    def stage(self, name: str) -> None:
        self._stage = name
        self._report(name)

    def tick(self, done: int, total: int) -> None:
        """Part of a stage is done; reported if nothing was reported for a while."""
        self._report(f"{self.stage}, {done / total:.0%}".replace("%", " %"))

    def _report(self, text: str) -> None:
        if self._write is None or time.monotonic() - self._last < self._pause:
            return
        self._last = time.monotonic()
        self._write(text)


ALONE = Run()
"""One thread, and no lines of progress."""


# Of this thread: the line that reports progress, None where `verbose` prints more, and the stages
# that it names. None outside of `reporting_progress`.
_reporting: ContextVar[tuple[ProgressLine | None, tuple[str, ...]] | None] = ContextVar(
    "_reporting", default=None
)


@contextmanager
def reporting_progress(line: ProgressLine | None) -> Iterator[None]:
    """Inside the block, `report_progress` speaks through this line; the outermost counts."""
    if _reporting.get() is not None:
        yield
        return
    try:
        _reporting.set((line, ()))
        yield
    finally:
        # This first: should wiping the line fail, the next fit must be reported all the same.
        _reporting.set(None)
        if line is not None:
            line.end()


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """Stands round the body of every `fit`: it ends whole or not at all, and says where it is.

    After an error, or Ctrl-C between two assignments, the estimator is the one that it was before.
    A fit that takes long reports its progress, unless `verbose` says more.

    Parameters
    ----------
    estimator : estimator

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from immigrate.progress import fitting
    >>> class Mean(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         with fitting(self):
    ...             self.sum_ = sum(X)
    ...             self.mean_ = self.sum_ / len(X)
    ...         return self
    >>> model = Mean().fit([1.0, 3.0])
    >>> model.fit([])
    Traceback (most recent call last):
    ZeroDivisionError: division by zero
    >>> model.sum_
    4.0
    """
    before = dict(vars(estimator))
    try:
        with reporting_progress(None if getattr(estimator, "verbose", False) else ProgressLine()):
            yield
    except BaseException:
        estimator.__dict__ = before
        raise


@contextmanager
def progress_stage(stage: str) -> Iterator[None]:
    """Inside the block, lines of progress begin with this stage."""
    before = _reporting.get()
    if before is not None:
        _reporting.set((before[0], (*before[1], stage)))
    try:
        yield
    finally:
        _reporting.set(before)


def report_progress(step: str) -> None:
    """A step of a fit is done, for whose end the user may be waiting."""
    line, stages = _reporting.get() or (None, ())
    if line is not None:
        line.beat(*stages, step)
