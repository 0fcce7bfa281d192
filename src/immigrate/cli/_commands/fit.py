"""``immigrate fit``: a model, stored for ``immigrate predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from immigrate.cli._outputs import check_outputs, writing
from immigrate.cli._screen import note, show, show_table, working
from immigrate.cli._tables import Asked

MOST_SHOWN = 5


def fit(asked: Asked, out: Path, boosted: bool, jobs: int | None) -> None:
    """Fit on all rows and store."""
    check_outputs(out, inputs=(asked.path,))
    question = asked.read().without_dates()
    with working("fit"):
        from immigrate.estimators.default_model import default_model, words_of_screen
        from immigrate.persistence import save_model

        n_features = question.X.shape[1]
        if words_of_screen(n_features):
            note(words_of_screen(n_features))
        model = default_model(n_features, boosted=boosted, n_jobs=jobs, verbose=True)
        model.fit(question.X, question.y)
        # Progress was for this command; whoever loads the model did not ask for it.
        with writing(out):
            save_model(model.set_params(verbose=False), out, target=asked.target)
    classes = ", ".join(str(one) for one in model.classes_)
    show(f"{type(model).__name__} for '{asked.target}' ({classes}), {len(question.X)} rows.")
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
