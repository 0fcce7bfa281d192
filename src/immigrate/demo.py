"""What the library does, in half a minute: ``python -m immigrate.demo``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.datasets import load_wine

from immigrate._version import __version__
from immigrate.datasets import make_monk1
from immigrate.files import whole_file
from immigrate.plotting import (
    InteractionNetworkDisplay,
    SigmaPathDisplay,
    WeightMatrixDisplay,
)
from immigrate.report import Report

FOLDER = Path("immigrate-demo")
TOP = 5


def wine() -> tuple[pd.DataFrame, pd.Series]:
    """The two largest cultivars of the wine data, as in the paper (WIN)."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X[y < 2], y[y < 2]


def main() -> None:
    """Two embedded data sets: what matters in them, how well it predicts, and what is used."""
    print(f"immigrate {__version__}: which features matter, and which pairs?")
    show("Wine: 130 samples, 13 features, 2 cultivars", *wine())
    show("MONK-1: head and body matter only together, the jacket alone", *make_monk1())
    print(
        "\nadjusted p: how often chance would show as much if the feature had no effect, or if the"
        "\npair added nothing to the effects of its two features (InteractionTest)."
        "\nweight: how much the model uses a feature or pair to tell the classes apart. It proves"
        "\nnothing: two strong features raise the weight of their pair."
    )


def show(title: str, X: pd.DataFrame, y: Any) -> None:
    """Print the evidence, then the weights; write a report and pictures."""
    report = Report.of(X, y, title=title)
    print(f"\n{title}\n{'=' * len(title)}")
    print(report.summary["test"]["words"])
    found = report.summary["performance"]
    print(f"\n10-fold cross-validation: accuracy {found['accuracy']:.1%}, AUC {found['auc']:.3f}")
    table = report.summary["table"]
    print("\nWhat the model uses: the largest weights")
    print(largest_weights(table).to_string(index=False, float_format="%.3f"))
    name = title.split(":")[0].lower()
    print(f"\nreport: {report.save(FOLDER / f'{name}.html')}")
    print("pictures:", *draw(report.estimator, table, name), sep="\n  ")


def largest_weights(table: pd.DataFrame) -> pd.DataFrame:
    """The features and pairs that a model uses most, by name.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.demo import largest_weights
    >>> table = pd.DataFrame({
    ...     "feature_1": ["dose", "dose"], "feature_2": ["age", None], "kind": ["pair", "main"],
    ...     "is_found": [True, False], "weight": [0.3, 0.8], "share": [0.4, 0.6], "rank": [2, 1],
    ... })
    >>> largest_weights(table)
      feature or pair  weight  share shown
    0            dose     0.8    0.6    no
    1      dose × age     0.3    0.4   yes
    """
    rows = table.sort_values("rank").head(TOP)
    pair = rows["feature_1"] + " × " + rows["feature_2"].fillna("")
    names = rows["feature_1"].where(rows["kind"] == "main", pair)
    shown = rows["is_found"].map({True: "yes", False: "no"})
    return (
        rows[["weight", "share"]]
        .assign(shown=shown)
        .set_axis(names)
        .rename_axis("feature or pair")
        .reset_index()
    )


def draw(model: Any, table: pd.DataFrame, name: str) -> Iterator[Path]:
    """Draw weights, pairs and the path of sigma; yields where."""
    import matplotlib as mpl

    mpl.use("Agg")
    displays: dict[str, Any] = {
        "weights": WeightMatrixDisplay.from_estimator(model),
        "pairs": InteractionNetworkDisplay(table=table).plot(),
        "sigma-path": SigmaPathDisplay.from_estimator(model),
    }
    for kind, display in displays.items():
        path = FOLDER / f"{name}-{kind}.png"
        with whole_file(path) as place:
            display.figure_.savefig(place, dpi=120)
        yield path


if __name__ == "__main__":
    main()
