"""``immigrate test``: the evidence for features and pairs, on the screen and as files."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from immigrate._version import __version__
from immigrate.cli.app import Jobs, Outcome, Reading, TableOptions, TestOptions
from immigrate.cli.ending import CommandError, listed
from immigrate.cli.terminal import check_outputs, show, show_table, working, write_text
from immigrate.files import json_text, spreadsheet_csv

if TYPE_CHECKING:
    import pandas as pd

# Rows of each table on the screen; files hold all.
MOST_SHOWN = 10


def command(
    *,
    source: TableOptions,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write all evidence as CSV."),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(metavar="FILE", readable=False, help="Write all evidence as JSON."),
    ] = None,
    options: TestOptions,
    jobs: Jobs = None,
    reading: Reading,
) -> None:
    """The evidence: which features matter, which act together."""
    source.check("test")
    from immigrate.cli.tables import read_source, test_parameters, without_dates

    check_outputs(csv, json, inputs=(source.table,))
    # The test takes numbers for classes by itself.
    read = read_source(replace(source, outcome=Outcome.auto), reading)
    X = without_dates(read.frame.drop(columns=source.target))
    names = list(X.columns)
    if len(names) < 2:
        raise CommandError(
            f"{listed(names) or 'nothing'} is the only feature, and a pair takes two; immigrate "
            "report does without."
        )
    parameters = test_parameters(source, options, names)
    with working("test of features and pairs"):
        from immigrate import InteractionTest

        tested = InteractionTest(**parameters, n_jobs=jobs, verbose=1)
        tested.fit(X, read.frame[source.target])
    show(tested.summary())
    show_evidence(tested)
    if csv is not None:
        write_text(csv, spreadsheet_csv(evidence(tested)))
        show(f"evidence: {csv}")
    if json is not None:
        from immigrate.report.page import plain

        write_text(
            json, json_text(plain(as_json(tested, read.name, source.target), digits=17), indent=1)
        )
        show(f"evidence: {json}")


def show_evidence(tested: Any) -> None:
    """The first rows of both tables."""
    from immigrate.interactions.words import p_text, size_text

    features, pairs = tested.features_, tested.table_
    show(f"\nFeatures, by evidence{_first(len(features))}")
    show_table(
        ["feature", "p", "adjusted p", "p given others", "size (95 %)"],
        [
            [
                str(row["feature"]),
                *map(p_text, row[["p_value", "p_adjusted", "p_given_others"]]),
                size_text(row),
            ]
            for _, row in features.head(MOST_SHOWN).iterrows()
        ],
    )
    if not len(pairs):
        return
    show(f"\nPairs, by evidence{_first(tested.n_tests_)}")
    show_table(
        ["feature", "with", "p", "adjusted p", "size", "shown"],
        [
            [
                str(row["feature_1"]),
                str(row["feature_2"]),
                *map(p_text, row[["p_value", "p_adjusted"]]),
                "–" if math.isnan(row["size"]) else f"{row['size']:.2f}",
                "yes"
                if row["is_found"]
                # Its p was small before those found were part of the model, and is not after.
                else "no: not beyond those shown"
                if row["p_adjusted"] <= tested.alpha
                else "no",
            ]
            for _, row in pairs.head(MOST_SHOWN).iterrows()
        ],
        n_names=2,
    )


def _first(count: int) -> str:
    return f": the first {MOST_SHOWN} of {count}" if count > MOST_SHOWN else ""


def evidence(tested: Any) -> pd.DataFrame:
    """Features and pairs as one table."""
    import pandas as pd

    features = tested.features_.rename(columns={"feature": "feature_1"})
    parts = [features.assign(kind="feature"), tested.table_.assign(kind="pair")]
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    first = ["kind", "feature_1", *(["feature_2"] if "feature_2" in table else [])]
    return table[[*first, *(name for name in table if name not in first)]]


def as_json(tested: Any, name: str, target: str) -> dict[str, Any]:
    """All that the test found, as plain values."""
    return {
        "format": "immigrate evidence 1",
        "library": __version__,
        "table": name,
        "target": target,
        "classes": [str(one) for one in getattr(tested, "classes_", [])],
        "words": tested.summary(),
        "methods": tested.summary("methods"),
        "n_tests": tested.n_tests_,
        "notes": tested.notes_,
        "detectable_size": tested.detectable_size_,
        "features": tested.features_.to_dict("records"),
        "pairs": tested.table_.to_dict("records"),
    }
