from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from problems import Problem, plain, problems, random_problem

from immigrate.core.couplings import soft_coupling
from immigrate.core.objective import anchor_cost


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
    at = plain(problem).margin(W, sigma)
    assert at.cost == pytest.approx(total, rel=1e-9, abs=1e-9 * (1 + sigma))


def test_repeated_rows_are_hits_at_distance_zero():
    problem = random_problem(0, n=10)
    X, y = np.vstack([problem.X, problem.X]), np.tile(problem.y, 2)
    at = plain(Problem(X, y, problem.W, 1e-6, np.full(20, 1 / 20))).margin(problem.W, 1e-6)
    own = at.scores.distance[np.arange(20), y]
    np.testing.assert_allclose(own, 0, atol=1e-12)
