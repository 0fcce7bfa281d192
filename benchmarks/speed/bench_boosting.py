"""Boosting against single fits: time of 100 rounds, and of predicting with 100 learners.

    python benchmarks/speed/bench_boosting.py

200 x 22, in turn and best of several. A round is compared with a single fit of the same solver.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier

N_TURNS, N_ROUNDS = 5, 100


def table(n=200, p=22, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    logit = X[:, 0] + X[:, 1] + 2 * X[:, 2] * X[:, 3]
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype(int)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    warnings.simplefilter("ignore")
    X, y = table()
    paper_fits = [
        ImmigrateClassifier(sigma, solver="paper", rule="distance")
        for sigma in 4 * 0.05 ** (np.arange(N_ROUNDS) / N_ROUNDS)
    ]
    paper = BoostedImmigrateClassifier(n_estimators=N_ROUNDS, variant="paper")
    samme = BoostedImmigrateClassifier(n_estimators=N_ROUNDS)
    single = ImmigrateClassifier()
    fitted = BoostedImmigrateClassifier(n_estimators=N_ROUNDS, variant="paper").fit(X, y)
    one = ImmigrateClassifier(1.0, rule="distance").fit(X, y)
    works = {
        "100 single fits, paper's steps": lambda: [model.fit(X, y) for model in paper_fits],
        "100 rounds, variant='paper'": lambda: paper.fit(X, y),
        "100 single fits, descent": lambda: [single.fit(X, y) for _ in range(N_ROUNDS)],
        "at most 100 rounds, variant='samme'": lambda: samme.fit(X, y),
        "one prediction": lambda: one.predict(X),
        "prediction of the ensemble": lambda: fitted.predict(X),
    }
    best = dict.fromkeys(works, np.inf)
    for _ in range(N_TURNS):
        for name, work in works.items():
            best[name] = min(best[name], seconds(work))
    for name, value in best.items():
        print(f"{name:40} {1000 * value:9.2f} ms")
    names = list(works)
    for a, b in ((1, 0), (3, 2), (5, 4)):
        print(f"{names[a]} / {names[b]}: {best[names[a]] / best[names[b]]:.2f}")
    print(f"rounds run: paper {paper.n_iter_}, samme {samme.n_iter_}")
    print(f"learners of the ensemble: {len(fitted.estimators_)}")


if __name__ == "__main__":
    main()
