"""What can be typed: commands, arguments and options. Nothing is done here.

Each command returns the work as a function without arguments, and imports it only then, so that
``immigrate --help`` loads none of the numerical libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from immigrate._version import __version__
from immigrate.cli._errors import UsageError

Work = Callable[[], None]
app = typer.Typer(
    name="immigrate",
    help="Which features matter, which act together, how sure that is: from a file, in one go.",
    epilog=(
        "Exit codes: 0 done, 1 failed, 2 not understood. Results go to standard output, all else "
        "to standard error; --debug after any command shows the trace of an error."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


def _version(is_asked: bool) -> None:
    if is_asked:
        print(f"immigrate {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
) -> None:
    """Options that stand before a command."""


@app.command()
def report(
    table: Table,
    target: Target = "",
    out: Out = None,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="By default the name of the file.")
    ] = "",
    drop: Drop = None,
    categorical: Categorical = None,
    adjust_for: AdjustFor = None,
    pairs: Pairs = "",
    outcome: OutcomeOption = Outcome.auto,
    split: Split = None,
    jobs: Jobs = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """One page about a table: what matters, how sure, how well it predicts."""
    from immigrate.cli._commands.report import report as work
    from immigrate.cli._evidence import Options

    reading = _reading(delimiter, decimal, encoding, sheet, missing)
    asked = _asked("report", table, target, reading, drop, categorical, outcome)
    options = Options(tuple(adjust_for or ()), pairs, outcome.value, split, jobs)
    return partial(work, asked, options, out, title)


@app.command("test")
def evidence(
    table: Table,
    target: Target = "",
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write all evidence as CSV."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write all evidence as JSON."),
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    adjust_for: AdjustFor = None,
    pairs: Pairs = "",
    outcome: OutcomeOption = Outcome.auto,
    split: Split = None,
    jobs: Jobs = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """The evidence: which features matter, which act together."""
    from immigrate.cli._commands.test import test as work
    from immigrate.cli._evidence import Options

    reading = _reading(delimiter, decimal, encoding, sheet, missing)
    # The test takes numbers for classes by itself.
    asked = _asked("test", table, target, reading, drop, categorical, Outcome.auto)
    options = Options(tuple(adjust_for or ()), pairs, outcome.value, split, jobs)
    return partial(work, asked, options, csv, json)


@app.command()
def fit(
    table: Table,
    target: Target = "",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", readable=False, help="File to write, such as m.model."
        ),
    ] = None,
    boosted: Annotated[bool, typer.Option("--boosted", help="A vote of models (BIM).")] = False,
    drop: Drop = None,
    categorical: Categorical = None,
    outcome: OutcomeOption = Outcome.auto,
    jobs: Jobs = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """Fit a classifier on all rows and store it."""
    from immigrate.cli._commands.fit import fit as work

    reading = _reading(delimiter, decimal, encoding, sheet, missing)
    asked = _asked("fit", table, target, reading, drop, categorical, outcome)
    if out is None:
        raise UsageError(
            "where should the model go? Say so with --out, as in: "
            f"immigrate fit {table} --target {target} --out {table.stem}.model"
        )
    return partial(work, asked, out, boosted, jobs)


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", readable=False, help="What immigrate fit wrote.")
    ],
    table: Table,
    out: Out = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """Predict the classes of the rows of a table, as CSV."""
    from immigrate.cli._commands.predict import predict as work

    return partial(work, model, table, _reading(delimiter, decimal, encoding, sheet, missing), out)


@app.command()
def compare(
    table: Table,
    target: Target = "",
    folds: Annotated[int, typer.Option(min=2, help="Folds of cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="How often, with other folds.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds and the forest.")] = 0,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write the scores of each fold."),
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    outcome: OutcomeOption = Outcome.auto,
    jobs: Jobs = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """Accuracy of the library and of its peers on the same folds."""
    from immigrate.cli._commands.compare import compare as work

    reading = _reading(delimiter, decimal, encoding, sheet, missing)
    asked = _asked("compare", table, target, reading, drop, categorical, outcome)
    return partial(work, asked, folds, repeats, seed, jobs, csv)


@app.command()
def demo() -> Work:
    """What the library finds in tables of its own; pages go to immigrate-demo."""
    from immigrate.cli._commands.demo import demo as work

    return work


@app.command("warm-up")
def warm_up() -> Work:
    """Compile now what the first command would compile."""
    from immigrate.cli._commands.warm_up import warm_up as work

    return work


def _reading(
    delimiter: str, decimal: str, encoding: str, sheet: str, missing: list[str] | None
) -> Any:
    from immigrate.cli._files import Reading

    return Reading(delimiter, decimal, encoding, sheet, tuple(missing or ()))


def _asked(
    command: str,
    table: Path,
    target: str,
    reading: Any,
    drop: list[str] | None,
    categorical: list[str] | None,
    outcome: Outcome,
) -> Any:
    from immigrate.cli._tables import Asked

    if not target:
        raise UsageError(
            "which column is the outcome? Say so with --target, as in: "
            f"immigrate {command} {table} --target outcome"
            + (f" --out {table.stem}.model" if command == "fit" else "")
        )
    are_classes = outcome is Outcome.a_class
    return Asked(table, target, reading, tuple(drop or ()), tuple(categorical or ()), are_classes)
