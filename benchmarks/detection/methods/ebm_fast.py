"""FAST, the interaction detection of explainable boosting machines (package interpret-core).

FAST gives strengths, no p-values. To compare at equal error it gets this library's null
model: strengths are measured on what the additive model leaves, and the yardstick is the
strongest pair of label sets drawn from that model, which is fitted anew to each of them.

References
----------
Y. Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise
interactions", KDD 2013. doi:10.1145/2487575.2487579
"""

from __future__ import annotations

import numpy as np

from immigrate import InteractionTest
from immigrate.inference.ridge import ridge_coefficients
from methods import Evidence

N_DRAWS = 39


def strengths(X, y, logit):
    """FAST strength of each pair: ((a, b), strength), strongest first."""
    from interpret.utils import measure_interactions

    return measure_interactions(X, y, init_score=logit, objective="log_loss")


def additive_logit(null, y):
    """Log-odds of the additive model, with its penalty, fitted to the labels `y`."""
    labels, weight = y[:, None].astype(float), np.ones(len(y))
    beta = ridge_coefficients(null.Z, labels, weight, null.penalty, null.coefficients)
    return (null.Z @ beta)[:, 0]


def evidence(problem, rng):
    null = InteractionTest(stepwise=False).fit(problem.X, problem.y).additive_model_
    mu = null.probabilities[:, 0]
    found = strengths(problem.X, problem.y, additive_logit(null, problem.y))
    strongest = []
    for _ in range(N_DRAWS):
        drawn = (rng.random(len(mu)) < mu).astype(int)
        strongest.append(strengths(problem.X, drawn, additive_logit(null, drawn))[0][1])
    values = np.array([strength for _, strength in found])
    n_as_strong = np.sum(np.array(strongest)[:, None] >= values, axis=0)
    terms = np.array([term for term, _ in found])
    return Evidence(terms, p_adjusted=(1 + n_as_strong) / (1 + N_DRAWS))
