"""Time of a whole path (6 sigmas, pruned and not) against one cold fit at sigma = 1.

    python benchmarks/speed/sigma_path_time.py

Both in turn, best of several, on a 1000 x 30 table with main effects and an interaction.
"""

from __future__ import annotations

import time

import numpy as np

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV

N_TURNS = 7


def table(n=1000, p=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    logit = X[:, 0] + X[:, 1] + 2 * X[:, 2] * X[:, 3]
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * logit))).astype(int)


def seconds(model, X, y):
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def main():
    X, y = table()
    models = {
        "one cold fit, sigma = 1": ImmigrateClassifier(1.0),
        "path, paper's grid x pruned or not": ImmigrateClassifierCV(
            sigmas="paper", penalties=(None, "prune")
        ),
        "path, auto grid x pruned or not": ImmigrateClassifierCV(penalties=(None, "prune")),
    }
    best = dict.fromkeys(models, np.inf)
    for _ in range(N_TURNS):
        for name, model in models.items():
            best[name] = min(best[name], seconds(model, X, y))
    one = best["one cold fit, sigma = 1"]
    for name, value in best.items():
        print(f"{name:40} {1000 * value:8.1f} ms   {value / one:5.2f} x")


if __name__ == "__main__":
    main()
