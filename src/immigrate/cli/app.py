"""What can be typed: commands and the options that several share; and what a typed line comes to.

A command is a file with its name, which stands in `commands`. The parameters of its `command` are
the arguments and options; it returns the work as a function without arguments. Nothing heavy is
imported before the work begins, so that ``immigrate --help`` loads no numerical library.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from immigrate._version import __version__
from immigrate.cli.ending import (
    DEBUG,
    DONE,
    FAILED,
    NOT_UNDERSTOOD,
    Interrupts,
    UsageError,
    words_of,
)
from immigrate.cli.terminal import one_line, say

# Typer has click inside or beside it, as its version pleases; this is click's UsageError.
ParsingError: Any = typer.BadParameter.__mro__[1]
INTERRUPTED = "interrupted."
CLOSED = "standard output is closed; send it to a file, to a program or to /dev/null."
Work = Callable[[], None]


class Outcome(StrEnum):
    """What the target is."""

    auto = "auto"
    a_class = "class"
    number = "number"


Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        readable=False,
        help="CSV, TSV, Excel, Parquet or Feather; also packed with gzip.",
    ),
]
Target = Annotated[
    str, typer.Option("--target", "-t", metavar="COLUMN", help="Column that holds the outcome.")
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="Column to leave out; may be repeated.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Column whose numbers are names of groups; may be repeated."
    ),
]
Circular = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=PERIOD",
        help="Column that comes round, such as hour=24; may be repeated.",
    ),
]
AdjustFor = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column that is always in the model and in no pair; may be repeated.",
    ),
]
Pairs = Annotated[
    str,
    typer.Option(
        metavar="PAIRS", help="Pairs to test: those of one feature, or age:dose,age:sex."
    ),
]
Split = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of the rows that measure effects and choose none."),
]
OutcomeOption = Annotated[Outcome, typer.Option(help="What the target is.")]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", help="Processes or threads; -1 for all cores.")
]
Delimiter = Annotated[
    str, typer.Option(metavar="TEXT", help="Between cells, if the guess is wrong; or 'tab'.")
]
Decimal = Annotated[
    str, typer.Option(metavar="TEXT", help="Decimal mark, if the guess is wrong: . or ,")
]
Encoding = Annotated[
    str, typer.Option(metavar="TEXT", help="Encoding of the text, if the guess is wrong.")
]
Sheet = Annotated[
    str, typer.Option(metavar="TEXT", help="Sheet of an Excel file; by default the first.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="Text that means 'no value' beside NA, ? and the like; may be repeated.",
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", readable=False, help="File to write.")
]


def commands() -> typer.Typer:
    """All commands; they use the options above, so that they are imported here."""
    from immigrate.cli import compare, fit, predict, report, test

    app = typer.Typer(
        name="immigrate",
        help=(
            "Which features matter, which act together, how sure that is: from a file, in one go."
        ),
        epilog=(
            "Exit codes: 0 done, 1 failed, 2 not understood. Results go to standard output, all "
            "else to standard error; --debug after any command shows the trace of an error."
        ),
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    for module in (report, test, fit, predict, compare):
        app.command(module.__name__.rpartition(".")[2])(module.command)
    app.command("demo")(demo)
    return app


def _version(is_given: bool) -> None:
    if is_given:
        print(f"immigrate {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
) -> None:
    """Options that stand before a command."""


def demo() -> Work:
    """What the library finds in tables of its own; pages go to immigrate-demo."""

    def work() -> None:
        say("the demo takes about half a minute, and more the first time.")
        from immigrate.demo import main

        main()

    return work


def reading_options(
    delimiter: str, decimal: str, encoding: str, sheet: str, missing: list[str] | None
) -> Any:
    """How the file is to be read."""
    from immigrate.cli.files import Reading

    return Reading(delimiter, decimal, encoding, sheet, tuple(missing or ()))


def table_options(
    command: str,
    table: Path,
    target: str,
    reading: Any,
    drop: list[str] | None,
    categorical: list[str] | None,
    circular: list[str] | None,
    outcome: Outcome,
) -> Any:
    """The table and how it is to be read; refuses a command without a target."""
    from immigrate.cli.tables import TableOptions, periods

    if not target:
        raise UsageError(
            "which column is the outcome? Say so with --target, as in: "
            f"immigrate {command} {table} --target outcome"
            + (f" --out {table.stem}.model" if command == "fit" else "")
        )
    are_classes = outcome is Outcome.a_class
    return TableOptions(
        table,
        target,
        reading,
        tuple(drop or ()),
        tuple(categorical or ()),
        periods(circular or ()),
        are_classes,
    )


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
        return _closed_output()
    except BaseException as error:
        interrupts.ignore()
        # Somebody asked for the end of the process on purpose; it is no failure of the command.
        if isinstance(error, SystemExit):
            raise
        if is_debugged:
            traceback.print_exc()
        return _said(error, interrupts)


def understood(arguments: list[str]) -> Callable[[], None] | int:
    """The work that was asked for; it is done outside of the parser."""
    try:
        return commands()(arguments, prog_name="immigrate", standalone_mode=False)
    except ParsingError as error:
        path = getattr(error.ctx, "command_path", "immigrate")
        raise UsageError(f"{error.format_message()} See: {path} --help") from error


def _said(error: BaseException, interrupts: Interrupts) -> int:
    """Say what happened; the exit code."""
    if interrupts.came or isinstance(error, KeyboardInterrupt | typer.Abort):
        say(f"immigrate: {INTERRUPTED}")
        return FAILED
    say(f"immigrate: {one_line(words_of(error))}")
    return NOT_UNDERSTOOD if isinstance(error, UsageError) else FAILED


def _closed_output() -> int:
    """Standard output was closed, as `head` does when it has enough."""
    with contextlib.suppress(OSError, ValueError):
        # Python flushes it once more at the end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
