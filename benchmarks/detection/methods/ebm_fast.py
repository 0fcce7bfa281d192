"""FAST, the interaction detection of explainable boosting machines (package interpret-core).

FAST gives strengths, no p-values, of what an additive model leaves: that of this library with the
penalty that predicts best (``evidence``), or with the small one by which the test clears its
residuals of main effects (``after_clearing``). How strong a pair must be to count has to come from
elsewhere: from the twins of a scenario, which no user has, or from labels drawn from the
additive model, which is fitted anew to each set of them (``with_drawn_labels``). The second does
not hold its error rate where the model shrinks strong main effects, because FAST takes what is
left of them for a pair.

References
----------
Y. Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise
interactions", KDD 2013. doi:10.1145/2487575.2487579
"""

from __future__ import annotations

import numpy as np

from immigrate import InteractionTest
from immigrate.additive.ridge import ridge_coefficients
from methods import Evidence

N_DRAWS = 39


def strengths(X, y, logit):
    """Pairs (t, 2) and their FAST strengths (t,), strongest first."""
    from interpret.utils import measure_interactions

    found = measure_interactions(X, y, init_score=logit, objective="log_loss")
    return np.array([pair for pair, _ in found]), np.array([strength for _, strength in found])


def additive_model(problem):
    return InteractionTest(stepwise=False).fit(problem.X, problem.y).additive_model_


def additive_logit(null, y, penalty):
    """Log-odds of the additive model fitted to the labels `y`."""
    labels, weight = y[:, None].astype(float), np.ones(len(y))
    beta = ridge_coefficients(null.Z, labels, weight, penalty, null.coefficients)
    return (null.Z @ beta)[:, 0]


def evidence(problem, rng):
    null = additive_model(problem)
    return _ranking(problem, additive_logit(null, problem.y, null.penalty))


def after_clearing(problem, rng):
    null = additive_model(problem)
    return _ranking(problem, additive_logit(null, problem.y, null.refit_penalty))


def _ranking(problem, logit):
    terms, strength = strengths(problem.X, problem.y, logit)
    return Evidence(terms, strength=strength)


def with_drawn_labels(problem, rng):
    null = additive_model(problem)
    mu = null.probabilities[:, 0]
    logit = additive_logit(null, problem.y, null.penalty)
    terms, strength = strengths(problem.X, problem.y, logit)
    strongest = []
    for _ in range(N_DRAWS):
        drawn = (rng.random(len(mu)) < mu).astype(int)
        logit = additive_logit(null, drawn, null.penalty)
        strongest.append(strengths(problem.X, drawn, logit)[1][0])
    n_as_strong = np.sum(np.array(strongest)[:, None] >= strength, axis=0)
    return Evidence(terms, p_adjusted=(1 + n_as_strong) / (1 + N_DRAWS), strength=strength)
