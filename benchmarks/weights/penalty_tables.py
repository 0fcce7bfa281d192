"""Pairs left and accuracy on the small tables of the paper: no sparsity, pruning, and l1.

    IMMIGRATE_DATA=... python benchmarks/weights/penalty_tables.py

Ten folds, the same for all, non-negative weights, sigma and rule by leave-one-out log-loss in the
training folds, or by leave-one-out accuracy where the name says so. Finished methods of a table
are read from the results, so that a run can be taken up again.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from paper.datasets import SMALL, load

RESULTS = Path(__file__).parents[1] / "results" / "penalty_tables.csv"
HEAD = ("table", "method", "fold", "accuracy", "n_pairs", "n_possible", "seconds")
BASE = ImmigrateClassifier(constraint="nonnegative")
PATH = ImmigrateClassifierCV(BASE, penalties="path")
METHODS = {
    "none": ImmigrateClassifierCV(BASE),
    "prune": ImmigrateClassifierCV(BASE, penalties=("prune",)),
    "l1 best": clone(PATH),
    "l1 1se": clone(PATH).set_params(one_standard_error=True),
    "none by accuracy": ImmigrateClassifierCV(BASE, scoring="accuracy"),
    "prune by accuracy": ImmigrateClassifierCV(BASE, penalties=("prune",), scoring="accuracy"),
    "l1 best by accuracy": clone(PATH).set_params(scoring="accuracy"),
    "l1 1se by accuracy": clone(PATH).set_params(scoring="accuracy", one_standard_error=True),
}


def rows_of(code, table, names, n_folds):
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(table.X, table.y)):
        for name in names:
            model = METHODS[name]
            start = time.perf_counter()
            model.fit(table.X[train], table.y[train])
            seconds = time.perf_counter() - start
            W = model.weight_matrix_
            n_pairs = np.count_nonzero(np.triu(W, 1))
            accuracy = model.score(table.X[test], table.y[test])
            n_possible = len(W) * (len(W) - 1) // 2
            yield code, name, fold, f"{accuracy:.4f}", n_pairs, n_possible, f"{seconds:.2f}"


def finished():
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def summary(rows):
    """Mean over tables of accuracy, pairs and the share of all pairs, by method."""
    for name in METHODS:
        own = [row for row in rows if row["method"] == name]
        tables = sorted({row["table"] for row in own})

        def mean(column, own=own, tables=tables):
            return [
                np.mean([float(row[column]) for row in own if row["table"] == table])
                for table in tables
            ]

        share = np.divide(mean("n_pairs"), mean("n_possible"))
        print(
            f"| {name} | {100 * np.mean(mean('accuracy')):.2f} | {np.mean(mean('n_pairs')):.1f} "
            f"| {100 * share.mean():.0f} % | {len(tables)} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--tables", nargs="+", default=SMALL)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--folds", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {(row["table"], row["method"]) for row in finished()}
    if not done:
        RESULTS.write_text(",".join(HEAD) + "\n")
    for code in options.tables:
        names = [name for name in options.methods if (code, name) not in done]
        rows = list(rows_of(code, load(code, options.data), names, options.folds)) if names else []
        with RESULTS.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    print("| method | accuracy % | pairs | share of all pairs | tables |\n|---|---|---|---|---|")
    summary(finished())


if __name__ == "__main__":
    main()
