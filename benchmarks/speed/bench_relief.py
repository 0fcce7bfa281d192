"""ReliefF against scikit-rebate and fast-select: seconds, and ratio to this library.

    python benchmarks/speed/bench_relief.py [--clock cpu] [--repeat 5]
        [--output results/relief.csv]

The others are timed when installed (``pip install skrebate fast-select``). Runs alternate, so
that a busy machine hits all alike; the shortest counts, after one run that compiles. With
``--clock wall`` all cores work and a clock on the wall counts; with ``--clock cpu``, for machines
that others use too, one thread works and its processor time counts. Scores are compared too: a
fast wrong answer is no answer.
"""

from __future__ import annotations

import argparse
import os
import time
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import immigrate

SHAPES = [(2000, 50), (5000, 100)]
N_NEIGHBORS = [10, 100]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def made_up_table(n, p):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.standard_normal((n, p)) + np.linspace(0.5, 0, p) * y[:, None], y


def fits(k, n_jobs):
    """Functions that score the features of a table, by library."""
    found = {
        "immigrate": lambda X, y: immigrate.ReliefF(n_neighbors=k, n_jobs=n_jobs).fit(X, y),
    }
    if find_spec("skrebate"):
        import skrebate

        found["skrebate"] = lambda X, y: skrebate.ReliefF(n_neighbors=k, n_jobs=n_jobs).fit(
            X.copy(), y
        )
    if find_spec("fast_select"):
        import fast_select

        found["fast-select"] = lambda X, y: fast_select.ReliefF(
            n_neighbors=k, n_features_to_select=1, n_jobs=n_jobs, backend="cpu"
        ).fit(X, y)
    return found


def seconds(fit, X, y, clock):
    start = CLOCKS[clock]()
    model = fit(X, y)
    return CLOCKS[clock]() - start, model.feature_importances_


def measured(n, p, k, repeat, clock):
    """One row per library."""
    X, y = made_up_table(n, p)
    methods = fits(k, n_jobs=-1 if clock == "wall" else 1)
    # The first run compiles.
    for fit in methods.values():
        seconds(fit, X[:400], y[:400], clock)
    best, scores = dict.fromkeys(methods, np.inf), {}
    for _ in range(repeat):
        for name, fit in methods.items():
            took, scores[name] = seconds(fit, X, y, clock)
            best[name] = min(best[name], took)
    return [
        {
            "n_samples": n,
            "n_features": p,
            "n_neighbors": k,
            "n_threads": os.cpu_count() if clock == "wall" else 1,
            "clock": clock,
            "library": name,
            "version": version(name),
            "seconds": round(best[name], 4),
            "times_immigrate": round(best[name] / best["immigrate"], 2),
            "spearman": round(spearmanr(scores[name], scores["immigrate"]).statistic, 4),
        }
        for name in methods
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--output", type=Path, default=Path(__file__).parents[1] / "results" / "relief.csv"
    )
    options = parser.parse_args()
    rows = []
    for n, p in SHAPES:
        for k in N_NEIGHBORS:
            rows += measured(n, p, k, options.repeat, options.clock)
            print(pd.DataFrame(rows[-3:]).to_string(index=False), flush=True)
            options.output.parent.mkdir(parents=True, exist_ok=True)
            pd.DataFrame(rows).to_csv(options.output, index=False)


if __name__ == "__main__":
    main()
