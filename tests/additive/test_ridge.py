from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from immigrate.additive import ridge
from immigrate.additive.families import CLASSES, NUMBERS, class_outcome
from immigrate.additive.newton import information_matrix
from immigrate.additive.ridge import INTERCEPT_PENALTY, ridge_coefficients

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
    gradient = Z.T @ (WEIGHT[:, None] * (Y - CLASSES.means(Z @ beta))) - penalty[:, None] * beta
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
    np.testing.assert_allclose(CLASSES.means(Z @ beta), expected, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_information_is_the_curvature_of_the_deviance(n_classes):
    Y = class_outcome(labels(n_classes), n_classes).Y
    beta = RNG.normal(size=(5, Y.shape[1])) / 3
    direction = RNG.normal(size=beta.shape)
    step = 1e-3
    values = [
        CLASSES.deviance(Y, Z @ (beta + t * direction), WEIGHT) / 2 for t in (-step, 0, step)
    ]
    curvature = (values[0] - 2 * values[1] + values[2]) / step**2
    flat = direction.T.ravel()
    information = information_matrix(Z, CLASSES.means(Z @ beta), WEIGHT)
    np.testing.assert_allclose(flat @ information @ flat, curvature, rtol=1e-4)


def test_covariance_of_one_logit_is_that_of_a_coin():
    mu = np.array([[0.3], [0.9]])
    np.testing.assert_allclose(
        CLASSES.spread(mu, np.ones(2), 0, 0, np.ones((2, 1))), [[0.21], [0.09]]
    )


def test_separable_labels_stay_finite():
    Y = (X[:, :1] > 0).astype(float)
    beta = ridge_coefficients(Z, Y, WEIGHT, np.full(5, 0.03), np.zeros((5, 1)))
    assert np.isfinite(beta).all()


def test_a_number_takes_one_step_to_the_normal_equations(monkeypatch):
    """Also from a start that is nothing like the answer."""
    Y, penalty = RNG.normal(size=(150, 1)), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    own = np.maximum(penalty, INTERCEPT_PENALTY)
    expected = np.linalg.solve(
        Z.T @ (WEIGHT[:, None] * Z) + np.diag(own), Z.T @ (WEIGHT[:, None] * Y)
    )
    monkeypatch.setattr(ridge, "MAX_NEWTON_STEPS", 1)
    for start in (np.zeros((5, 1)), np.full((5, 1), 30.0)):
        beta = ridge_coefficients(Z, Y, WEIGHT, penalty, start, family=NUMBERS)
        np.testing.assert_allclose(beta, expected, rtol=1e-9)


def test_a_start_where_newton_steps_are_too_long_is_no_obstacle():
    """Far out on one side the logistic curve is flat, and a full step goes far beyond."""
    Y, penalty = class_outcome(labels(2), 2).Y, np.full(5, 1e-2)
    best = ridge_coefficients(Z, Y, WEIGHT, penalty, np.zeros((5, 1)), tolerance=1e-12)
    for size in (3.0, 6.0, -6.0):
        start = np.zeros((5, 1))
        start[0] = size
        found = ridge_coefficients(Z, Y, WEIGHT, penalty, start, tolerance=1e-12)
        np.testing.assert_allclose(found, best, atol=1e-4)


def test_a_smaller_tolerance_ends_nearer_to_the_answer():
    Y, penalty = class_outcome(labels(3), 3).Y, np.full(5, 0.1)
    start = np.full((5, 3), 0.5)

    def rest(tolerance):
        beta = ridge_coefficients(Z, Y, WEIGHT, penalty, start, tolerance=tolerance)
        gradient = (
            Z.T @ (WEIGHT[:, None] * (Y - CLASSES.means(Z @ beta))) - penalty[:, None] * beta
        )
        return np.abs(gradient).max()

    assert rest(1e-12) < 1e-6 < rest(1e-1)
    assert rest(1e-8) < 1e-3
