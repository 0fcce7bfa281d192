"""``immigrate compare``: this library and its peers on the same folds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from immigrate.cli.app import (
    Categorical,
    Circular,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Jobs,
    Missing,
    Outcome,
    OutcomeOption,
    Sheet,
    Table,
    Target,
    Work,
    reading_options,
    table_options,
)
from immigrate.cli.terminal import check_outputs, note, show, show_table, working, write_text
from immigrate.files import spreadsheet_csv

if TYPE_CHECKING:
    from immigrate.cli.tables import TableOptions


def command(
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
    circular: Circular = None,
    outcome: OutcomeOption = Outcome.auto,
    jobs: Jobs = None,
    delimiter: Delimiter = "",
    decimal: Decimal = "",
    encoding: Encoding = "",
    sheet: Sheet = "",
    missing: Missing = None,
) -> Work:
    """Accuracy of the library and of its peers on the same folds."""
    reading = reading_options(delimiter, decimal, encoding, sheet, missing)
    source = table_options("compare", table, target, reading, drop, categorical, circular, outcome)
    return partial(show_comparison, source, folds, repeats, seed, jobs, csv)


def show_comparison(
    source: TableOptions, folds: int, repeats: int, seed: int, jobs: int | None, csv: Path | None
) -> None:
    """Cross-validate all methods, and show which differences are more than chance."""
    from immigrate.table import left_out, messages

    check_outputs(csv, inputs=(source.path,))
    read = source.read()
    X, y = read.frame.drop(columns=source.target), read.frame[source.target]
    for text in messages(left_out(X)):
        note(text)
    with working("comparison") as show_progress:
        from immigrate.cli.comparison import Comparison
        from immigrate.estimators.immigrate_cv import words_of_screen

        if words_of_screen(X.shape[1]):
            note(words_of_screen(X.shape[1]))
        comparison = Comparison.of(
            X,
            y,
            folds=folds,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            circular_features=source.circular,
            show_progress=show_progress,
        )
    show(comparison.heading)
    show_table(comparison.header, comparison.rows())
    for line in comparison.words():
        show(line)
    if csv is not None:
        write_text(csv, spreadsheet_csv(comparison.scores))
        show(f"scores of each fold: {csv}")
