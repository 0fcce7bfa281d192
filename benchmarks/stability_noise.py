"""Stability selection on noise: how many pairs are stable, against the bound.

    python benchmarks/stability_noise.py

80 samples of 8 standard normal features, labels drawn by a coin, 200 replicates, 15 splits.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np

from immigrate import StabilitySelection

RESULTS = Path(__file__).parent / "results" / "stability_noise.csv"
HEAD = ("threshold", "max_false", "seed", "n_pairs", "expected_false", "n_stable")
SETTINGS = ((0.75, 1.0), (0.6, 5.0))


def finished():
    if not RESULTS.exists():
        return []
    with RESULTS.open() as file:
        return list(csv.DictReader(file))


def summary(rows):
    print("| threshold | q | bound | stable pairs, mean | standard error | most | replicates |")
    print("|---|---|---|---|---|---|---|")
    for threshold, max_false in SETTINGS:
        own = [
            r
            for r in rows
            if (float(r["threshold"]), float(r["max_false"])) == (threshold, max_false)
        ]
        n = np.array([int(r["n_stable"]) for r in own])
        error = n.std(ddof=1) / np.sqrt(len(n))
        print(
            f"| {threshold} | {own[0]['n_pairs']} | {float(own[0]['expected_false']):.2f} | "
            f"{n.mean():.3f} | {error:.3f} | {n.max()} | {len(n)} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    done = {int(row["seed"]) for row in finished()}
    if not done:
        RESULTS.write_text(",".join(HEAD) + "\n")
    for seed in range(options.replicates):
        if seed in done:
            continue
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((80, 8)), rng.permutation(np.arange(80) % 2)
        rows = []
        for threshold, max_false in SETTINGS:
            found = StabilitySelection(
                threshold=threshold, max_false=max_false, n_splits=15, random_state=seed
            ).fit(X, y)
            bound = f"{found.expected_false_:.4f}"
            rows.append((threshold, max_false, seed, found.n_pairs_, bound, len(found.selected_)))
        with RESULTS.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    summary(finished())


if __name__ == "__main__":
    main()
