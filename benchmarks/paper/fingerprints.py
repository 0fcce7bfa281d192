"""Are these the paper's tables? 1-NN and 3-NN under every way of scaling and splitting.

    python benchmarks/paper/fingerprints.py --data FOLDER [--tables BCW CRY ...] [--seeds 5]

Nearest neighbours have no settings, so their accuracy is the fingerprint of a table. What the
paper does not say is how features were scaled and folds drawn: printed is the lowest and the
highest mean of 10 x 10 folds over several seeds, for each way.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

# The experiments of the paper are not installed.
sys.path.insert(0, str(Path(__file__).parents[2]))

from paper.datasets import load
from paper.published import accuracies

TABLES = ("BCW", "CRY", "GLA", "IMM", "SMR", "STA")
WAYS = {
    "scaled inside the folds": (StandardScaler, False, StratifiedKFold),
    "scaled once": (StandardScaler, True, StratifiedKFold),
    "scaled inside, folds ignore classes": (StandardScaler, False, KFold),
    "min-max inside the folds": (MinMaxScaler, False, StratifiedKFold),
    "not scaled": (FunctionTransformer, False, StratifiedKFold),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    print("| | paper | " + " | ".join(WAYS) + " |\n|" + "---|" * (2 + len(WAYS)))
    for code in options.tables:
        table = load(code, options.data)
        for method, k in (("1NN", 1), ("3NN", 3)):
            cells = []
            for way in WAYS.values():
                means = [_mean_accuracy(table, k, way, seed) for seed in range(options.seeds)]
                cells.append(f"{min(means):.1f} – {max(means):.1f}")
            print(f"| {code}, {method} | {_printed(code, method):.1f} | {' | '.join(cells)} |")


def _mean_accuracy(table, k, way, seed, n_repeats=10):
    """Accuracy in per cent over repeats of ten folds."""
    scaler, is_scaled_once, splitter = way
    X = scaler().fit_transform(table.X) if is_scaled_once else table.X
    model = make_pipeline(scaler(), KNeighborsClassifier(k))
    if is_scaled_once:
        model = KNeighborsClassifier(k)
    accuracy = []
    for repeat in range(n_repeats):
        folds = splitter(10, shuffle=True, random_state=1000 * seed + repeat)
        for train, test in folds.split(X, table.y):
            model.fit(X[train], table.y[train])
            accuracy.append(np.mean(model.predict(X[test]) == table.y[test]))
    return 100 * np.mean(accuracy)


def _printed(code, method):
    rows = accuracies()
    is_cell = (rows["data"] == code) & (rows["method"] == method) & rows["table"].isin((1, 2))
    return rows.loc[is_cell, "accuracy"].iloc[0]


if __name__ == "__main__":
    main()
