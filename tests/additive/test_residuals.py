from __future__ import annotations

import numpy as np
import pytest
from additive.problems import additive_problem, mixed_problem

from immigrate.additive.families import CLASSES
from immigrate.additive.null_model import fitted_additive_model
from immigrate.additive.residuals import known_contrasts
from immigrate.additive.ridge import INTERCEPT_PENALTY


def dense_cleaning(model, weight):
    """I - A and V as dense matrices for two classes: the definition, n x n."""
    v = weight * model.means[:, 0] * (1 - model.means[:, 0])
    penalty = np.maximum(model.refit_penalty, INTERCEPT_PENALTY)
    H = np.linalg.inv(model.Z.T @ (v[:, None] * model.Z) + np.diag(penalty))
    A = (v / weight)[:, None] * model.Z @ H @ (model.Z.T * weight)
    return np.eye(len(v)) - A, np.diag(v / weight)


@pytest.mark.parametrize("problem", [additive_problem, mixed_problem])
def test_covariance_is_that_of_the_dense_definition(problem):
    data = problem(n=120)
    model = fitted_additive_model(data)
    contrast = model.contrasts()[0]
    cleaning, V = dense_cleaning(model, data.weight)
    covariance = np.diag(contrast.variance) - contrast.explained.F.T @ contrast.explained.F
    np.testing.assert_allclose(covariance, cleaning @ V @ cleaning.T, atol=1e-9)


def test_residuals_are_cleaned_and_scaled():
    data = additive_problem(n=120)
    model = fitted_additive_model(data)
    cleaning, V = dense_cleaning(model, data.weight)
    r = cleaning @ (data.outcome.Y - model.means)[:, 0]
    r *= np.sqrt(np.trace(cleaning @ V @ cleaning.T) / (r @ r))
    np.testing.assert_allclose(model.contrasts()[0].residual[:, 0], r, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_drawn_residuals_have_the_stated_covariance(n_classes):
    data = additive_problem(n=60, n_classes=n_classes)
    model = fitted_additive_model(data)
    rng = np.random.default_rng(0)
    labels = CLASSES.drawn(model.means, data.weight, data.weight, 20_000, rng)
    columns = rng.normal(size=(4, 60))
    fit = (model.means, data.weight, model.refit_penalty, CLASSES)
    for contrast in known_contrasts(model.Z, labels, *fit):
        U = columns @ contrast.residual
        raw = (columns * contrast.variance) @ columns.T
        G = columns @ contrast.explained.F.T
        np.testing.assert_allclose(np.cov(U), raw - G @ G.T, atol=0.06 * np.trace(raw) / 4)


def test_drawn_labels_have_the_variance_of_their_weight():
    mu, weight = np.full((4, 1), 0.3), np.array([1.0, 4.0, 2.5, 0.5])
    labels = CLASSES.drawn(mu, weight, weight, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(labels.var(axis=2)[:, 0], 0.21 / weight, rtol=0.05)
