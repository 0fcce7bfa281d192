"""Time of a path over strengths and sigma against one cold fit for each sigma.

    python benchmarks/speed/penalty_path_time.py

20 strengths x 6 sigmas on 200 x 22, in turn with six plain cold fits and with six of the strength
in the middle of the path, best of several, for each constraint, judged at one temperature and at
those of the default. Times are those of the processor, so that other programs hardly count; set
OMP_NUM_THREADS=1 for one thread.
"""

from __future__ import annotations

import csv
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.estimators.immigrate_cv import TEMPERATURES
from immigrate.margin.sigma import AUTO_MULTIPLES, typical_distance
from immigrate.options import L1

N_TURNS = 12
SETTINGS = tuple(
    (constraint, temperatures)
    for constraint in ("nonnegative", "psd", "both")
    for temperatures in ((1.0,), TEMPERATURES)
)
COLUMNS = (
    "constraint",
    "n_temperatures",
    "plain_ms",
    "penalised_ms",
    "path_ms",
    "of_plain",
    "of_penalised",
)
RESULTS = Path(__file__).parents[1] / "results" / "penalty_path_time.csv"


def table(n=200, p=22, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    logit = X[:, 0] + X[:, 1] + 2 * X[:, 2] * X[:, 3]
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * logit))).astype(int)


def seconds(models, X, y):
    start = time.process_time()
    for model in models:
        model.fit(X, y)
    return time.process_time() - start


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = table()
    unit = typical_distance(X / X.std(axis=0), np.eye(22) / np.sqrt(22))
    rows = []
    for constraint, temperatures in SETTINGS:
        base = ImmigrateClassifier(constraint=constraint)
        path = ImmigrateClassifierCV(base, penalties="path", temperatures=temperatures)
        middle = float(np.median(path.fit(X, y).strengths_))
        plain, priced = (
            [
                ImmigrateClassifier(m * unit, constraint=constraint, penalty=penalty)
                for m in AUTO_MULTIPLES
            ]
            for penalty in (None, L1(middle))
        )
        models = (plain, priced, [path])
        turns = [[seconds(each, X, y) for each in models] for _ in range(N_TURNS + 1)][1:]
        times = 1000 * np.min(turns, axis=0)
        ratios = times[2] / times[:2]
        rows.append(
            (
                constraint,
                len(temperatures),
                *(f"{t:.0f}" for t in times),
                *(f"{r:.1f}" for r in ratios),
            )
        )
        print(
            "{:12} {} temperature(s)   6 plain fits {} ms   6 penalised {} ms   "
            "126 fits {} ms   ratios {} and {}".format(*rows[-1])
        )
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
