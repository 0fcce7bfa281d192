"""Penalised fits are stationary: the gap, and the conditions element by element."""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_problem

from immigrate.core.cones import MATRIX_SETS, Approach, norm, oracle, unit
from immigrate.core.penalties import Penalised, PricedElements, PricedNorm
from immigrate.margin.problem import MarginProblem
from immigrate.solvers import Stop, spectral_descent


def drawn(seed):
    """A problem with something to find, its start, and a price of pairs."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, n=30, p=int(rng.integers(2, 6)))
    X = problem.X.copy()
    X[:, :2] += problem.y[:, None]
    p = X.shape[1]
    margin, start = MarginProblem(X, problem.y), np.eye(p) / np.sqrt(p)
    size = norm(margin.evaluate(start, 1.0).gradient)
    return margin, start, size * 10 ** rng.uniform(-2.5, -0.5)


def weight_set(kind, constraint, p, price):
    cone, is_pair = MATRIX_SETS[constraint], ~np.eye(p, dtype=bool)
    if kind == "l1":
        return Penalised(cone, PricedElements(price * is_pair, cone.elements))
    return Penalised(cone, PricedNorm(price, is_pair, cone.elements))


@pytest.mark.parametrize("constraint", ["psd", "nonnegative", "both"])
@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("seed", range(8))
def test_the_cost_falls_until_the_gap_closes(kind, constraint, seed):
    margin, start, price = drawn(seed)
    weights = weight_set(kind, constraint, len(start), price)
    found = spectral_descent(margin, start, 1.0, weights, max_iter=2000, tol=1e-6)
    assert found.stop is Stop.TOLERANCE
    assert -1e-12 <= found.gap <= 1e-6
    assert np.diff(found.objective_path).max(initial=0.0) <= 1e-13


@pytest.mark.parametrize("seed", range(20))
def test_the_kkt_conditions_hold_for_every_element(seed):
    """G_ab - price = mu W_ab where a weight is above 0, and G_ab <= price where it is 0."""
    margin, start, price = drawn(seed)
    weights = weight_set("l1", "nonnegative", len(start), price)
    found = spectral_descent(margin, start, 1.0, weights, max_iter=5000, tol=1e-10)
    assert found.stop is Stop.TOLERANCE
    W, prices = found.weights, weights.penalty.price
    G = -margin.evaluate(W, 1.0).gradient
    mu = np.vdot(G - prices, W)
    small = 1e-4 * norm(G)
    np.testing.assert_allclose((G - prices)[W > 0], (mu * W)[W > 0], atol=small)
    assert ((G - prices)[W == 0]).max(initial=-np.inf) <= small


def test_a_pass_that_is_known_is_not_made_again():
    margin, start, price = drawn(0)
    strong = weight_set("l1", "nonnegative", len(start), price)
    weak = weight_set("l1", "nonnegative", len(start), price / 2)
    options = {"max_iter": 100, "tol": 1e-4}
    first = spectral_descent(margin, start, 1.0, strong, **options)
    step = {"first_step": first.next_step}
    known = spectral_descent(
        margin, first.weights, 1.0, weak, known=first.last_pass, **step, **options
    )
    again = spectral_descent(margin, first.weights, 1.0, weak, **step, **options)
    np.testing.assert_array_equal(known.weights, again.weights)
    assert known.objective_path == again.objective_path
    assert known.n_passes == again.n_passes - 1
    assert norm(unit(known.weights) - known.weights) <= 1e-12


class Exact(Penalised):
    """The plain way: every question answered from nothing and to the end."""

    has_formula = True

    def approach(self, A, step, aim):
        return Approach(*self.best(A, step))


@pytest.mark.parametrize("constraint", ["psd", "both"])
@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("seed", range(4))
def test_approached_steps_end_where_exact_ones_do(kind, constraint, seed):
    margin, start, price = drawn(seed)
    weights = weight_set(kind, constraint, len(start), price)
    plain = Exact(weights.cone, weights.penalty)
    options = {"max_iter": 2000, "tol": 1e-7}
    fast = spectral_descent(margin, start, 1.0, weights, **options)
    slow = spectral_descent(margin, start, 1.0, plain, **options)
    assert slow.stop is fast.stop is Stop.TOLERANCE
    assert fast.objective_path[-1] == pytest.approx(slow.objective_path[-1], rel=1e-6)
    assert oracle(fast.weights, fast.last_pass.gradient, plain).gap <= 1e-7 + 1e-12
    assert np.linalg.eigvalsh(fast.weights).min() >= -1e-12


@pytest.mark.parametrize("constraint", ["psd", "both"])
def test_a_multiplier_of_a_neighbour_is_a_start_and_no_more(constraint):
    margin, start, price = drawn(1)
    strong, weak = (weight_set("l1", constraint, len(start), price / k) for k in (1, 2))
    options = {"max_iter": 2000, "tol": 1e-7}
    first = spectral_descent(margin, start, 1.0, strong, **options)
    for multiplier in (None, first.multiplier, -first.multiplier):
        found = spectral_descent(
            margin,
            first.weights,
            1.0,
            weak,
            known=first.last_pass,
            multiplier=multiplier,
            **options,
        )
        assert found.stop is Stop.TOLERANCE
        gradient = margin.evaluate(found.weights, 1.0).gradient
        assert oracle(found.weights, gradient, weak).gap <= 1e-7 + 1e-12
