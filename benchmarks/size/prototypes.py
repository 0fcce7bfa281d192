"""Centres against all references, on tables of the paper: accuracy, size and speed.

    python benchmarks/size/prototypes.py --data FOLDER

Ten folds. In each the weights are fitted once on all training samples; then only the references
change: all samples, or so many class-wise centres. Sigma and
rule are chosen for each of them in the same way, by samples put aside. Prediction times are those
of the test fold, the best of three, as multiples of the time that all references take in the same
fold. Writes ``benchmarks/results/prototypes.csv``, a line as soon as a fold is done.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from immigrate import ImmigrateClassifier
from immigrate.files import whole_file
from immigrate.margin.prototypes import with_references
from immigrate.options import ClassCentres

RESULTS = Path(__file__).parents[1] / "results" / "prototypes.csv"
WAYS: dict[str, ClassCentres | None] = {
    "all": None,
    "100 centres": ClassCentres(100),
    "300 centres": ClassCentres(300),
    "1000 centres": ClassCentres(1000),
    "2000 centres": ClassCentres(2000),
    "auto": ClassCentres(),
}


def seconds(work: Any) -> float:
    """Least of three."""
    times = []
    for _ in range(3):
        clock = time.perf_counter()
        work()
        times.append(time.perf_counter() - clock)
    return min(times)


def fold_rows(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[dict]:
    fitted = ImmigrateClassifier(n_jobs=-1).fit(X[train], y[train])
    all_references, codes = fitted.model_.references, np.searchsorted(fitted.classes_, y[test])
    rows = []
    for name, way in WAYS.items():
        model = with_references(
            fitted.model_,
            all_references,
            way,
            rules=("energy", "distance"),
            random_state=0,
            n_jobs=-1,
        )
        model.scores(X[test][:5], -1)
        rows.append(
            {
                "references": name,
                "n_references": len(model.references.codes),
                "accuracy": float((model.scores(X[test], -1).argmin(axis=1) == codes).mean()),
                "seconds": seconds(lambda model=model: model.scores(X[test], -1)),
            }
        )
    whole = rows[0]["seconds"]
    return [row | {"times_all": row.pop("seconds") / whole} for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=["PID", "WAV", "ELE", "CRO"])
    given = parser.parse_args()
    found: list[dict] = []
    for name in given.sets:
        (path,) = (p for p in given.data.iterdir() if p.name in (f"{name}.csv", f"{name}.csv.gz"))
        table = pd.read_csv(path)
        X, y = table.drop(columns="target").to_numpy(float), table["target"].to_numpy()
        folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        for fold, (train, test) in enumerate(folds):
            rows = fold_rows(X, y, train, test)
            found += [{"set": name, "fold": fold} | row for row in rows]
            print(name, fold, flush=True)
            with whole_file(RESULTS) as place:
                pd.DataFrame(found).to_csv(place, index=False, float_format="%.4g")
    wide = pd.DataFrame(found).drop(columns="fold").groupby(["references", "set"]).mean().unstack()
    print(wide.reindex(list(WAYS)).to_string(float_format="{:.3g}".format))


if __name__ == "__main__":
    main()
