"""With many classes the null model is solved in other ways, and gives the same answers."""

from __future__ import annotations

import numpy as np
import pytest
from additive.problems import encoded

from immigrate.additive import ridge
from immigrate.additive.families import CLASSES
from immigrate.additive.newton import (
    CoefficientSpace,
    SampleSpace,
    information_matrix,
    newton_inverse,
)
from immigrate.additive.null_model import fitted_additive_model
from immigrate.additive.ridge import conjugate_step


def many_class_problem(n=60, n_classes=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    logits = X @ rng.normal(size=(3, n_classes))
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    return encoded(X, np.unique(y, return_inverse=True)[1], weight=rng.uniform(0.5, 2, n))


@pytest.fixture(scope="module")
def newton_system():
    """Z, probabilities, weights, penalties and a gradient; more coefficients than samples."""
    rng = np.random.default_rng(0)
    Z = np.column_stack([np.ones(50), rng.normal(size=(50, 9))])
    mu = CLASSES.means(2 * rng.normal(size=(50, 7)))
    Y = np.eye(7)[rng.integers(0, 7, 50)]
    weight, penalty = rng.uniform(0.5, 2, 50), np.array([1e-3, *rng.uniform(0.05, 3, 9)])
    return Z, mu, weight, penalty, Z.T @ (weight[:, None] * (Y - mu))


def test_conjugate_gradients_solve_the_newton_equations(newton_system):
    Z, mu, weight, penalty, gradient = newton_system
    full = information_matrix(Z, mu, weight) + np.diag(np.tile(penalty, mu.shape[1]))
    dense = np.linalg.solve(full, gradient.T.ravel()).reshape(gradient.T.shape).T
    conjugate = conjugate_step(*newton_system)
    np.testing.assert_allclose(conjugate, dense, atol=1e-5 * np.abs(dense).max())


def test_both_spaces_take_the_same_step(newton_system):
    *system, gradient = newton_system
    gradient = np.stack([gradient, 2 - gradient], axis=2)
    expected = CoefficientSpace(*system).steps(gradient)
    np.testing.assert_allclose(SampleSpace(*system).steps(gradient), expected, rtol=1e-8)


def test_both_spaces_explain_the_same_covariance(newton_system):
    *system, _ = newton_system
    for c in range(7):
        F, (form, _) = CoefficientSpace(*system).explained(c), SampleSpace(*system).forms()[c]
        found = form.covariance(form.partial(np.eye(len(F.T))[None], slice(None)))[0]
        expected = F.T @ F
        np.testing.assert_allclose(found, expected, atol=1e-10 * expected.max())


def test_few_classes_stay_in_the_space_of_coefficients():
    Z, mu, ones = np.ones((4, 9)), np.full((4, 3), 1 / 3), np.ones(9)
    assert isinstance(newton_inverse(Z, mu, ones[:4], ones), CoefficientSpace)
    assert isinstance(newton_inverse(Z, np.full((4, 5), 0.2), ones[:4], ones), SampleSpace)


def test_the_fit_does_not_depend_on_how_its_steps_are_solved(monkeypatch):
    data = many_class_problem()
    dense = fitted_additive_model(data)
    monkeypatch.setattr(ridge, "MOST_DENSE_COEFFICIENTS", 0)
    conjugate = fitted_additive_model(data)
    assert conjugate.strength == dense.strength
    np.testing.assert_allclose(conjugate.means, dense.means, atol=1e-5)


def test_residuals_of_many_classes_sum_to_zero_over_the_classes():
    """Probabilities sum to one, so what one class has too much of the others have too little."""
    data = many_class_problem(n=40)
    model = fitted_additive_model(data)
    inverse = newton_inverse(model.Z, model.means, data.weight, model.refit_penalty)
    assert isinstance(inverse, SampleSpace)
    e = (data.outcome.Y - model.means)[:, :, None]
    step = inverse.steps(np.tensordot(model.Z * data.weight[:, None], e, (0, 0)))
    np.testing.assert_allclose(step.sum(axis=1), 0, atol=1e-8)
