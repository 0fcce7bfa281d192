"""Does a pure XOR pair among 5,000 features and 100 samples survive a screen to 100 features?

    python benchmarks/detection/high_dimension.py --seeds 20

The pair screen keeps the features of the strongest pairs of InteractionTest, the diagonal
screen those with the strongest main effects. One row per seed in results/wide/high_dimension.csv.
"""

from __future__ import annotations

import argparse
import csv
import resource
import time
from pathlib import Path

import numpy as np

from immigrate import InteractionTest

RESULTS = Path(__file__).parent / "results" / "wide" / "high_dimension.csv"
FIELDS = ("seed", "strength", "by_pairs", "by_main_effects", "rank", "p_adjusted", "seconds", "gb")
N_KEPT = 100


def problem(seed, strength, n=100, p=5000):
    """Logit: XOR of the first two features, and main effects of the next three."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    logit = strength * np.sign(X[:, 0] * X[:, 1]) + X[:, 2:5] @ [1.0, -1.0, 1.0]
    return X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)


def main_effect_order(X, y):
    """Features by how well ranks separate the classes."""
    ranks = X.argsort(axis=0).argsort(axis=0)
    return np.argsort(-np.abs(ranks[y == 1].mean(axis=0) - ranks[y == 0].mean(axis=0)))


def measured(seed, strength):
    X, y = problem(seed, strength)
    start = time.process_time()
    test = InteractionTest().fit(X, y)
    table = test.table_
    is_pair = (table["feature_1"] == "x0") & (table["feature_2"] == "x1")
    return {
        "seed": seed,
        "strength": strength,
        "by_pairs": int({"x0", "x1"} <= set(test.strongest_features(N_KEPT))),
        "by_main_effects": int({0, 1} <= set(main_effect_order(X, y)[:N_KEPT].tolist())),
        "rank": int(table.loc[is_pair, "rank"].min()) if is_pair.any() else "",
        "p_adjusted": f"{table.loc[is_pair, 'p_adjusted'].min():.3g}" if is_pair.any() else "",
        "seconds": f"{time.process_time() - start:.2f}",
        "gb": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f}",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--strengths", type=float, nargs="+", default=[4.0])
    arguments = parser.parse_args()
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    done = set()
    if RESULTS.exists():
        with RESULTS.open() as file:
            done = {(int(r["seed"]), float(r["strength"])) for r in csv.DictReader(file)}
    with RESULTS.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for seed in range(arguments.seeds):
            for strength in arguments.strengths:
                if (seed, strength) not in done:
                    writer.writerow(measured(seed, strength))
                    file.flush()


if __name__ == "__main__":
    main()
