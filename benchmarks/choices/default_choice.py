"""How the path chooses by default: held-out accuracy and log-loss of each way, over 20 UCI tables.

    python benchmarks/choices/default_choice.py --data FOLDER [--keep FOLDER] [--tables ION ...]

The paper's folds: ten, in two repeats for the 17 small tables and in one for CRO, ELE and WAV,
with scaling inside them. The defaults were picked on half A of the tables (every other one in the
order of the alphabet, fixed before anything was run) and are checked on half B.

A path is fitted once per fold and constraint. Its leave-one-out scores and its scores of the test
samples are all that the ways of choosing need; --keep names a folder for them, so that a run goes
on where it was stopped. Fits end at the gap of the path, which is ten times the one at which the
chosen fit of `ImmigrateClassifierCV` ends. Writes results/default_choice.csv: a row per repeat,
its folds joined by spaces, and the sums over them that a reliability curve needs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.core.couplings import class_probability
from immigrate.kernels import ClassScores
from immigrate.margin.choice import (
    TEMPERATURES,
    Choices,
    Selection,
    Split,
)
from immigrate.margin.model import RULES
from immigrate.margin.options import FitOptions
from immigrate.margin.path import path_solver, tasks_of, weight_path
from immigrate.margin.sigma import sigma_grid
from immigrate.options import Columns, Descent

# The experiments of the paper are not installed.
sys.path.insert(0, str(Path(__file__).parents[2]))

from paper.cells import folds
from paper.datasets import LARGE, SMALL, load
from paper.methods import METHODS
from paper.statistics import verdict

TABLES = sorted(SMALL + LARGE)
HALF_A, HALF_B = TABLES[0::2], TABLES[1::2]
RESULTS = Path(__file__).parents[1] / "results" / "default_choice.csv"
N_FOLDS, N_BINS = 10, 10
# A probability of 0 for what happens would have an infinite loss.
SMALLEST_PROBABILITY = 1e-15
BOTH, ENERGY = ("energy", "distance"), ("energy",)
OLD, NEW = "accuracy (the default before)", "log-loss, temperatures (the default)"
# Constraint, rules, temperatures, criterion; None is the mixture.
CHOOSING = {
    OLD: ("psd", BOTH, (1.0,), "accuracy"),
    "accuracy, temperatures": ("psd", BOTH, TEMPERATURES, "accuracy"),
    "balanced accuracy": ("psd", BOTH, TEMPERATURES, "balanced_accuracy"),
    "log-loss": ("psd", BOTH, (1.0,), "neg_log_loss"),
    "log-loss, temperatures 1, 2, 4": ("psd", BOTH, (4.0, 2.0, 1.0), "neg_log_loss"),
    NEW: ("psd", BOTH, TEMPERATURES, "neg_log_loss"),
    "log-loss, temperatures, free energy only": ("psd", ENERGY, TEMPERATURES, "neg_log_loss"),
    "mixture, no temperatures": ("psd", BOTH, (1.0,), None),
    "mixture": ("psd", BOTH, TEMPERATURES, None),
    "log-loss, temperatures, non-negative": ("nonnegative", BOTH, TEMPERATURES, "neg_log_loss"),
    "mixture, non-negative": ("nonnegative", BOTH, TEMPERATURES, None),
}
BOOSTED_OLD, BOOSTED = "boosted (before)", "boosted (the default)"
OTHERS = {
    BOOSTED_OLD: lambda seed: boosted(temperatures=(1.0,), scoring="accuracy"),
    BOOSTED: lambda seed: boosted(),
    "random forest": METHODS["RF"].estimator,
    "XGBoost": METHODS["XGB"].estimator,
    "histogram boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "logistic regression": lambda seed: LogisticRegression(max_iter=2000),
}


def boosted(**parameters):
    base = ImmigrateClassifier(solver=Descent(max_iter=5), columns=Columns(scale=None))
    return BoostedImmigrateClassifier(base, **parameters)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--keep", type=Path, help="where scores of finished folds are")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    keep = options.keep or Path(tempfile.mkdtemp())
    keep.mkdir(exist_ok=True)
    rows = [
        row
        for code in options.tables
        for repeat in range(1 if code in LARGE else 2)
        for fold in range(N_FOLDS)
        for row in fold_rows(Fold(code, repeat, fold, options.data, keep))
    ]
    results = pd.DataFrame(rows)
    if options.tables == TABLES:
        packed(results).to_csv(RESULTS, index=False)
    report(results)


class Fold:
    """Training and test samples of one fold, and what was kept of it."""

    def __init__(self, code, repeat, fold, data, keep):
        self.name = f"{code}-{repeat}-{fold}"
        self.key = {"table": code, "repeat": repeat, "fold": fold}
        self.keep, self.seed = keep, 1000 * repeat + fold
        table = load(code, data)
        train, test = folds(table.y, repeat, N_FOLDS)[fold]
        scaler = StandardScaler().fit(table.X[train])
        self.X, self.y = scaler.transform(table.X[train]), table.y[train]
        self.X_test, self.y_test = scaler.transform(table.X[test]), table.y[test]

    def path(self, constraint):
        """Sigmas, leave-one-out and test scores of the points of a path."""
        file = self.keep / f"{self.name}-{constraint}.npz"
        if not file.exists():
            np.savez(file, **self._path_scores(constraint))
        with np.load(file) as kept:
            return dict(kept)

    def _path_scores(self, constraint):
        base = ImmigrateClassifier(constraint=constraint, columns=Columns(scale=None))
        options = FitOptions.of(base, n_jobs=1)
        table = options.read(ImmigrateClassifierCV(base), self.X, self.y, None)
        task = tasks_of(options, table)[0]
        references = task.references
        sigmas = sigma_grid("auto", references, task.start)
        choices = Choices(sigmas, (None,), BOTH)
        path = list(weight_path(task, path_solver(task, choices), choices))
        weights = [point.kept.weights for point in path]
        return {
            "sigmas": sigmas,
            "loo": stacked([point.kept.scores for point in path]),
            "test": stacked(
                task.problem.class_scores_many(references.encoded(self.X_test), weights, sigmas)
            ),
        }

    def probability(self, name, make):
        """Probability of class 1 of each test sample under another classifier."""
        file = self.keep / f"{self.name}-{name.replace(' ', '-')}.npy"
        if not file.exists():
            model = make(self.seed).fit(self.X, self.y)
            np.save(file, model.predict_proba(self.X_test)[:, 1])
        return np.load(file)


def stacked(scores):
    return np.array([[s.free_energy for s in scores], [s.distance for s in scores]])


def fold_rows(fold):
    """A row for each way."""
    for way, (constraint, rules, temperatures, scoring) in CHOOSING.items():
        kept = fold.path(constraint)
        choices = Choices(kept["sigmas"].tolist(), (None,), rules, temperatures)
        split = Split([ClassScores(*one) for one in kept["loo"].swapaxes(0, 1)], fold.y)
        yield fold.key | {"way": way} | measures(predicted(choices, split, scoring, kept), fold)
    for way, make in OTHERS.items():
        # On the large tables boosting takes as long as all the rest.
        if not (way in (BOOSTED_OLD, BOOSTED) and fold.key["table"] in LARGE):
            yield fold.key | {"way": way} | measures(fold.probability(way, make), fold)


def predicted(choices, split, scoring, kept):
    """Probability of class 1 of the test samples."""
    selection = Selection.over(choices, [split], scoring or "neg_log_loss")
    if scoring is None:
        shares = selection.with_shares([split]).shares
        return sum(
            shares[i, t] * probability(candidate, heat, choices.sigmas, kept)
            for i, candidate in enumerate(selection.candidates)
            for t, heat in enumerate(choices.temperatures)
        )
    best = selection.candidates[selection.best()]
    return probability(best, best["temperature"], choices.sigmas, kept)


def probability(candidate, temperature, sigmas, kept):
    sigma, rule = candidate["sigma"], list(RULES).index(candidate["rule"])
    # The scores are kept with the free energy first, the rules with the expected distance.
    score = kept["test"][1 - rule, sigmas.index(sigma)]
    return class_probability(score, sigma * temperature)[:, 1]


def measures(p, fold):
    """Accuracy, log-loss, Brier score, and what a reliability curve needs."""
    y = fold.y_test
    own = np.where(y == 1, p, 1 - p)
    which = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    return {
        "accuracy": 100 * np.mean((p > 0.5) == (y == 1)),
        "log_loss": -np.log(np.maximum(own, SMALLEST_PROBABILITY)).mean(),
        "brier": np.mean((p - y) ** 2),
        "bins": np.array([np.bincount(which, w, N_BINS) for w in (np.ones(len(y)), p, y)]),
    }


def packed(results):
    """One row for the folds of a repeat."""
    rows = []
    for key, group in results.groupby(["table", "repeat", "way"], sort=False):
        row = dict(zip(("table", "repeat", "way"), key))
        for value in ("accuracy", "log_loss", "brier"):
            row[value] = " ".join(f"{one:.4g}" for one in group[value])
        count, said, seen = group["bins"].sum()
        row["bins"] = " ".join(f"{n:.0f}:{p:.4g}:{y:.0f}" for n, p, y in zip(count, said, seen))
        rows.append(row)
    return pd.DataFrame(rows)


def report(results):
    """Means of each way over both halves and all tables; wins, ties and losses of the default."""
    print(markdown(means(results)))
    print()
    for against in (OLD, "random forest", "mixture"):
        print(markdown(wins(results, NEW, against)), end="\n\n")
    print(markdown(wins(results, BOOSTED, "random forest")), end="\n\n")
    wide = results.pivot_table(index="table", columns="way", values=["accuracy", "log_loss"])
    ways = [OLD, NEW, "mixture", "random forest"]
    chosen = wide.loc[:, [(value, way) for way in ways for value in ("accuracy", "log_loss")]]
    chosen.columns = [f"{way}, {value}" for value, way in chosen.columns]
    print(markdown(chosen.round(3)))


def means(results):
    by_table = results.groupby(["way", "table"], sort=False)[["accuracy", "log_loss", "brier"]]
    by_table = by_table.mean().reset_index()
    columns = {}
    for name, half in (("half A", HALF_A), ("half B", HALF_B), ("all", TABLES)):
        mean = by_table[by_table["table"].isin(half)].groupby("way", sort=False)
        columns[f"{name}: accuracy"] = mean["accuracy"].mean().round(2)
        columns[f"{name}: log-loss"] = mean["log_loss"].mean().round(3)
    columns["all: Brier"] = mean["brier"].mean().round(4)
    columns["tables"] = mean["table"].size()
    small = by_table[by_table["table"].isin(SMALL)].groupby("way", sort=False)
    columns["small 17: accuracy"] = small["accuracy"].mean().round(2)
    columns["small 17: log-loss"] = small["log_loss"].mean().round(3)
    # A mean over other tables than the others' would say nothing.
    frame = pd.DataFrame(columns)
    is_partial = frame["tables"] < frame["tables"].max()
    frame.loc[is_partial, [c for c in frame if not c.startswith("small")]] = np.nan
    return frame.drop(columns="tables")


def wins(results, way, against):
    """Tables that `way` wins, ties and loses by the paper's test and by the corrected one."""
    rows = {}
    for value, sign in (("accuracy", 1), ("log_loss", -1)):
        for test, n_folds in (("paired t", None), ("corrected t", N_FOLDS)):
            found = {"win": [], "tie": [], "loss": []}
            for code in TABLES:
                trials = results[results["table"] == code].pivot_table(
                    index=["repeat", "fold"], columns="way", values=value
                )
                if {way, against} <= set(trials.columns):
                    a, b = sign * trials[way], sign * trials[against]
                    found[verdict(a, b, n_folds=n_folds)].append(code)
            name = f"{way} against {against}: {value}, {test}"
            rows[name] = {
                "wins": " ".join(found["win"]) or "–",
                "ties": len(found["tie"]),
                "losses": " ".join(found["loss"]) or "–",
            }
    return pd.DataFrame(rows).T


def markdown(frame):
    rows = [["", *frame.columns], ["---"] * (1 + frame.shape[1])]
    rows += [[name, *values] for name, values in zip(frame.index, frame.to_numpy().tolist())]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


if __name__ == "__main__":
    main()
