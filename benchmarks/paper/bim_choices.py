"""Which open choice of Algorithm 3 explains the accuracy of BIM on a table?

    python benchmarks/paper/bim_choices.py --data FOLDER
        [--table GLA] [--only rising free] [--repeats 2]

The paper leaves open where a round's W starts, how many steps it takes, whether a training
sample counts among its own neighbours when the error is taken, and (in the R package) whether
votes are hard or shares of distance. Each is varied alone; repeated 10-fold cross-validation,
everything inside the folds.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.core.couplings import distance_share
from immigrate.margin.problem import MarginProblem
from immigrate.solvers import full_steps, spectral_descent
from immigrate.solvers.boosting import falling_sigmas

T = 100
AS_WRITTEN = {
    "constraint": "psd",
    "start": "identity",
    "n_steps": 10,
    "error": "leave-one-out",
    "votes": "hard",
    "rule": "distance",
    "exponent": 1.0,
    "solver": full_steps,
    "sigmas": falling_sigmas(4.0, 0.2, T),
}
CHOICES = {
    "as written (identity, 10 steps, leave-one-out error, hard votes)": {},
    "random start each round": {"start": "random"},
    "random start, R's clipping": {"start": "random", "constraint": "clip"},
    "1 step a round": {"n_steps": 1},
    "3 steps a round": {"n_steps": 3},
    "resubstitution error": {"error": "resubstitution"},
    "votes by shares of distance, as R predicts": {"votes": "share"},
    "free energy in place of Eq. 9": {"rule": "free_energy"},
    "AdaBoost's own update of D, exp(2 alpha)": {"exponent": 2.0},
    "descent instead of full steps": {"solver": spectral_descent},
    "sigma rising from 0.02 to 4, as R runs it": {"sigmas": falling_sigmas(0.02, 4.0, T)},
    "sigma 4 in every round": {"sigmas": falling_sigmas(4.0, 4.0, T)},
    "sigma 4, one round": {"sigmas": falling_sigmas(4.0, 4.0, 1)},
    "sigma falling from 1 to 0.2": {"sigmas": falling_sigmas(1.0, 0.2, T)},
    "sigma falling from 0.5 to 0.2": {"sigmas": falling_sigmas(0.5, 0.2, T)},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("IMMIGRATE_DATA"))
    parser.add_argument("--table", default="GLA")
    parser.add_argument("--only", nargs="+", default=[""], help="words in the choice's name")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    data = pd.read_csv(Path(options.data) / f"{options.table}.csv")
    X, y = data.drop(columns="target").to_numpy(float), pd.factorize(data["target"])[0]
    splitter = RepeatedStratifiedKFold(n_splits=10, n_repeats=options.repeats, random_state=0)
    folds = list(splitter.split(X, y))
    print(f"| {options.table} | accuracy | learners kept of {T} |\n|---|---|---|")
    chosen = {name: c for name, c in CHOICES.items() if any(w in name for w in options.only)}
    for name, choice in chosen.items():
        trials = [trial(X, y, *fold, **{**AS_WRITTEN, **choice}) for fold in folds]
        accuracy, n_kept = np.mean(trials, axis=0)
        print(f"| {name} | {100 * accuracy:.1f} | {n_kept:.0f} |", flush=True)


def trial(X, y, train, test, **choice):
    """Accuracy on the test samples and number of learners kept."""
    scaler = StandardScaler().fit(X[train])
    X_train, X_test, y_train = scaler.transform(X[train]), scaler.transform(X[test]), y[train]
    problem = MarginProblem(X_train, y_train)
    D, rng = np.full(len(train), 1 / len(train)), np.random.default_rng(0)
    total, n_kept = np.zeros((len(test), 2)), 0
    for sigma in choice["sigmas"]:
        solution = choice["solver"](
            problem.with_anchor_weight(D),
            start(X.shape[1], choice["start"], rng),
            sigma,
            MATRIX_SETS[choice["constraint"]],
            max_iter=choice["n_steps"],
            tol=1e-3,
        )
        scores = solution.scores
        if choice["error"] == "resubstitution":
            scores = problem.class_scores(X_train, solution.weights, sigma)
        is_wrong = getattr(scores, choice["rule"]).argmin(axis=1) != y_train
        error = D[is_wrong].sum()
        if not 0 < error < 0.5:
            continue
        vote = 0.5 * np.log((1 - error) / error)
        distance = getattr(problem.class_scores(X_test, solution.weights, sigma), choice["rule"])
        total += vote * votes(distance, choice["votes"])
        n_kept += 1
        D = D * np.exp(choice["exponent"] * vote * is_wrong)
        D /= D.sum()
    return np.mean(total.argmax(axis=1) == y[test]), n_kept


def start(p, kind, rng):
    W = np.eye(p)
    if kind == "random":
        W = rng.uniform(size=(p, p))
        W = W + W.T
    return unit(W)


def votes(distance, kind):
    if kind == "share":
        return -distance_share(distance)
    return np.eye(2)[distance.argmin(axis=1)]


if __name__ == "__main__":
    main()
