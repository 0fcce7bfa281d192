"""What the library does, in half a minute: ``python -m immigrate.demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from immigrate._version import __version__
from immigrate.datasets import make_monk1, make_trial
from immigrate.progress import print_line
from immigrate.report import Report

FOLDER = Path("immigrate-demo")
SEED = 0


def main() -> None:
    """Three tables whose truth is known: a find, a puzzle, and nothing to find."""
    print_line(f"immigrate {__version__}: which features matter, which pairs act together?")
    trial = make_trial(random_state=SEED)
    pages = [
        show(
            "Trial: a drug that helps carriers of a variant and harms the others",
            trial,
            "outcome",
            truth="severity and age act each on its own, treatment and variant only together",
        ),
        show(
            "MONK-1: robots of class 1 have head and body of one shape, or a red jacket",
            *make_monk1(),
            truth="jacket_color acts on its own, head_shape and body_shape only together",
        ),
        show(
            "Shuffled: the trial with its outcomes shuffled",
            shuffled(trial),
            "outcome",
            truth="nothing acts on anything",
        ),
    ]
    print_line("\nOpen these pages in a browser; they need no network:")
    for page in pages:
        print_line(f"  {page.resolve()}")


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    """The same table with outcomes that have nothing to do with it.

    Examples
    --------
    >>> from immigrate.datasets import make_trial
    >>> from immigrate.demo import shuffled
    >>> trial = make_trial(50, random_state=0)
    >>> shuffled(trial)["outcome"].value_counts().equals(trial["outcome"].value_counts())
    True
    """
    order = np.random.default_rng(SEED).permutation(len(table))
    return table.assign(outcome=table["outcome"].to_numpy()[order])


def show(title: str, X: pd.DataFrame, y: Any, *, truth: str) -> Path:
    """Print the answers and what weights alone would say; write the page and return its place."""
    print_line(f"\n{title}\n{'=' * len(title)}\nTruth: {truth}.\n")
    report = Report.of(X, y, title=title)
    # The title stands above.
    print_line(str(report).split("\n", 1)[1])
    print_line(f"What weights alone would say: {weights_alone(report)}.")
    name = title.split(":")[0].lower()
    return report.save(FOLDER / f"{name}.html")


def weights_alone(report: Report) -> str:
    """The pair with the largest weight, and where those found stand among them."""
    table = report.table
    pairs = table[table["kind"] == "pair"].sort_values("rank").reset_index(drop=True)
    names = pairs["feature_1"] + " × " + pairs["feature_2"]
    places = pairs.index[pairs["is_found"]] + 1
    first = f"{names[0]} first" + (", as the evidence does" if 1 in places else "")
    later = [f"{names[k - 1]} in place {k} of {len(pairs)}" for k in places if k > 1]
    return ", ".join([first, *later])


if __name__ == "__main__":
    main()
