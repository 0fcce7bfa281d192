"""Precision and recall of pairs on tables with two true pairs, main effects and noise.

    python benchmarks/weights/penalty_planted.py

300 samples of 12 standard normal features. The log-odds are
2 x0 x1 + 1.5 sign(x2 x3) + x4 + x5 + x6; the other features say nothing. 100 seeds.
A method names a set of pairs:

    prune               weights of pairs of size 1/p and more, sigma by leave-one-out
    l1 1se              pairs left at the strength and sigma of the one-standard-error rule
    l1 first two        the first two pairs to enter the path at that sigma
    interaction test    found at family-wise level .05
    lasso on products   logistic regression, l1 by 5-fold log-loss, products that are not 0
"""

from __future__ import annotations

import argparse
import csv
import itertools
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from immigrate import (
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    InteractionTest,
)

RESULTS = Path(__file__).parents[1] / "results" / "penalty_planted.csv"
HEAD = ("seed", "method", "n_named", "n_true_named")
BASE = ImmigrateClassifier(constraint="nonnegative")
TRUTH = {(0, 1), (2, 3)}
N, P = 300, 12
# Of the lasso; the best is inside of them.
STRENGTHS = np.geomspace(0.02, 0.6, 7)


def table(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    pairs = 2 * X[:, 0] * X[:, 1] + 1.5 * np.sign(X[:, 2] * X[:, 3])
    logit = pairs + X[:, 4] + X[:, 5] + X[:, 6]
    return X, (rng.uniform(size=N) < 1 / (1 + np.exp(-logit))).astype(int)


def pairs_of(W):
    return {tuple(pair) for pair in np.argwhere(np.triu(W, 1)).tolist()}


def by_names(frame):
    names = frame[["feature_1", "feature_2"]].to_numpy()
    return {tuple(sorted(int(name[1:]) for name in row)) for row in names}


def first_two(weights):
    for W in weights:
        if np.count_nonzero(np.triu(W, 1)) >= 2:
            size = np.triu(np.abs(W), 1)
            strongest = np.argsort(-size, axis=None)[:2]
            return {tuple(int(k) for k in np.unravel_index(i, W.shape)) for i in strongest}
    return set()


def lasso_on_products(X, y, seed):
    pairs = list(itertools.combinations(range(P), 2))
    products = np.column_stack([X[:, a] * X[:, b] for a, b in pairs])
    Z = StandardScaler().fit_transform(np.hstack([X, products]))
    model = LogisticRegressionCV(
        Cs=STRENGTHS,
        penalty="l1",
        solver="liblinear",
        cv=5,
        scoring="neg_log_loss",
        random_state=seed,
    ).fit(Z, y)
    return {pair for pair, c in zip(pairs, model.coef_[0, P:]) if c != 0}


def named(X, y, seed):
    prune = ImmigrateClassifierCV(BASE, penalties=("prune",)).fit(X, y)
    path = ImmigrateClassifierCV(BASE, penalties="path", one_standard_error=True).fit(X, y)
    return {
        "prune": pairs_of(prune.weight_matrix_),
        "l1 1se": pairs_of(path.weight_matrix_),
        "l1 first two": first_two(path.weights_by_strength_),
        "interaction test": by_names(InteractionTest().fit(X, y).selected_),
        "lasso on products": lasso_on_products(X, y, seed),
    }


def finished():
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def summary(rows):
    print("| method | pairs named | precision | recall | seeds |")
    print("|---|---|---|---|---|")
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [r for r in rows if r["method"] == method]
        n = np.array([int(r["n_named"]) for r in own])
        hits = np.array([int(r["n_true_named"]) for r in own])
        precision = f"{hits.sum() / n.sum():.2f}" if n.sum() else "none named"
        print(
            f"| {method} | {n.mean():.1f} | {precision} | "
            f"{hits.mean() / len(TRUTH):.2f} | {len(own)} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {int(row["seed"]) for row in finished()}
    if not done:
        RESULTS.write_text(",".join(HEAD) + "\n")
    for seed in range(options.seeds):
        if seed in done:
            continue
        found = named(*table(seed), seed)
        with RESULTS.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            for method, pairs in found.items():
                writer.writerow((seed, method, len(pairs), len(pairs & TRUTH)))
    summary(finished())


if __name__ == "__main__":
    main()
