"""``immigrate fit``: a model, stored for ``immigrate predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from immigrate.cli.app import Jobs, Reading, TableOptions
from immigrate.cli.ending import UsageError
from immigrate.cli.terminal import check_outputs, note, show, show_table, working, writing

MOST_SHOWN = 5


def command(
    *,
    source: TableOptions,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", readable=False, help="File to write, such as m.model."
        ),
    ] = None,
    boosted: Annotated[bool, typer.Option("--boosted", help="A vote of models (BIM).")] = False,
    jobs: Jobs = None,
    reading: Reading,
) -> None:
    """Fit a model of classes, or of a number, on all rows and store it."""
    source.check("fit")
    if out is None:
        raise UsageError(
            f"where should the model go? Say so with --out, as in: immigrate fit {source.table} "
            f"--target {source.target} --out {source.table.stem}.model"
        )
    from immigrate.cli.tables import is_number, read_source, without_dates

    check_outputs(out, inputs=(source.table,))
    read = read_source(source, reading)
    X = without_dates(read.frame.drop(columns=source.target))
    with working("fit"):
        from immigrate.estimators.immigrate_cv import default_model, words_of_screen
        from immigrate.persistence import save_model

        if words_of_screen(X.shape[1]):
            note(words_of_screen(X.shape[1]))
        y = read.frame[source.target]
        options: dict[str, Any] = {"is_number": is_number(y, source), "boosted": boosted}
        if boosted and options["is_number"]:
            raise UsageError("--boosted is a vote of classes, and the target is a number.")
        model = default_model(
            X.shape[1], source.circular_features, n_jobs=jobs, verbose=True, **options
        )
        model.fit(X, y)
        # Progress was for this command; whoever loads the model did not ask for it.
        with writing(out):
            save_model(model.set_params(verbose=False), out, target=source.target)
    classes = ", ".join(str(one) for one in getattr(model, "classes_", ["a number"]))
    show(f"{type(model).__name__} for '{source.target}' ({classes}), {len(X)} rows.")
    show("What the model uses most. Weights are no evidence: see immigrate test.")
    show_table(["feature or pair", "share of all weights"], largest_weights(model))
    show(f"model: {out}")


def largest_weights(model: Any) -> list[list[str]]:
    """Names and shares of the features and pairs with the largest weights."""
    table = model.interactions().sort_values("rank").head(MOST_SHOWN)
    return [
        [
            str(row["feature_1"])
            if row["kind"] == "main"
            else f"{row['feature_1']} × {row['feature_2']}",
            f"{100 * row['share']:.1f} %",
        ]
        for _, row in table.iterrows()
    ]
