"""What a `MarginProblem` takes care of around the passes: units, reach, anchor weights."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate import ImmigrateClassifier
from immigrate.core.forms import LINEAR
from immigrate.margin.problem import MarginProblem
from immigrate.relief.irelief import InlierProblem

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), np.arange(30) % 2
W = np.eye(3) / np.sqrt(3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_large_constant_feature_changes_no_prediction(dtype):
    with_constant = np.column_stack([X, np.full(30, 1e18)]).astype(dtype)
    wide = np.zeros((4, 4))
    wide[:3, :3] = W
    found = MarginProblem(with_constant, Y).class_scores(with_constant[:5], wide, 1.0)
    expected = MarginProblem(X.astype(dtype), Y).class_scores(X[:5].astype(dtype), W, 1.0)
    # Four features are added up in another order than three.
    rounding = 20 * np.finfo(dtype).eps
    np.testing.assert_allclose(found.distance, expected.distance, rtol=rounding)


@pytest.mark.parametrize(("dtype", "far"), [(np.float64, 1e200), (np.float32, 1e20)])
@pytest.mark.parametrize("sign", [1, -1])
def test_samples_whose_distances_would_overflow_are_refused(dtype, far, sign):
    problem = MarginProblem(X.astype(dtype), Y)
    with pytest.raises(ValueError, match="beyond them; distances would overflow"):
        problem.class_scores(np.full((1, 3), sign * far), W, 1.0)


def test_anchor_weights_of_an_inlier_problem_count():
    margin = MarginProblem(X, Y, form=LINEAR)
    D = RNG.uniform(0.1, 1, 30)
    D /= D.sum()
    given = InlierProblem(margin, Y, anchor_weight=D).evaluate(np.ones(3), 0.5)
    later = InlierProblem(margin, Y).with_anchor_weight(D).evaluate(np.ones(3), 0.5)
    even = InlierProblem(margin, Y).evaluate(np.ones(3), 0.5)
    assert given.cost == later.cost != even.cost
    np.testing.assert_array_equal(given.gradient, later.gradient)


def test_the_gradient_of_an_inlier_problem_is_that_of_central_differences():
    D = RNG.uniform(0.1, 1, 30)
    problem = InlierProblem(MarginProblem(X, Y, form=LINEAR), Y, anchor_weight=D / D.sum())
    w, step = np.array([0.5, 0.3, 0.2]), 1e-6
    numeric = [
        (problem.evaluate(w + e, 0.7).cost - problem.evaluate(w - e, 0.7).cost) / (2 * step)
        for e in step * np.eye(3)
    ]
    np.testing.assert_allclose(problem.evaluate(w, 0.7).gradient, numeric, rtol=1e-6)


def test_a_released_problem_predicts_and_trains_as_before():
    problem = MarginProblem(X, Y)
    before = problem.evaluate(W, 0.5), problem.class_scores(X[:3], W, 0.5)
    problem.release()
    np.testing.assert_array_equal(problem.class_scores(X[:3], W, 0.5).distance, before[1].distance)
    np.testing.assert_array_equal(problem.evaluate(W, 0.5).gradient, before[0].gradient)


def test_a_fitted_model_does_not_keep_the_boltzmann_factors_of_its_fit():
    model = ImmigrateClassifier().fit(X, Y)
    assert model.model_.references.problem()._passes._last_store is None
