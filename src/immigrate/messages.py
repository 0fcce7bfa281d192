"""What the library says while it works: warnings, and progress where `verbose` asks for it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Listener:
    """Somebody who keeps what is said, and which category is not to be said any further."""

    unsaid: type[Warning]
    heard: list[str] = field(default_factory=list)


# Of this thread, the innermost last.
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("_listeners", default=())


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if from the first caller outside this package."""
    for listener in reversed(_listeners.get()):
        if issubclass(category, listener.unsaid):
            return
        listener.heard.append(message)
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("immigrate."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def heard_warnings(unsaid: type[Warning]) -> Iterator[list[str]]:
    """The messages of `warn_user` in this thread meanwhile; those of category `unsaid` end here.

    All others reach the user as well. ``warnings.catch_warnings`` would change the filters of the
    whole process: of two threads each would hear what the other is told.
    """
    listener = Listener(unsaid)
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield listener.heard
    finally:
        _listeners.reset(token)


# Of this thread: the kind of task that somebody counts, and whom to tell that one has ended.
_counted: ContextVar[tuple[str, Callable[[], None]] | None] = ContextVar("_counted", default=None)


def task_ended(kind: str) -> None:
    """Tell who counts such tasks that one of them has ended.

    Examples
    --------
    >>> from immigrate.messages import counted_tasks, task_ended
    >>> with counted_tasks("step", lambda: print("one step")):
    ...     task_ended("step")
    ...     task_ended("round")
    one step
    """
    counted = _counted.get()
    if counted is not None and counted[0] == kind:
        counted[1]()


@contextmanager
def counted_tasks(kind: str, tell: Callable[[], None]) -> Iterator[None]:
    """Count the tasks of a kind in this thread meanwhile: steps, values of sigma, or rounds.

    A fit inside another one does not count for the outer one: what it calls a step is not what
    the outer one does.
    """
    token = _counted.set((kind, tell))
    try:
        yield
    finally:
        _counted.reset(token)


def progress(line: str) -> None:
    """One line of progress on standard output; it is there at once, whatever the buffering."""
    print(line, flush=True)


LONG_SECONDS = 60.0
"""What is predicted to take longer is said beforehand."""


def foretell(name: str, seconds: float, advice: str) -> None:
    """One line on standard error, at once, if something will take more than a minute.

    Examples
    --------
    >>> import sys
    >>> from immigrate.messages import foretell
    >>> foretell("InteractionTest", 20.0, "n_jobs=-1 uses all cores")
    """
    if seconds > LONG_SECONDS:
        minutes = f"{seconds / 60:.0f} minute{'s' * (round(seconds / 60) != 1)}"
        print(f"{name}: about {minutes}; {advice}.", file=sys.stderr, flush=True)
