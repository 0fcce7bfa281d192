"""Every cone with every penalty and every solver: feasible, stationary, and as brute force has it.

Two cones that the library does not have are planted among its own: what is composed of elements
and a condition on the spectrum has to work without a line of its own.
"""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_problem

from immigrate import ImmigrateClassifier
from immigrate.core.cones import MATRIX_SETS, Cone, Elements, oracle, unit
from immigrate.core.penalties import Penalised, PricedElements, PricedNorm
from immigrate.margin.problem import MarginProblem
from immigrate.options import L1, L2, Descent, FullSteps


def near_diagonal(p):
    """Elements on the diagonal and beside it."""
    return np.abs(np.subtract.outer(np.arange(p), np.arange(p))) <= 1


def diagonal(p):
    """Elements of single features."""
    return np.eye(p, dtype=bool)


PLANTED = {
    "diagonal": Cone(Elements(is_signed=False, support=diagonal)),
    "banded": Cone(Elements(support=near_diagonal), is_psd=True),
    "banded both": Cone(Elements(is_signed=False, support=near_diagonal), is_psd=True),
}
CONES = {name: cone for name, cone in MATRIX_SETS.items() if cone.is_projection} | PLANTED
SIGMA = 30.0  # wide, so that the paper's full steps do not overshoot
any_cone = pytest.mark.parametrize("name", CONES)
any_penalty = pytest.mark.parametrize("kind", ["none", "l1", "l2"])


def weight_set(name, kind, p, price):
    cone, is_pair = CONES[name], ~np.eye(p, dtype=bool)
    if kind == "none":
        return cone
    if kind == "l1":
        return Penalised(cone, PricedElements(price * is_pair, cone.elements))
    return Penalised(cone, PricedNorm(price, is_pair, cone.elements))


def assert_feasible(W, cone):
    np.testing.assert_allclose(W, W.T, atol=1e-12)
    if not cone.elements.is_signed:
        assert W.min() >= 0
    if cone.elements.support is not None:
        assert not W[~cone.elements.support(len(W))].any()
    if cone.is_psd:
        assert np.linalg.eigvalsh(W).min() >= -1e-9


def brute_force(A, cone, kind, price, n_rounds=20_000):
    """The proximal point by Dykstra's algorithm: one condition after the other, many times."""
    is_pair = ~np.eye(len(A), dtype=bool)

    def priced(V):
        if kind == "l1":
            return np.where(is_pair, np.sign(V) * np.maximum(np.abs(V) - price, 0), V)
        size = np.linalg.norm(V[is_pair])
        shrunk = max(1 - price / size, 0) if kind == "l2" and size > 0 else 1
        return np.where(is_pair, shrunk * V, V)

    def spectral(V):
        values, vectors = np.linalg.eigh(V)
        return (vectors * np.maximum(values, 0)) @ vectors.T

    def allowed(V):
        V = V if cone.elements.is_signed else np.maximum(V, 0)
        return V if cone.elements.support is None else V * cone.elements.support(len(V))

    maps = [priced, allowed, *([spectral] if cone.is_psd else [])]
    V, corrections = A, [np.zeros_like(A) for _ in maps]
    for _ in range(n_rounds):
        before = V
        for k, nearest in enumerate(maps):
            moved = V + corrections[k]
            V = nearest(moved)
            corrections[k] = moved - V
        if np.abs(V - before).max() < 1e-14:
            break
    return V


@any_cone
@any_penalty
@pytest.mark.parametrize("seed", range(3))
def test_a_composition_is_what_brute_force_finds(name, kind, seed):
    A = np.random.default_rng(seed).standard_normal((3, 3))
    A = unit(A + A.T)
    found = weight_set(name, kind, 3, 0.1).prox(A, 1.0)
    assert_feasible(found, CONES[name])
    np.testing.assert_allclose(found, brute_force(A, CONES[name], kind, 0.1), atol=2e-7)


@any_cone
@any_penalty
@pytest.mark.parametrize("solver", [Descent(max_iter=2000, tol=1e-6), FullSteps(max_iter=300)])
def test_a_fit_ends_where_nothing_is_left_to_gain(name, kind, solver):
    problem = random_problem(1, n=40, p=4)
    X = problem.X.copy()
    X[:, :2] += problem.y[:, None]
    margin, start = MarginProblem(X, problem.y), np.eye(4) / 2
    price = 0.05 * np.linalg.norm(margin.evaluate(start, SIGMA).gradient)
    weights = weight_set(name, kind, 4, price)
    solver.check_fits(weights, name)
    found = solver.with_limits(tol=min(solver.tol, 1e-9)).solution(margin, start, SIGMA, weights)
    assert found.converged
    assert_feasible(found.weights, CONES[name])
    gradient = margin.evaluate(found.weights, SIGMA).gradient
    assert -1e-9 <= oracle(found.weights, gradient, weights).gap <= 1e-5


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("penalty", [None, L1(0.1), L2(0.1), "prune"])
def test_a_cone_is_added_in_one_place(monkeypatch, name, penalty):
    monkeypatch.setitem(MATRIX_SETS, name, PLANTED[name])
    problem = random_problem(2, n=60, p=5)
    model = ImmigrateClassifier(constraint=name, penalty=penalty).fit(problem.X, problem.y)
    assert_feasible(model.weight_matrix_, PLANTED[name])


def test_what_is_no_projection_takes_no_penalty():
    clip = MATRIX_SETS["clip"]
    with pytest.raises(ValueError, match="needs a projection"):
        Penalised(clip, PricedElements(np.zeros((2, 2)), clip.elements))
    with pytest.raises(ValueError, match="'psd', 'nonnegative' or 'both', or penalty='prune'"):
        L1(0.1).check("clip")
