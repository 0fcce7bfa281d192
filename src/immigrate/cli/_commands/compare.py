"""``immigrate compare``: this library and its peers on the same folds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from immigrate.cli._outputs import check_outputs, write_text
from immigrate.cli._screen import note, show, show_table, working
from immigrate.cli._tables import Asked
from immigrate.files import spreadsheet_csv

if TYPE_CHECKING:
    import pandas as pd


def compare(
    asked: Asked, folds: int, repeats: int, seed: int, jobs: int | None, csv: Path | None
) -> None:
    """Cross-validate all methods, and say who is shown to be better than whom."""
    check_outputs(csv, inputs=(asked.path,))
    question = asked.read()
    for text in _left_out(question.X):
        note(text)
    with working("comparison") as tell:
        from immigrate.cli._comparison import Comparison
        from immigrate.estimators.default_model import words_of_screen

        if words_of_screen(question.X.shape[1]):
            note(words_of_screen(question.X.shape[1]))
        comparison = Comparison.of(
            question.X, question.y, folds=folds, repeats=repeats, seed=seed, jobs=jobs, tell=tell
        )
    show(comparison.heading)
    show_table(comparison.header, comparison.rows())
    for line in comparison.words():
        show(line)
    if csv is not None:
        write_text(csv, spreadsheet_csv(comparison.scores))
        show(f"scores of each fold: {csv}")


def _left_out(X: pd.DataFrame) -> Iterator[str]:
    """What can be no feature, and so is left out for all methods alike."""
    from immigrate.table import left_out, messages

    return messages(left_out(X))
