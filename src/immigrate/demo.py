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
    """Fit two embedded data sets; print what matters in them and how well it predicts."""
    print(f"immigrate {__version__}: which features matter, and which pairs?")
    show("Wine: 130 samples, 13 features, 2 cultivars", *wine())
    show("MONK-1: head and body matter only together, the jacket alone", *make_monk1())
    print(
        "\nweight: how much the model uses a feature or pair."
        "\np_adjusted: how often chance would show as much if no two features acted together,"
        "\neach having its own effect; small means that the two do (InteractionTest)."
    )


def show(title: str, X: pd.DataFrame, y: Any) -> None:
    """Print the strongest features and pairs; write a report and pictures."""
    report = Report.of(X, y, title=title)
    print(f"\n{title}\n{'=' * len(title)}")
    found = report.summary["performance"]
    print(f"10-fold cross-validation: accuracy {found['accuracy']:.1%}, AUC {found['auc']:.3f}")
    table = report.summary["table"]
    columns = ["weight", "share", "rank"]
    show_top("features", table, "main", ["feature_1", *columns])
    show_top("pairs", table, "pair", ["feature_1", "feature_2", *columns, "p_adjusted"])
    name = title.split(":")[0].lower()
    print(f"\nreport: {report.save(FOLDER / f'{name}.html')}")
    print("pictures:", *draw(report.estimator, table, name), sep="\n  ")


def show_top(title: str, table: pd.DataFrame, kind: str, columns: list[str]) -> None:
    """Print the strongest rows of one kind."""
    rows = table.loc[table["kind"] == kind, columns].head(TOP)
    print(f"\nstrongest {title}")
    print(
        rows.to_string(
            index=False, float_format="%.3f", formatters={"p_adjusted": "{:.2g}".format}
        )
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
