"""``immigrate report``: one page about a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from immigrate.cli.app import Jobs, Out, Reading, TableOptions, TestOptions
from immigrate.cli.terminal import check_outputs, note, show, working, writing

# Of a web page; a name without any does no harm.
ENDINGS = ("", ".html", ".htm", ".xhtml")


def command(
    *,
    source: TableOptions,
    out: Out = None,
    title: Annotated[
        str, typer.Option(metavar="TEXT", help="By default the name of the file.")
    ] = "",
    options: TestOptions,
    jobs: Jobs = None,
    reading: Reading,
) -> None:
    """One page about a table: what matters, how sure, how well it predicts."""
    source.check("report")
    from immigrate.cli.tables import read_source, test_parameters

    out = out or default_page(source.table)
    check_outputs(out, inputs=(source.table,))
    if out.suffix.lower() not in ENDINGS:
        note(f"{out} will hold a web page, whatever its name says; call it {out.stem}.html.")
    read = read_source(source, reading)
    parameters = test_parameters(source, options, list(read.frame.columns.drop(source.target)))
    with working("report"):
        from immigrate import InteractionTest
        from immigrate.report import Report

        page = Report.of(
            read.frame,
            source.target,
            title=title or read.name,
            test=InteractionTest(**parameters),
            n_jobs=jobs,
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
