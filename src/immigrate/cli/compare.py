"""``immigrate compare``: this library and its peers on the same folds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from immigrate.cli.app import Jobs, Reading, TableOptions
from immigrate.cli.terminal import check_outputs, note, show, show_table, working, write_text
from immigrate.files import spreadsheet_csv


def command(
    *,
    source: TableOptions,
    folds: Annotated[int, typer.Option(min=2, help="Folds of cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="How often, with other folds.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds and the forest.")] = 0,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write the scores of each fold."),
    ] = None,
    jobs: Jobs = None,
    reading: Reading,
) -> None:
    """Accuracy, or R², of the library and of its peers on the same folds."""
    source.check("compare")
    from immigrate.cli.tables import is_number, read_source
    from immigrate.table import left_out, messages

    check_outputs(csv, inputs=(source.table,))
    read = read_source(source, reading)
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
            circular_features=source.circular_features,
            is_number=is_number(y, source),
            show_progress=show_progress,
        )
    show(comparison.heading)
    show_table(comparison.header, comparison.rows())
    for line in comparison.words():
        show(line)
    if csv is not None:
        write_text(csv, spreadsheet_csv(comparison.scores))
        show(f"scores of each fold: {csv}")
