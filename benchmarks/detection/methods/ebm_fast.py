"""FAST, the interaction detection of explainable boosting machines (package interpret-core).

FAST gives strengths, no p-values. To compare at equal error it gets this library's null
model: strengths are measured on what the additive model leaves, and the strongest pair of
label sets drawn from that model is the yardstick.

References
----------
Y. Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise
interactions", KDD 2013. doi:10.1145/2487575.2487579
"""

from __future__ import annotations

import numpy as np
from scipy import special

from immigrate import InteractionTest
from methods import Evidence

N_DRAWS = 39


def strengths(X, y, logit):
    """FAST strength of each pair: ((a, b), strength), strongest first."""
    from interpret.utils import measure_interactions

    return measure_interactions(X, y, init_score=logit, objective="log_loss")


def evidence(problem, rng):
    null = InteractionTest(stepwise=False).fit(problem.X, problem.y).additive_model_
    mu = null.probabilities[:, 0]
    logit = special.logit(np.clip(mu, 1e-12, 1 - 1e-12))
    found = strengths(problem.X, problem.y, logit)
    strongest = [
        strengths(problem.X, (rng.random(len(mu)) < mu).astype(int), logit)[0][1]
        for _ in range(N_DRAWS)
    ]
    values = np.array([strength for _, strength in found])
    n_as_strong = np.sum(np.array(strongest)[:, None] >= values, axis=0)
    terms = np.array([term for term, _ in found])
    return Evidence(terms, p_adjusted=(1 + n_as_strong) / (1 + N_DRAWS))
