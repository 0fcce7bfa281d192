"""``immigrate report``: one page about a table."""

from __future__ import annotations

from pathlib import Path

from immigrate.cli._errors import CommandError
from immigrate.cli._evidence import Options
from immigrate.cli._outputs import check_outputs, writing
from immigrate.cli._screen import note, show, working
from immigrate.cli._tables import Asked

# Of a web page; a name without any does no harm.
ENDINGS = ("", ".html", ".htm", ".xhtml")


def report(asked: Asked, options: Options, out: Path | None, title: str) -> None:
    """Write the page and print its answers, and what it left out."""
    if options.outcome == "number":
        raise CommandError(
            "the report explains classes; immigrate test --outcome number tests numbers."
        )
    out = out or default_page(asked.path)
    check_outputs(out, inputs=(asked.path,))
    if out.suffix.lower() not in ENDINGS:
        note(f"{out} will hold a web page, whatever its name says; call it {out.stem}.html.")
    question = asked.read()
    parameters = options.parameters(list(question.X.columns))
    with working("report"):
        from immigrate import InteractionTest
        from immigrate.report import Report

        page = Report.of(
            question.table,
            asked.target,
            title=title or question.name,
            test=InteractionTest(**parameters),
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
    >>> from immigrate.cli._commands.report import default_page
    >>> print(default_page(Path("folder/data.v2.csv.gz")))
    data.v2-report.html
    """
    return Path(f"{Path(table.name.removesuffix('.gz')).stem}-report.html")
