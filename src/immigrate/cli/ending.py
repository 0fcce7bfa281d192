"""How a command ends: exit codes, what goes wrong said in the words of the shell, and Ctrl-C."""

from __future__ import annotations

import difflib
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

DONE, FAILED, NOT_UNDERSTOOD = 0, 1, 2
DEBUG = "--debug"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# An extension module that is interrupted while it is set up may crash the process, and an error in
# a callback of the compiler is written down and forgotten.
DEAF = ("<frozen importlib._bootstrap>", "llvmlite")
# Seconds until it is tried again: after such a place, and where an error went unheard elsewhere,
# as in a finalizer. The second leaves time to clean up.
PAUSE, PATIENCE = 0.02, 1.0
MOST_NAMES = 10
"""That a message lists."""


class CommandError(Exception):
    """Something that the user can mend, in one line."""


class UsageError(CommandError):
    """The command was not understood."""


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that was meant, if one is near.

    Examples
    --------
    >>> from immigrate.cli.ending import nearest
    >>> nearest("Outcom", ["age", "outcome"])
    'outcome'
    """
    # Backwards: of names that differ in case only, the first one wins.
    folded = {one.casefold().strip(): one for one in reversed(names)}
    found = difflib.get_close_matches(name.casefold().strip(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def listed(names: Sequence[str]) -> str:
    """Names as a list that stays readable.

    Examples
    --------
    >>> from immigrate.cli.ending import listed
    >>> listed(["age", "dose"])
    "'age', 'dose'"
    """
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:MOST_NAMES]) + more


def unknown_column(
    option: str, name: str, names: Sequence[str], elsewhere: str = ""
) -> CommandError:
    """The error for a column that is not there; `elsewhere` says where the name stands instead."""
    meant = nearest(name, names)
    hint = f" Did you mean '{meant}'?" if meant else f" {elsewhere}" if elsewhere else ""
    return CommandError(
        f"{option} names '{name}', which is no column.{hint} Columns: {listed(names)}."
    )


def words_of(error: BaseException) -> str:
    """What went wrong, and what to do about it."""
    if isinstance(error, CommandError | ValueError | TypeError):
        # Those of the library may say something else to the shell than to Python.
        return str(getattr(error, "shell", error))
    if isinstance(error, MemoryError):
        return "the memory is not enough. Give fewer rows, or fewer columns (--drop)."
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}."
    if isinstance(error, ModuleNotFoundError):
        return f"this needs the package {error.name}; run: pip install 'immigrate[cli]'"
    if isinstance(error, ImportError):
        return f"{error} Run: pip install 'immigrate[cli]'"
    return (
        f"this should not happen ({type(error).__name__}: {error}). Run it again with {DEBUG} and "
        "send us what it says."
    )


class Interrupts:
    """Raises KeyboardInterrupt, and remembers: it may arrive as an error of what it interrupts.

    Files in the making are removed on its way out, which a process that is killed cannot do.
    """

    def __init__(self) -> None:
        self.came = False
        self._again: threading.Timer | None = None

    def __call__(self, signal_number: int, frame: FrameType | None) -> None:
        """What happens when a signal comes."""
        self.came = True
        is_deaf = _is_deaf(frame)
        pause = PAUSE if is_deaf else PATIENCE
        self._forget()
        self._again = threading.Timer(pause, os.kill, (os.getpid(), signal_number))
        self._again.daemon = True
        self._again.start()
        if not is_deaf:
            raise KeyboardInterrupt

    @contextmanager
    def awaited(self, *, to_the_end: bool) -> Iterator[None]:
        """Listen; afterwards as before, or deaf if the process ends anyway."""
        try:
            before = {one: signal.signal(one, self) for one in SIGNALS}
        except ValueError:  # only the main thread may listen
            yield
            return
        try:
            yield
        finally:
            self._forget()
            if to_the_end:
                self.ignore()
            else:
                for one, handler in before.items():
                    signal.signal(one, handler)

    def _forget(self) -> None:
        """Do not try again."""
        if self._again is not None:
            self._again.cancel()

    def ignore(self) -> None:
        """What is left takes a moment, and a second Ctrl-C would only make it ugly."""
        self._forget()
        try:
            for one in SIGNALS:
                signal.signal(one, signal.SIG_IGN)
        except ValueError:
            return


def _is_deaf(frame: FrameType | None) -> bool:
    """Whether an import is under way, or the compiler, whose callbacks lose errors."""
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in DEAF):
            return True
        frame = frame.f_back
    return False
