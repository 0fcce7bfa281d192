"""How a command ends: with an exit code, and one line on standard error where it failed."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer

from immigrate.cli._app import app
from immigrate.cli._errors import CommandError, UsageError, one_line
from immigrate.cli._interrupts import Interrupts
from immigrate.cli._screen import say

DONE, FAILED, NOT_UNDERSTOOD = 0, 1, 2
# Typer has click inside or beside it, as its version pleases; this is click's UsageError.
ParsingError: Any = typer.BadParameter.__mro__[1]
DEBUG = "--debug"
INTERRUPTED = "interrupted."
CLOSED = "standard output is closed; send it to a file, to a program or to /dev/null."


def ended(arguments: list[str], interrupts: Interrupts) -> int:
    """Run what was typed; how it ended."""
    if sys.stderr is None:  # closed by whoever started us
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        say(f"immigrate: {CLOSED}")
        return FAILED
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A terminal that lacks a character shows a mark for it instead of failing.
            stream.reconfigure(errors="replace")
    if hasattr(sys.stdout, "reconfigure") and not sys.stdout.isatty():
        # What a file or a program gets is the same everywhere, whatever the language settings.
        sys.stdout.reconfigure(encoding="utf-8")
    # Taken out before parsing, so that it may stand anywhere.
    is_debugged = DEBUG in arguments
    try:
        work = understood([one for one in arguments if one != DEBUG] or ["--help"])
        if callable(work):
            work()
        sys.stdout.flush()
        return DONE
    except BrokenPipeError:
        return _nobody_reads()
    except BaseException as error:
        interrupts.ignore()
        # Somebody asked for the end of the process on purpose; it is no failure of the command.
        if isinstance(error, SystemExit):
            raise
        if is_debugged:
            traceback.print_exc()
        return _told(error, interrupts)


def understood(arguments: list[str]) -> Callable[[], None] | int:
    """The work that was asked for; it is done outside of the parser."""
    try:
        return app(arguments, prog_name="immigrate", standalone_mode=False)
    except ParsingError as error:
        path = getattr(error.ctx, "command_path", "immigrate")
        raise UsageError(f"{error.format_message()} See: {path} --help") from error


def _told(error: BaseException, interrupts: Interrupts) -> int:
    """Say what happened; the exit code."""
    if interrupts.came or isinstance(error, KeyboardInterrupt | typer.Abort):
        say(f"immigrate: {INTERRUPTED}")
        return FAILED
    say(f"immigrate: {one_line(_words(error))}")
    return NOT_UNDERSTOOD if isinstance(error, UsageError) else FAILED


def _words(error: BaseException) -> str:
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


def _nobody_reads() -> int:
    """Standard output was closed, as `head` does when it has enough."""
    with contextlib.suppress(OSError, ValueError):
        # Python flushes it once more at the end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
