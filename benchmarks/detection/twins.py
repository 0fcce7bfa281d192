"""The twin of a scenario: the same features and main effects, no interaction.

Its labels come from the additive logistic model that is nearest to the scenario's own labels,
fitted once to many samples. What a method finds in the twin is not there, so the largest
strength over twins says how strong a pair must be to stand out at a given error rate. How often
the pair of the scenario comes first in the twin says how much of a ranking is main effects.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from scenarios import ALTERNATIVES, Problem, drawn_labels
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

N_FITTED = 400_000
N_BINS = 40
# No scenario has main effects beyond these.
N_FEATURES = 6
SEED = 20200217
WITHOUT_TWIN = ("three_class_xor", "xor_missing_values")


def bin_edges(x):
    """Borders between the levels of a feature, or between its quantile bins."""
    levels = np.unique(x)
    if len(levels) <= N_BINS:
        return (levels[1:] + levels[:-1]) / 2
    return np.quantile(x, np.arange(1, N_BINS) / N_BINS)


def binned(X, edges):
    return np.column_stack([np.searchsorted(cuts, x) for cuts, x in zip(edges, X.T)])


@cache
def nearest_additive_model(scenario):
    """Bins, their encoder and a logistic regression on them."""
    problem = ALTERNATIVES[scenario](np.random.default_rng(SEED), N_FITTED, N_FEATURES)
    edges = [bin_edges(x) for x in problem.X.T]
    encoder = OneHotEncoder().fit(binned(problem.X, edges))
    model = LogisticRegression(C=100.0, max_iter=1000, tol=1e-6)
    model.fit(encoder.transform(binned(problem.X, edges)), problem.y)
    return edges, encoder, model


def twin(rng, n, p, *, scenario):
    edges, encoder, model = nearest_additive_model(scenario)
    problem = ALTERNATIVES[scenario](rng, n, p)
    X = problem.X
    logit = model.decision_function(encoder.transform(binned(X[:, :N_FEATURES], edges)))
    return Problem(X, drawn_labels(rng, logit), lookalike=problem.truth)


TWINS = {
    f"{scenario}_twin": partial(twin, scenario=scenario)
    for scenario in ALTERNATIVES
    if scenario not in WITHOUT_TWIN
}
