"""Section 4.1 in numbers: the weight of the interaction as noise grows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from paper.datasets.synthetic import noisy_gaussians
from paper.statistics import logistic_p_values

NOISE_LEVELS = tuple(round(0.05 * k, 2) for k in range(1, 11))
# What the paper quotes for the interaction coefficient of a logistic regression.
PUBLISHED_P_VALUES = {0.0: 3e-11, 0.1: 7e-5, 0.5: 0.7}


def interaction_weights(n_seeds=20) -> pd.DataFrame:
    """|W_12| with ||W||_F = 1 of IMMIGRATE and LFE: one row per noise level, seed and method."""
    rows = []
    for noise in NOISE_LEVELS:
        for seed in range(n_seeds):
            X, y, _ = noisy_gaussians(noise, random_state=seed)
            X = StandardScaler().fit_transform(X)
            for method, matrix in (("IGT", _immigrate_matrix), ("LFE", _lfe_matrix)):
                W = matrix(X, y)
                rows.append((noise, seed, method, abs(W[0, 1]) / np.linalg.norm(W)))
    return pd.DataFrame(rows, columns=["noise", "seed", "method", "weight"])


def interaction_p_values(n_seeds=20) -> pd.DataFrame:
    """P value of x1 x2 in a logistic regression, alone and beside the main effects.

    The paper's values are those of the product alone: beside x1 and x2 it is not significant
    even without noise, since the classes are Gaussian with one covariance matrix and so differ
    by a linear function.
    """
    rows = []
    for noise in (0.0, *NOISE_LEVELS):
        for seed in range(n_seeds):
            X, y, _ = noisy_gaussians(noise, random_state=seed)
            product, one = X[:, 0] * X[:, 1], np.ones(len(y))
            alone = logistic_p_values(np.column_stack([one, product]), y)[-1]
            beside = logistic_p_values(np.column_stack([one, X, product]), y)[-1]
            rows.append((noise, seed, alone, beside))
    return pd.DataFrame(rows, columns=["noise", "seed", "alone", "beside"])


def _immigrate_matrix(X, y):
    from immigrate import ImmigrateClassifier
    from immigrate.options import Columns

    # Ten full steps are the paper's rule, converged or not.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ImmigrateClassifier(sigma=1.0, solver="paper", columns=Columns(scale=None))
        return model.fit(X, y).weight_matrix_


def _lfe_matrix(X, y):
    from immigrate import LFE

    return LFE().fit(X, y).weight_matrix_
