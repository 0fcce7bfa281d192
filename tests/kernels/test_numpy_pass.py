from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from oracles.margin import anchor_cost, cubic_of_all
from problems import Problem, plain, problems, random_problem

from immigrate.core.couplings import soft_coupling
from immigrate.core.differences import ColumnDifferences
from immigrate.core.forms import LINEAR, QUADRATIC
from immigrate.kernels import Pairs, Pieces

ALL = cubic_of_all(3)


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


def test_only_samples_that_count_are_references():
    X, y = np.arange(10.0).reshape(5, 2), np.array([0, 1, 0, 1, 0])
    pieces = Pieces.of(X, y, count=np.array([1.0, 0, 2, 0.5, 0]), is_anchor=X[:, 0] > 3)
    np.testing.assert_array_equal(pieces.pairs.references, [0, 2, 3])
    np.testing.assert_array_equal(pieces.pairs.anchors, [2, 3, 4])


def test_nothing_is_expected_of_a_feature_that_no_reference_knows():
    X = np.array([[np.nan, 0.0], [1.0, 1.0], [5.0, 2.0]])
    d = ColumnDifferences.of(X, count=np.array([1.0, 0.0, 0.0]))
    samples = d.samples(X)
    np.testing.assert_array_equal(d(samples, samples)[0][0], 0.0)
    np.testing.assert_array_equal(d(samples, samples)[0][1:, 1:], [[0.0, 4.0], [4.0, 0.0]])


@pytest.mark.parametrize(("n_rows", "n_columns"), [(1, 1), (2, 3), (64, 512)])
def test_tiles_hold_every_pair_once(n_rows, n_columns):
    pairs = Pairs(np.array([3, 1, 4]), np.array([0, 2, 3, 5, 6]))
    met = [
        (row, column)
        for rows, columns in pairs.tiles(n_rows, n_columns)
        for row in rows.tolist()
        for column in columns.tolist()
    ]
    assert max(len(rows) for rows, _ in pairs.tiles(n_rows, n_columns)) <= n_rows
    assert sorted(met) == [(a, r) for a in (1, 3, 4) for r in (0, 2, 3, 5, 6)]


@pytest.mark.parametrize(("form", "shape"), [(LINEAR, 3), (QUADRATIC, (3, 3)), (ALL, 10)])
def test_differences_in_other_units_are_weights_in_other_units(form, shape):
    rng = np.random.default_rng(0)
    W, d = rng.uniform(size=shape), rng.uniform(size=(3, 4, 5))
    in_halves = form.distance(form.in_units(W, 1) if form is ALL else W, d)
    np.testing.assert_allclose(form.distance(W, 2 * d), 2**form.degree * in_halves)
