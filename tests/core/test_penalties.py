from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.doubly_nonnegative import nearest_doubly_nonnegative

from immigrate.arrays import Array
from immigrate.core.cones import (
    GOOD_SHARE,
    MATRIX_SETS,
    NONNEGATIVE,
    Aim,
    gain,
    norm,
    oracle,
    oracle_within,
    unit,
)
from immigrate.core.penalties import Penalised, PricedElements, PricedNorm, pruned
from immigrate.core.splitting import psd_prox, raised_to_psd

CONSTRAINTS = ("psd", "nonnegative", "both")


def penalised(kind: str, constraint: str, p: int, price: float) -> Penalised:
    cone, is_pair = MATRIX_SETS[constraint], ~np.eye(p, dtype=bool)
    if kind == "l2":
        return Penalised(cone, PricedNorm(price, is_pair, cone.elements))
    prices = np.full((p, p), price) if kind == "l1 of all" else price * is_pair
    return Penalised(cone, PricedElements(prices, cone.elements))


def drawn(seed: int, p: int) -> Array:
    """A matrix as it comes in a fit: a difference of two sums of products."""
    rng = np.random.default_rng(seed)
    d = np.abs(rng.standard_normal((3 * p, p)))
    return unit((d.T * rng.choice([-1.0, 1.0], 3 * p)) @ d)


cases = pytest.mark.parametrize(
    ("kind", "constraint"),
    [(kind, constraint) for kind in ("l1", "l1 of all", "l2") for constraint in CONSTRAINTS],
)


@cases
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), p=st.integers(1, 8), price=st.floats(0.001, 1))
def test_the_proximal_point_is_the_best_of_its_cone(kind, constraint, seed, p, price):
    """|V - A|^2 / 2 + h(V) equals its dual bound (|A|^2 - most^2) / 2, so that no V is better."""
    weight_set, A = penalised(kind, constraint, p, price), drawn(seed, p)
    point, most = weight_set.best(A, 1.0)
    primal = np.sum((point - A) ** 2) / 2 + weight_set.value(point)
    assert primal == pytest.approx((np.sum(A**2) - most**2) / 2, abs=1e-10)
    # The bound is what the scaled point comes to.
    if norm(point) > 1e-6:
        V = unit(point)
        assert np.vdot(A, V) - weight_set.value(V) == pytest.approx(most, abs=1e-9)
    if MATRIX_SETS[constraint].is_psd:
        assert np.linalg.eigvalsh(point).min() >= -1e-10
    if not MATRIX_SETS[constraint].elements.is_signed:
        assert point.min() >= 0
    np.testing.assert_allclose(point, point.T, atol=1e-12)


@cases
@given(exponent=st.integers(-200, 200))
@settings(max_examples=20)
def test_the_unit_does_not_matter(kind, constraint, exponent):
    weight_set, A = penalised(kind, constraint, 5, 0.05), drawn(1, 5)
    scaled = weight_set.prox(np.ldexp(A, exponent), float(np.ldexp(1.0, exponent)))
    np.testing.assert_allclose(np.ldexp(scaled, -exponent), weight_set.prox(A, 1.0), atol=1e-10)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_a_high_price_leaves_a_diagonal(kind, constraint):
    A = drawn(2, 6)
    point = penalised(kind, constraint, 6, 100.0).prox(A, 1.0)
    np.testing.assert_allclose(point, np.diag(np.maximum(A.diagonal(), 0)), atol=1e-12)
    assert np.count_nonzero(point - np.diag(point.diagonal())) == 0


@cases
def test_no_price_is_the_projection(kind, constraint):
    A = drawn(3, 6)
    found = penalised(kind, constraint, 6, 0.0).prox(A, 1.0)
    np.testing.assert_allclose(found, MATRIX_SETS[constraint].prox(A, 1.0), atol=1e-11)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_elements_are_moved_by_their_price_or_held_at_zero(constraint):
    """Coordinate by coordinate, at a point where no condition on the spectrum is active."""
    A = np.array([[2.0, 0.3, -0.3], [0.3, 2.0, 0.05], [-0.3, 0.05, 2.0]])
    point = penalised("l1", constraint, 3, 0.1).prox(A, 1.0)
    opposite = -0.2 if constraint == "psd" else 0.0
    expected = [[2.0, 0.2, opposite], [0.2, 2.0, 0.0], [opposite, 0.0, 2.0]]
    np.testing.assert_allclose(point, expected, atol=1e-12)
    assert point[1, 2] == 0


@cases
def test_a_point_that_is_its_own_answer_has_no_gap(kind, constraint):
    """And any other point has one."""
    weight_set, gradient = penalised(kind, constraint, 5, 0.05), -drawn(4, 5)
    best = oracle(unit(np.eye(5)), gradient, weight_set).weights
    assert oracle(best, gradient, weight_set).gap == pytest.approx(0, abs=1e-9)
    assert oracle(unit(np.eye(5)), gradient, weight_set).gap > 1e-3


def free(p):
    """Elements that cost nothing and are not negative."""
    return PricedElements(np.zeros((p, p)), NONNEGATIVE)


@pytest.mark.parametrize("seed", range(5))
def test_a_splitting_without_a_price_is_the_projection_onto_both_cones(seed):
    A = drawn(seed, 8)
    np.testing.assert_allclose(
        psd_prox(A, free(8)).point, nearest_doubly_nonnegative(A), atol=1e-9
    )


