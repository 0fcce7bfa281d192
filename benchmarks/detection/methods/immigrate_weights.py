"""The off-diagonal weights of IMMIGRATE: a ranking, as in the paper, no p-values."""

from __future__ import annotations

import numpy as np

from methods import Evidence


def evidence(problem, rng):
    from immigrate import ImmigrateClassifier

    X = (problem.X - problem.X.mean(axis=0)) / problem.X.std(axis=0)
    table = ImmigrateClassifier().fit(X, problem.y).interactions()
    pairs = table[table["kind"] == "pair"].sort_values("rank")
    names = pairs[["feature_1", "feature_2"]].to_numpy()
    return Evidence(np.array([[int(str(name).lstrip("x")) for name in row] for row in names]))
