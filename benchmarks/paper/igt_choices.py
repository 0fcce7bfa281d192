"""Which open choice explains the accuracy of IMMIGRATE on a table of the paper?

    python benchmarks/paper/igt_choices.py --data FOLDER [--tables IMM BCW ...] [--repeats 10]
        [--only free-energy inner]

The paper leaves open where W starts, how many inner folds choose sigma, whether the table is
standardised before it is split and whether folds keep the shares of the classes; its R package
clips W. Each is varied alone. "Best in hindsight" is the pair of sigma and pruning with the
highest accuracy on the *test* samples, the same for all folds.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.options import Columns, Descent, FullSteps

# The experiments of the paper are not installed.
sys.path.insert(0, str(Path(__file__).parents[2]))

from paper.datasets import load
from paper.published import accuracies

TABLES = ("BCW", "HMS", "IMM", "LYM", "SMR", "STA")
SIGMAS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
PENALTIES = (None, "prune")
AS_RUN = {
    "solver": FullSteps,
    "constraint": "psd",
    "init": "identity",
    "rules": ("distance",),
    "n_inner": 5,
    "is_scaled_once": False,
    "splitter": StratifiedKFold,
}
CHOICES = {
    "as the tables run it (5 inner folds, scaled inside the folds)": {},
    "10 inner folds": {"n_inner": 10},
    "3 inner folds": {"n_inner": 3},
    "W starts at random": {"init": "random"},
    "W starts at random, clipped as in R": {"init": "random", "constraint": "clip"},
    "scaled once, over the whole table": {"is_scaled_once": True},
    "folds that ignore the classes": {"splitter": KFold},
    "descent instead of full steps": {"solver": Descent},
    "free-energy rule instead of Eq. 9": {"rules": ("energy",)},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[""], help="words in the choice's name")
    options = parser.parse_args()
    # Ten full steps are the paper's rule; that they do not converge is known.
    warnings.simplefilter("ignore", ConvergenceWarning)
    for code in options.tables:
        table, n_repeats = load(code, options.data), options.repeats
        larger = np.bincount(table.y).max() / len(table.y)
        print(f"\n| {code}: paper {_printed(code):.1f} | accuracy | lowest repeat | highest |")
        print("|---|---|---|---|")
        print(f"| the larger class | {100 * larger:.1f} | | |")
        for name, choice in CHOICES.items():
            if any(word in name for word in options.only):
                settings = {**AS_RUN, **choice}
                _row(name, [_tuned(table, settings, seed) for seed in range(n_repeats)])
        for rule, name in (("distance", "Eq. 9"), ("energy", "free energy")):
            if not any(word in "best in hindsight" for word in options.only):
                continue
            grid = np.array([_grid(table, rule, seed) for seed in range(n_repeats)])
            best = grid[:, grid.mean(axis=0).argmax()]
            _row(f"best in hindsight of {grid.shape[1]} settings, {name}", best)


def _printed(code):
    rows = accuracies()
    return rows.loc[(rows["data"] == code) & (rows["method"] == "IGT"), "accuracy"].iloc[0]


def _row(name, repeats):
    values = [100 * value for value in (np.mean(repeats), np.min(repeats), np.max(repeats))]
    print("| " + " | ".join([name, *(f"{value:.1f}" for value in values)]) + " |", flush=True)


def _splits(table, settings, seed):
    """Training and test samples of ten folds: X_train, y_train, X_test, y_test."""
    X, y = table.X, table.y
    folds = settings["splitter"](10, shuffle=True, random_state=seed)
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X if settings["is_scaled_once"] else X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def _tuned(table, settings, seed):
    """Accuracy over one repeat with sigma and pruning chosen inside the training sets."""
    correct = 0
    for X_train, y_train, X_test, y_test in _splits(table, settings, seed):
        model = ImmigrateClassifierCV(
            ImmigrateClassifier(
                solver=settings["solver"](init=settings["init"]),
                constraint=settings["constraint"],
                columns=Columns(scale=None),
                random_state=seed,
            ),
            sigmas=SIGMAS,
            penalties=PENALTIES,
            rules=settings["rules"],
            temperatures=(1.0,),
            scoring="accuracy",
            cv=StratifiedKFold(settings["n_inner"], shuffle=True, random_state=seed),
        )
        correct += np.sum(model.fit(X_train, y_train).predict(X_test) == y_test)
    return correct / len(table.y)


def _grid(table, rule, seed):
    """Accuracy over one repeat of every sigma and pruning."""
    correct = np.zeros((len(SIGMAS), len(PENALTIES)))
    for X_train, y_train, X_test, y_test in _splits(table, AS_RUN, seed):
        for i, sigma in enumerate(SIGMAS):
            for j, penalty in enumerate(PENALTIES):
                model = ImmigrateClassifier(
                    sigma, solver="paper", penalty=penalty, rule=rule, columns=Columns(scale=None)
                )
                correct[i, j] += np.sum(model.fit(X_train, y_train).predict(X_test) == y_test)
    return correct.ravel() / len(table.y)


if __name__ == "__main__":
    main()
