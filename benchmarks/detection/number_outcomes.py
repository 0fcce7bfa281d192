"""Error and power of the test of pairs where the outcome is a number, from 24 rows up.

    python benchmarks/detection/number_outcomes.py --replicates 400 --what error
    python benchmarks/detection/number_outcomes.py --replicates 200 --what power
    python benchmarks/detection/number_outcomes.py --summary

Rows go to ``build/number_outcomes.csv`` as soon as they are there, and what is there is not run
again; the means go to ``results/number_outcomes.csv`` with ``--summary``. Seeds depend on design,
noise, size and replicate only. Beside the test stands the F-test of the products of dummies, or of
the features themselves where they are numbers, by Holm's method: right where noise is equal.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
import zlib
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))

from immigrate import InteractionTest

ROWS = Path(__file__).parents[2] / "build" / "number_outcomes.csv"
RESULTS = Path(__file__).parent / "results" / "number_outcomes.csv"
FIELDS = ("what", "design", "noise", "n", "replicate", "test", "F-test")
ALPHA = 0.05
LEVELS = (2, 3, 3)
SIZE = 0.8
SMALL = (24, 48, 100, 158, 400)
NOISES = ("normal", "t3", "lognormal", "unequal", "unequal by two", "skewed unequal", "typo")
LARGE = (1000, 3000)
LARGE_NOISES = ("exp(x)", "exp(.7 x)", "share of the mean", "t3 unequal")


def cells(what):
    designs = ("nominal", "binary", "numbers")
    small = [(d, noise, n) for d in designs for noise in NOISES for n in SMALL]
    wide = [(d, noise, 400) for d in ("15 numbers", "30 numbers") for noise in NOISES]
    large = [("numbers", noise, n) for noise in LARGE_NOISES for n in LARGE]
    return [(what, *cell) for cell in (small + wide + large if what == "error" else small + wide)]


def features(design, n, rng):
    """Columns, and each in units of its deviation."""
    if design == "nominal":
        X = np.column_stack([rng.permutation(np.arange(n) % k) for k in LEVELS])
        named = np.array(["uvw"[k] for k in range(3)])
        frame = pd.DataFrame({f"x{j}": named[x] for j, x in enumerate(X.T)})
    else:
        p = {"binary": 6, "numbers": 6}.get(design) or int(design.split()[0])
        X = rng.integers(0, 2, (n, p)) if design == "binary" else rng.normal(size=(n, p))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    return frame, (X - X.mean(axis=0)) / X.std(axis=0)


def noise_of(noise, z, mean, rng):
    """Noise of standard deviation 1 where it is equal and has one, with mean 0."""
    n = len(z)
    e = rng.normal(size=n)
    if noise.startswith("t3"):
        e = rng.standard_t(3, n)
    if noise in ("lognormal", "skewed unequal"):
        e = rng.lognormal(size=n) - np.exp(0.5)
    if noise in ("unequal", "skewed unequal", "exp(.7 x)", "t3 unequal"):
        e = e * np.exp(0.7 * z[:, 0])
    if noise == "unequal by two":
        e = e * np.exp(0.5 * z[:, 0] + 0.5 * z[:, 1])
    if noise == "exp(x)":
        e = e * np.exp(z[:, 0])
    if noise == "share of the mean":
        e = e * (mean - mean.min() + 0.2) / 2
    return e


def problem(what, design, noise, n, replicate):
    """A table with three main effects, and with a pair where power is asked for."""
    seed = zlib.crc32(f"{what} {design} {noise}".encode())
    rng = np.random.default_rng([seed, n, replicate])
    X, z = features(design, n, rng)
    mean = z[:, 0] + 0.5 * z[:, 1] - 0.7 * z[:, 2]
    if what == "power":
        together = z[:, 0] * z[:, 1]
        if not design.endswith("numbers"):
            # The first level of each feature against the others.
            together = np.sign(z[:, 0] - z[:, 0].min() - 1e-9) * np.sign(
                z[:, 1] - z[:, 1].min() - 1e-9
            )
        mean = mean + SIZE * (together - together.mean()) / together.std()
    y = mean + noise_of(noise, z, mean, rng)
    if noise == "typo":
        y[rng.integers(n)] += 100
    return X, y


def dummies(x):
    if x.dtype.kind == "f":
        return x.to_numpy()[:, None]
    return pd.get_dummies(x, drop_first=True, dtype=float).to_numpy()


def f_test(X, y):
    """Adjusted p-values of all pairs: products beside all main effects, by least squares."""
    own = [dummies(X[name]) for name in X]
    base = np.column_stack([np.ones(len(y)), *own])
    p = {}
    for a, b in combinations(range(len(own)), 2):
        products = (own[a][:, :, None] * own[b][:, None, :]).reshape(len(y), -1)
        full = np.column_stack([base, products])
        rss, rank = zip(*(_least_squares(Z, y) for Z in (base, full)))
        more, left = rank[1] - rank[0], len(y) - rank[1]
        F = (rss[0] - rss[1]) / max(more, 1) / (rss[1] / max(left, 1))
        p[a, b] = stats.f.sf(F, more, left) if more and left > 0 else 1.0
    ordered = sorted(p, key=p.get)
    adjusted = np.maximum.accumulate([p[pair] * (len(p) - i) for i, pair in enumerate(ordered)])
    return dict(zip(ordered, adjusted))


def _least_squares(Z, y):
    beta, _, rank, _ = np.linalg.lstsq(Z, y, rcond=None)
    return float(np.sum((y - Z @ beta) ** 2)), int(rank)


def row_of(what, design, noise, n, replicate):
    X, y = problem(what, design, noise, n, replicate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Text is read as categories, whole numbers 0 and 1 as numbers.
        test = InteractionTest(outcome="number").fit(X, y)
    found = {frozenset(pair) for pair in test.selected_[["feature_1", "feature_2"]].to_numpy()}
    least_squares = f_test(X, y)
    if what == "error":
        return len(found) > 0, min(least_squares.values()) <= ALPHA
    return frozenset(("x0", "x1")) in found, least_squares[0, 1] <= ALPHA


def finished():
    if not ROWS.exists():
        return set()
    done = pd.read_csv(ROWS)[list(FIELDS[:5])].drop_duplicates()
    return set(done.itertuples(index=False, name=None))


def run(what, replicates, chosen):
    ROWS.parent.mkdir(exist_ok=True)
    done, is_new = finished(), not ROWS.exists()
    with ROWS.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        for cell in cells(what):
            if not all(word in " ".join(map(str, cell)) for word in chosen):
                continue
            for replicate in range(replicates):
                if (*cell, replicate) not in done:
                    found = row_of(*cell, replicate)
                    writer.writerow((*cell, replicate, *map(int, found)))
            file.flush()


def summary():
    rows = pd.read_csv(ROWS)
    means = rows.groupby(list(FIELDS[:4]), sort=False)[["test", "F-test"]].agg(["mean", "size"])
    means.columns = [" ".join(c).replace(" mean", "") for c in means.columns]
    means = means.drop(columns="F-test size").rename(columns={"test size": "tables"})
    means.round(4).reset_index().to_csv(RESULTS, index=False)
    print(means.round(3).to_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--what", choices=("error", "power"), default="error")
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--cells", nargs="*", default=[], help="words that a cell must hold")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if options.summary:
        summary()
    else:
        run(options.what, options.replicates, options.cells)


if __name__ == "__main__":
    main()
