"""``immigrate report``: one page about a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from immigrate.cli.app import (
    AdjustFor,
    Categorical,
    Circular,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Jobs,
    Missing,
    Out,
    Outcome,
    OutcomeOption,
    Pairs,
    Sheet,
    Split,
    Table,
    Target,
    Work,
    reading_options,
    table_options,
)
from immigrate.cli.ending import CommandError
from immigrate.cli.terminal import check_outputs, note, show, working, writing

if TYPE_CHECKING:
    from immigrate.cli.tables import TableOptions, TestOptions

# Of a web page; a name without any does no harm.
ENDINGS = ("", ".html", ".htm", ".xhtml")


def command(
    table: Table,
    target: Target = "",
    out: Out = None,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="By default the name of the file.")
    ] = "",
    drop: Drop = None,
    categorical: Categorical = None,
    circular: Circular = None,
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
    from immigrate.cli.tables import TestOptions

    reading = reading_options(delimiter, decimal, encoding, sheet, missing)
    source = table_options("report", table, target, reading, drop, categorical, circular, outcome)
    options = TestOptions(tuple(adjust_for or ()), pairs, outcome.value, split, jobs)
    return partial(write_report, source, options, out, title)


def write_report(source: TableOptions, options: TestOptions, out: Path | None, title: str) -> None:
    """Write the page and print its answers, and what it left out."""
    if options.outcome == "number":
        raise CommandError(
            "the report explains classes; immigrate test --outcome number tests numbers."
        )
    out = out or default_page(source.path)
    check_outputs(out, inputs=(source.path,))
    if out.suffix.lower() not in ENDINGS:
        note(f"{out} will hold a web page, whatever its name says; call it {out.stem}.html.")
    read = source.read()
    parameters = options.parameters(list(read.frame.columns.drop(source.target)))
    with working("report"):
        from immigrate import InteractionTest
        from immigrate.report import Report

        page = Report.of(
            read.frame,
            source.target,
            title=title or read.name,
            test=InteractionTest(**parameters, circular_features=source.circular),
            n_jobs=options.jobs,
            verbose=True,
        )
        with writing(out):
            page.save(out)
    for line in page.summary["data"]["notes"]:
        note(line)
    show(str(page))
    show(f"report: {out}")


def default_page(table: Path) -> Path:
    """Where the page about a file goes: into the current folder, named after it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from immigrate.cli.report import default_page
    >>> print(default_page(Path("folder/data.v2.csv.gz")))
    data.v2-report.html
    """
    return Path(f"{Path(table.name.removesuffix('.gz')).stem}-report.html")
