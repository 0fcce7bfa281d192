from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from problems import problems, random_problem

from immigrate.core.couplings import soft_coupling
from immigrate.core.objective import anchor_cost
from immigrate.kernels.reference import margin_pass


@pytest.mark.parametrize("form", ["matrix", "vector"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_gradient_against_central_differences(form, n_classes, seed):
    problem = random_problem(seed, n_classes=n_classes, form=form)
    at = margin_pass(problem.X, problem.y, problem.W, problem.sigma, problem.anchor_weight)
    step = 1e-5
    numeric = np.zeros_like(problem.W)
    for index in np.ndindex(problem.W.shape):
        ahead, behind = problem.W.copy(), problem.W.copy()
        ahead[index] += step
        behind[index] -= step
        rise = [
            margin_pass(problem.X, problem.y, W, problem.sigma, problem.anchor_weight).cost
            for W in (ahead, behind)
        ]
        numeric[index] = (rise[0] - rise[1]) / (2 * step)
    error = np.linalg.norm(at.gradient - numeric) / np.linalg.norm(at.gradient)
    assert error < 1e-6


@settings(max_examples=30)
@given(problems())
def test_cost_is_equation_10_written_out(problem):
    """Plain loops over anchors, hits and misses, with the couplings and entropies of the paper."""
    X, y, W, sigma = problem.X, problem.y, problem.W, problem.sigma
    total = 0.0
    for n in range(len(X)):
        q = [abs(X[n] - x) @ W @ abs(X[n] - x) for x in X]
        q_hit = np.array([q[j] for j in range(len(X)) if j != n and y[j] == y[n]])
        q_miss = np.array([q[j] for j in range(len(X)) if y[j] != y[n]])
        alpha, beta = soft_coupling(q_hit, sigma), soft_coupling(q_miss, sigma)
        total += problem.anchor_weight[n] * anchor_cost(q_hit, alpha, q_miss, beta, sigma)
    at = margin_pass(X, y, W, sigma, problem.anchor_weight)
    assert at.cost == pytest.approx(total, rel=1e-9, abs=1e-9 * (1 + sigma))


def test_repeated_rows_are_hits_at_distance_zero():
    problem = random_problem(0, n=10)
    X, y = np.vstack([problem.X, problem.X]), np.tile(problem.y, 2)
    at = margin_pass(X, y, problem.W, 1e-6, np.full(20, 1 / 20))
    own = at.scores.distance[np.arange(20), y]
    np.testing.assert_allclose(own, 0, atol=1e-12)
