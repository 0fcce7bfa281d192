from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from immigrate.inference.links import LOGIT
from immigrate.inference.outcomes import class_outcome
from immigrate.inference.ridge import (
    information_matrix,
    ridge_coefficients,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Z = np.column_stack([np.ones(150), X])
WEIGHT = RNG.uniform(0.5, 2, 150)


def labels(n_classes):
    noisy = X[:, 0] + RNG.normal(size=150)
    return np.digitize(noisy, [-0.5, 0.5][: n_classes - 1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_vanishes_at_the_solution(n_classes):
    Y = class_outcome(labels(n_classes), n_classes).Y
    penalty = np.array([1e-3, 1.0, 2.0, 3.0, 4.0])
    beta = ridge_coefficients(Z, Y, WEIGHT, penalty, np.zeros((5, Y.shape[1])))
    gradient = Z.T @ (WEIGHT[:, None] * (Y - LOGIT.means(Z @ beta))) - penalty[:, None] * beta
    np.testing.assert_allclose(gradient, 0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_scikit_learn(n_classes):
    y = labels(n_classes)
    Y = class_outcome(y, n_classes).Y
    penalty = np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    beta = ridge_coefficients(Z, Y, WEIGHT, penalty, np.zeros((5, Y.shape[1])))
    model = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(X, y, WEIGHT)
    expected = model.predict_proba(X)
    expected = expected[:, 1:] if n_classes == 2 else expected
    np.testing.assert_allclose(LOGIT.means(Z @ beta), expected, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_information_is_the_curvature_of_the_deviance(n_classes):
    Y = class_outcome(labels(n_classes), n_classes).Y
    beta = RNG.normal(size=(5, Y.shape[1])) / 3
    direction = RNG.normal(size=beta.shape)
    step = 1e-3
    values = [LOGIT.deviance(Y, Z @ (beta + t * direction), WEIGHT) / 2 for t in (-step, 0, step)]
    curvature = (values[0] - 2 * values[1] + values[2]) / step**2
    flat = direction.T.ravel()
    information = information_matrix(Z, LOGIT.means(Z @ beta), WEIGHT)
    np.testing.assert_allclose(flat @ information @ flat, curvature, rtol=1e-4)


def test_covariance_of_one_logit_is_that_of_a_coin():
    mu = np.array([[0.3], [0.9]])
    np.testing.assert_allclose(LOGIT.covariance(mu, 0, 0), [0.21, 0.09])


def test_separable_labels_stay_finite():
    Y = (X[:, :1] > 0).astype(float)
    beta = ridge_coefficients(Z, Y, WEIGHT, np.full(5, 0.03), np.zeros((5, 1)))
    assert np.isfinite(beta).all()
