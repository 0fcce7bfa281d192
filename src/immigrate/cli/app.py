"""What can be typed: commands and the options that several share; and what a typed line comes to.

A command is a file with its name, which stands in `commands`. The parameters of its `command` are
options, or groups of them: dataclasses whose fields are options. Nothing heavy is imported before
its work begins, so that ``immigrate --help`` loads no numerical library.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_origin, get_type_hints

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
Jobs = Annotated[
    int | None, typer.Option(metavar="N", help="Processes or threads; -1 for all cores.")
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", readable=False, help="File to write.")
]


@dataclass(frozen=True)
class TableOptions:
    """A table and its columns."""

    table: Table
    target: Annotated[
        str,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column that holds the outcome."),
    ] = ""
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out; may be repeated."),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column whose numbers are names of groups; may be repeated."
        ),
    ] = None
    circular: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=PERIOD",
            help="Column that comes round, such as hour=24; may be repeated.",
        ),
    ] = None
    outcome: Annotated[Outcome, typer.Option(help="What the target is.")] = Outcome.auto

    def check(self, command: str) -> None:
        """Refuse what says too little, or what cannot be."""
        if not self.target:
            raise UsageError(
                "which column is the outcome? Say so with --target, as in: "
                f"immigrate {command} {self.table} --target outcome"
                + (f" --out {self.table.stem}.model" if command == "fit" else "")
            )
        periods(self.circular or ())

    @property
    def circular_features(self) -> dict[str, float] | None:
        """Periods of the columns that come round; None where there are none."""
        return periods(self.circular or ()) or None


@dataclass(frozen=True)
class Reading:
    """How the file is to be read, where the user says so; what is empty is guessed.

    Attributes
    ----------
    as_text : frozenset of str
        Columns that are names, whatever they look like; no option of its own.
    """

    delimiter: Annotated[
        str, typer.Option(metavar="TEXT", help="Between cells, if the guess is wrong; or 'tab'.")
    ] = ""
    decimal: Annotated[
        str, typer.Option(metavar="TEXT", help="Decimal mark, if the guess is wrong: . or ,")
    ] = ""
    encoding: Annotated[
        str, typer.Option(metavar="TEXT", help="Encoding of the text, if the guess is wrong.")
    ] = ""
    sheet: Annotated[
        str, typer.Option(metavar="TEXT", help="Sheet of an Excel file; by default the first.")
    ] = ""
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Text that means 'no value' beside NA, ? and the like; may be repeated.",
        ),
    ] = None
    as_text: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TestOptions:
    """Questions to the test."""

    adjust_for: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that is always in the model and in no pair; may be repeated.",
        ),
    ] = None
    pairs: Annotated[
        str,
        typer.Option(
            metavar="PAIRS", help="Pairs to test: those of one feature, or age:dose,age:sex."
        ),
    ] = ""
    split: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of the rows that measure effects and choose none."
        ),
    ] = None


def periods(texts: Sequence[str]) -> dict[str, float]:
    """What `--circular` names: columns and the periods after which they come round.

    Examples
    --------
    >>> from immigrate.cli.app import periods
    >>> periods(["hour=24", "wind=360"])
    {'hour': 24.0, 'wind': 360.0}
    """
    by_name = {}
    for text in texts:
        # A name may hold such a sign itself.
        name, sign, period = text.rpartition("=")
        if not (sign and name):
            raise UsageError(
                f"--circular takes a column and its period, such as hour=24; got '{text}'."
            )
        try:
            by_name[name] = float(period)
        except ValueError:
            by_name[name] = math.nan
        if not 0 < by_name[name] < math.inf:
            raise UsageError(
                f"--circular {text}: the period is to be a number above 0, such as 24 for hours, "
                f"7 for days of the week or 360 for degrees; got '{period}'."
            )
    return by_name


def with_fields(command: Callable[..., None]) -> Callable[..., Work]:
    """What parses a command: an option for each annotated field of its groups; gives its work."""
    parameters, groups = list[Parameter](), dict[str, tuple[type, list[str]]]()
    hints = get_type_hints(command, include_extras=True)
    for parameter in signature(command).parameters.values():
        group = hints[parameter.name]
        if not isinstance(group, type):
            parameters.append(parameter.replace(annotation=group))
            continue
        annotated = get_type_hints(group, include_extras=True)
        own = [
            one.replace(kind=parameter.kind, annotation=annotated[one.name])
            for one in signature(group).parameters.values()
            if get_origin(annotated[one.name]) is Annotated
        ]
        groups[parameter.name] = group, [one.name for one in own]
        parameters += own

    def flat(**given: Any) -> Work:
        made = {
            name: group(**{field: given.pop(field) for field in own})
            for name, (group, own) in groups.items()
        }
        return partial(command, **made, **given)

    # Typer reads both.
    vars(flat)["__signature__"] = Signature(parameters)
    flat.__annotations__ = {one.name: one.annotation for one in parameters}
    flat.__doc__ = command.__doc__
    return flat


def commands() -> typer.Typer:
    """All commands; they use what stands above, and so they are imported here."""
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
        app.command(module.__name__.rpartition(".")[2])(with_fields(module.command))
    app.command("demo")(with_fields(demo))
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


def demo() -> None:
    """What the library finds in tables of its own; pages go to immigrate-demo."""
    say("the demo takes about half a minute, and more the first time.")
    from immigrate.demo import main

    main()


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
        # Standard output was closed, as `head` does when it has enough. Python flushes it once
        # more at the end, and would complain.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except BaseException as error:
        interrupts.ignore()
        # Somebody asked for the end of the process on purpose; it is no failure of the command.
        if isinstance(error, SystemExit):
            raise
        if is_debugged:
            traceback.print_exc()
        if interrupts.came or isinstance(error, KeyboardInterrupt | typer.Abort):
            say(f"immigrate: {INTERRUPTED}")
            return FAILED
        say(f"immigrate: {one_line(words_of(error))}")
        return NOT_UNDERSTOOD if isinstance(error, UsageError) else FAILED


def understood(arguments: list[str]) -> Callable[[], None] | int:
    """The work that was asked for; it is done outside of the parser."""
    try:
        return commands()(arguments, prog_name="immigrate", standalone_mode=False)
    except ParsingError as error:
        path = getattr(error.ctx, "command_path", "immigrate")
        raise UsageError(f"{error.format_message()} See: {path} --help") from error
