"""Weights of triples against those of pairs: prediction, and whether the true triple leads.

Generated tables whose label is made of three of ten features (parity, and, majority), a parity
with main effects, GAMETES tables of two and three interacting loci, and tables of the UCI
collection, in stratified 5-fold cross-validation. Methods:

    quadratic         ImmigrateClassifier: sigma is 1/8 of the median distance, its default
    quadratic, as     CubicImmigrateClassifier with no triple: weights at 1/2 of the median
      cubic           distance, and then the sigma of predictions by leave-one-out likelihood
    cubic             the same with all triples, its default
    cubic, free       the same without a penalty on triples
    cubic, tested     with the triples that InteractionTest(order=3) finds in the training folds
    cubic, 1/2        all triples, weights and predictions at 1/2
    cubic, 1/8        all triples, weights and predictions at 1/8

Results are written after each table, and tables that have them are not run again.

    IMMIGRATE_DATA=... python benchmarks/weights/three_way.py   without it: generated tables
    IMMIGRATE_DATA=... python benchmarks/weights/three_way.py --slopes

The second writes ``three_way_slopes.csv``: how steep the cost is in the true triple of the GAMETES
table at the starting weights, against all other triples, by sigma over the median distance.
"""

from __future__ import annotations

import argparse
import os
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from immigrate import CubicImmigrateClassifier, ImmigrateClassifier, InteractionTest
from immigrate.core.forms import Cubic
from immigrate.margin.problem import MarginProblem
from immigrate.margin.sigma import typical_distance

RESULTS = Path(__file__).parents[1] / "results" / "three_way.csv"
N_SAMPLES, N_FEATURES, NOISE = 400, 10, 0.1
UCI = ["BCW", "CRY", "CUS", "ECO", "GLA", "HMS", "IMM", "MON", "PID", "STA", "USE", "WIN"]
TRUE = ("P1", "P2", "P3")


def generated(kind, seed=0):
    """A table whose label depends on the first three features; one label in ten is turned."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, N_FEATURES))
    if "bits" in kind:
        X = (X > 0).astype(float)
        high = X[:, :3] > 0.5
    else:
        high = X[:, :3] > 0
    if "parity" in kind:
        y = high.sum(axis=1) % 2 == 1
    elif "and" in kind:
        # Thresholds that leave half of the samples in each class.
        y = (X[:, :3] > np.quantile(X[:, :3], 1 - 0.5 ** (1 / 3), axis=0)).all(axis=1)
    else:
        y = high.sum(axis=1) >= 2
    y = y ^ (rng.uniform(size=len(y)) < NOISE)
    names = [*TRUE, *(f"N{j}" for j in range(N_FEATURES - 3))]
    return pd.DataFrame(X, columns=names), y.astype(int)


def stored(name, folder):
    table = pd.read_csv(Path(folder) / f"{name}.csv")
    return table.drop(columns="target"), table["target"].to_numpy()


def tables(folder):
    """Name and table of each experiment."""
    for kind in ("parity of bits", "parity", "and", "majority"):
        yield kind, lambda kind=kind: generated(kind)
    if folder:
        for name in ("GAMETES_3way_h02", "GAMETES_2way_h04", *UCI):
            yield name, lambda name=name: stored(name, folder)


def cubic(X, y, **options):
    return CubicImmigrateClassifier(**options).fit(X, y)


def fixed(X, y, multiple):
    """One sigma for weights and predictions, a multiple of the median distance."""
    return cubic(X, y, sigma=2 * multiple * cubic(X, y, triples=[]).fit_sigma_)


def tested(X, y):
    return cubic(X, y, triples=InteractionTest(order=3).fit(X, y).selected_)


METHODS = {
    "quadratic": lambda X, y: ImmigrateClassifier().fit(X, y),
    "quadratic, as cubic": lambda X, y: cubic(X, y, triples=[]),
    "cubic": cubic,
    "cubic, free": lambda X, y: cubic(X, y, penalty=None),
    "cubic, tested": tested,
    "cubic, 1/2": lambda X, y: fixed(X, y, 1 / 2),
    "cubic, 1/8": lambda X, y: fixed(X, y, 1 / 8),
}


def place_of_true_triple(model, names):
    """Rank of the weight of (P1, P2, P3) among triples; NaN where it has none."""
    if not set(TRUE) <= set(names) or not isinstance(model, CubicImmigrateClassifier):
        return np.nan
    true = sorted(list(names).index(name) for name in TRUE)
    is_true = (model.triples_ == true).all(axis=1)
    if not is_true.any() or not model.triple_weights_[is_true][0] > 0:
        return np.nan
    return int((model.triple_weights_ >= model.triple_weights_[is_true][0]).sum())


def fold_row(method, X, y, train, test):
    model = METHODS[method](X.iloc[train], y[train])
    probability = model.predict_proba(X.iloc[test])
    n_triples = getattr(model, "triple_weights_", np.zeros(0))
    return {
        "accuracy": float((model.predict(X.iloc[test]) == y[test]).mean()),
        "log_loss": log_loss(y[test], probability, labels=model.classes_),
        "triples_with_weight": int((n_triples > 0).sum()),
        "true_triple_first": place_of_true_triple(model, X.columns) == 1,
    }


def table_rows(name, make):
    X, y = make()
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    for method in METHODS:
        rows = pd.DataFrame([fold_row(method, X, y, *fold) for fold in folds])
        yield {
            "table": name,
            "n": len(X),
            "p": X.shape[1],
            "method": method,
        } | rows.mean().to_dict()


def slope_rows(folder):
    """Slopes of the cost in all triples at W = I / sqrt(p), T = 0."""
    X, y = stored("GAMETES_3way_h02", folder)
    Z = ((X - X.mean()) / X.std(ddof=0)).to_numpy()
    form = Cubic(Z.shape[1], np.array(list(combinations(range(Z.shape[1]), 3))))
    start = form.weights(np.eye(Z.shape[1]) / np.sqrt(Z.shape[1]), np.zeros(len(form.triples)))
    problem = MarginProblem(Z, y, form=form)
    median = typical_distance(Z, form.matrix(start))
    true = (form.triples == [list(X).index(name) for name in TRUE]).all(axis=1)
    for multiple in (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16):
        slope = -form.triple_weights(problem.evaluate(start, multiple * median).gradient)
        others = slope[~true]
        row = {"sigma_over_median": multiple, "true_over_next": slope[true][0] / others.max()}
        yield row | {"steeper_triples": int((others > slope[true][0]).sum())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tables", nargs="*", help="some of the tables")
    parser.add_argument("--slopes", action="store_true", help="slopes of triples at the start")
    options = parser.parse_args()
    if options.slopes:
        slopes = pd.DataFrame(slope_rows(os.environ["IMMIGRATE_DATA"]))
        slopes.to_csv(RESULTS.with_name("three_way_slopes.csv"), index=False, float_format="%.4g")
        print(slopes.to_string(index=False))
        return
    done = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame({"table": []})
    for name, make in tables(os.environ.get("IMMIGRATE_DATA")):
        if name in set(done["table"]) or (options.tables and name not in options.tables):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = pd.concat([done, pd.DataFrame(list(table_rows(name, make)))])
        RESULTS.parent.mkdir(exist_ok=True)
        done.to_csv(RESULTS, index=False, float_format="%.4g")
        print(done[done["table"] == name].to_string(index=False, float_format="%.3f"), flush=True)


if __name__ == "__main__":
    main()