def test_a_splitting_says_how_far_it_got(monkeypatch):
    """Ended early, its bound still holds and its point is off by no more than it says."""
    import immigrate.core.splitting as splitting

    A = drawn(5, 12)
    exact = psd_prox(A, free(12))
    assert exact.apart <= 1e-11
    monkeypatch.setattr(splitting, "MOST_ROUNDS", 2)
    early = psd_prox(A, free(12))
    assert early.apart > 1e-6
    assert early.most >= exact.most - 1e-12


def test_nothing_is_left_of_nothing():
    assert not psd_prox(np.zeros((3, 3)), free(3)).point.any()


def neighbours(kind, constraint, seed, p=7):
    """A weight set, a matrix, and the multiplier of another matrix that is near it."""
    weight_set, A = penalised(kind, constraint, p, 0.05), drawn(seed, p)
    near = psd_prox(A + 0.01 * drawn(seed + 100, p), weight_set.penalty).multiplier
    return weight_set, A, near


splittings = pytest.mark.parametrize(
    ("kind", "constraint"),
    [(kind, constraint) for kind in ("l1", "l1 of all", "l2") for constraint in ("psd", "both")],
)


@splittings
@pytest.mark.parametrize("seed", range(5))
def test_a_warm_multiplier_ends_at_the_same_proximal_point(kind, constraint, seed):
    weight_set, A, near = neighbours(kind, constraint, seed)
    cold = psd_prox(A, weight_set.penalty)
    for start in (near, 100 * near, -near, cold.multiplier):
        warm = psd_prox(A, weight_set.penalty, start=start)
        np.testing.assert_allclose(warm.point, cold.point, rtol=0, atol=1e-9)
        assert warm.most == pytest.approx(cold.most, abs=1e-10)


@splittings
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0, 10))
def test_any_multiplier_bounds_the_value(kind, constraint, seed, size):
    """Ended at once, from anywhere, a splitting still says no less than what can be reached."""
    weight_set, A = penalised(kind, constraint, 6, 0.05), drawn(seed, 6)
    start = size * drawn(seed + 1, 6)
    early = psd_prox(A, weight_set.penalty, start=start, accepted=lambda most, point: point)
    assert early.most >= psd_prox(A, weight_set.penalty).most - 1e-10


@splittings
@pytest.mark.parametrize("seed", range(5))
def test_an_approach_is_a_point_of_the_cone_with_the_zeros_of_the_penalty(kind, constraint, seed):
    weight_set, A, near = neighbours(kind, constraint, seed)
    rough = psd_prox(A, weight_set.penalty, start=near, accepted=lambda most, point: point)
    found = weight_set.approach(A, 1.0, Aim(near, here=-np.inf))
    assert np.linalg.eigvalsh(found.weights).min() >= -1e-15
    is_pair = ~np.eye(len(A), dtype=bool)
    np.testing.assert_array_equal(found.weights[is_pair], rough.point[is_pair])
    if constraint == "both":
        assert found.weights.min() >= 0


def test_rows_of_zeros_stay_when_a_matrix_is_raised():
    A = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(raised_to_psd(A), [[2, 2, 0], [2, 2, 0], [0, 0, 0]], atol=1e-14)
    np.testing.assert_array_equal(raised_to_psd(np.eye(2)), np.eye(2))


@splittings
@pytest.mark.parametrize("tol", [1e-8, 1e-3, 0.1, 0.5])
def test_an_approach_cannot_feign_a_gap(kind, constraint, tol):
    """It is never below the exact one, save above 1, where W loses: there a bound shrinks it."""
    for seed in range(10):
        weight_set, A, near = neighbours(kind, constraint, seed, p=5)
        best = oracle(unit(np.eye(5)), -A, weight_set).weights
        for W in (unit(np.eye(5)), best, unit(best + 0.01 * np.eye(5))):
            exact = oracle(W, -A, weight_set).gap
            for multiplier in (None, near):
                found = oracle_within(W, -A, weight_set, tol, multiplier)
                assert found.gap >= min(exact, 1) - 1e-10
                if found.gap > tol + 1e-10:
                    assert found.gap <= exact / GOOD_SHARE + 1e-10
                    here, there, most = (
                        gain(V, A, 1.0, weight_set) for V in (W, found.weights, best)
                    )
                    assert there - here >= GOOD_SHARE * (most - here) - 1e-10


W = np.array([[0.9, 0.1, -0.2], [0.1, 0.3, 0.0], [-0.2, 0.0, 0.05]])


@pytest.mark.parametrize("below", [0.0, 0.15, 1 / 3, 0.9])
def test_pruned_weights_have_unit_norm_and_no_small_entry(below):
    result = pruned(W, below)
    assert np.linalg.norm(result) == pytest.approx(1)
    is_kept = np.abs(W) >= below
    np.testing.assert_array_equal(result != 0, is_kept & (W != 0))
    np.testing.assert_allclose(result[is_kept] * np.linalg.norm(W[is_kept]), W[is_kept])


def test_pruning_everything_keeps_the_largest_weight():
    result = pruned(W, below=2.0)
    assert result[0, 0] == 1
    assert np.count_nonzero(result) == 1
