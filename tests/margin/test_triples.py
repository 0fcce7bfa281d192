"""Weights of matrices and triples together, by their conditions and by many trials."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.cones import FREE, MATRIX_SETS, norm, oracle, unit
from immigrate.core.penalties import Penalised, PricedElements
from immigrate.margin.triples import WithTriples

P = 3
CONSTRAINTS = ("psd", "nonnegative", "both")
any_constraint = pytest.mark.parametrize("constraint", CONSTRAINTS)
strengths = pytest.mark.parametrize("strength", [0.0, 0.3])


def drawn(seed, n_triples=4):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((P, P))
    return np.concatenate([(A + A.T).ravel(), rng.standard_normal(n_triples)])


def members(weight_set, near, n=200):
    """Points of the set about one of them."""
    rng = np.random.default_rng(1)
    for _ in range(n):
        noise = rng.standard_normal((P, P))
        step = np.concatenate([(noise + noise.T).ravel(), rng.standard_normal(len(near) - P * P)])
        moved = near + 10 ** rng.uniform(-4, 0) * step
        matrix = weight_set.matrices.prox(moved[: P * P].reshape(P, P), 0.0)
        yield np.concatenate([matrix.ravel(), np.maximum(moved[P * P :], 0)])


@any_constraint
@strengths
@pytest.mark.parametrize("step", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_no_member_is_better_than_the_proximal_point(constraint, strength, step, seed):
    weight_set, A = WithTriples(MATRIX_SETS[constraint], P, strength), drawn(seed)

    def value(V):
        return np.sum((V - A) ** 2) / 2 + step * strength * V[P * P :].sum()

    point = weight_set.prox(A, step)
    assert point[P * P :].min() >= 0
    for V in members(weight_set, point):
        assert value(V) >= value(point) - 1e-9


@any_constraint
@strengths
def test_the_answer_is_the_proximal_point(constraint, strength):
    weight_set, A = WithTriples(MATRIX_SETS[constraint], P, strength), drawn(4)
    np.testing.assert_array_equal(weight_set.best(A, 0.7).weights, weight_set.prox(A, 0.7))
    most = weight_set.best(A, 0.7).most
    # A splitting gives a bound beside the point, and they agree where it went to its end.
    assert most == pytest.approx(norm(weight_set.prox(A, 0.7))) if constraint == "both" else True
    assert (most is None) == (constraint != "both")


@strengths
def test_the_value_is_that_of_both_parts(strength):
    priced = Penalised(MATRIX_SETS["psd"], PricedElements(np.full((P, P), 2.0), FREE))
    matrix, of_triples = np.diag([1.0, -2.0, 0.5]), np.array([1.0, 0.0, 3.0, 0.25])
    W = np.concatenate([matrix.ravel(), of_triples])
    found = WithTriples(priced, P, strength).value(W)
    assert found == pytest.approx(2.0 * 3.5 + strength * 4.25)
    plain = WithTriples(MATRIX_SETS["psd"], P, strength).value(W)
    assert plain == pytest.approx(strength * 4.25)


@pytest.mark.parametrize("price", [0.1, 0.4, 100.0])
@pytest.mark.parametrize("strength", [0.0, 0.3, 100.0])
@pytest.mark.parametrize("constraint", ["psd", "nonnegative"])
def test_the_bound_is_attained_and_no_member_is_above_it(constraint, price, strength):
    """With a penalised matrix the set says how much <A, V> - value(V) can be at norm 1."""
    cone = MATRIX_SETS[constraint]
    penalty = PricedElements(np.full((P, P), price), cone.elements)
    weight_set = WithTriples(Penalised(cone, penalty), P, strength)
    A, step = drawn(5), 0.8

    def gain(V):
        return np.vdot(A, V) - step * weight_set.value(V)

    point, most = weight_set.best(A, step)
    assert most == pytest.approx(norm(point), abs=1e-9)
    if norm(point) > 0:
        assert gain(weight_set.scaled(point)) == pytest.approx(most, abs=1e-9)
    for V in members(weight_set, point):
        assert gain(unit(V)) <= most + 1e-9


@any_constraint
def test_scaled_weights_have_norm_one_together(constraint):
    W = WithTriples(MATRIX_SETS[constraint], P).scaled(np.abs(drawn(6)) * 7)
    assert norm(W) == pytest.approx(1, rel=1e-14)
    np.testing.assert_allclose(W, np.abs(drawn(6)) / norm(drawn(6)), rtol=1e-14)


def test_without_a_strength_triples_cost_nothing():
    W = np.abs(drawn(7))
    assert WithTriples(MATRIX_SETS["psd"], P).value(W) == 0
    found = WithTriples(MATRIX_SETS["nonnegative"], P).prox(W, 5.0)
    np.testing.assert_array_equal(found, W)


@pytest.mark.parametrize("name", MATRIX_SETS)
def test_what_holds_of_the_matrices_holds_of_both(name):
    weight_set = WithTriples(MATRIX_SETS[name], P)
    assert weight_set.is_projection == MATRIX_SETS[name].is_projection
    assert weight_set.can_warm_start == MATRIX_SETS[name].can_warm_start


def test_a_strength_above_every_slope_leaves_a_matrix():
    gradient = -drawn(8)
    found = oracle(unit(np.abs(drawn(9))), gradient, WithTriples(MATRIX_SETS["psd"], P, 10.0))
    assert not found.weights[P * P :].any()
    plain = oracle(np.eye(P), gradient[: P * P].reshape(P, P), MATRIX_SETS["psd"])
    np.testing.assert_allclose(found.weights[: P * P], plain.weights.ravel(), atol=1e-12)
