from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import plain, problems, random_problem

from immigrate.core.cones import MATRIX_SETS, NONNEGATIVE, Cone, unit
from immigrate.kernels import MarginPass
from immigrate.margin.problem import MarginProblem
from immigrate.solvers import (
    Descent,
    FullSteps,
    Stop,
    even_start,
    full_steps,
    resolved_solver,
    spectral_descent,
)

TOL = 1e-3


class Sparse(Cone):
    """Non-negative weights that cost `strength` times their sum: a penalty as a weight set."""

    strength = 0.02

    def prox(self, W, step):
        return np.maximum(W - step * self.strength, 0.0)

    def value(self, W):
        return self.strength * float(np.abs(W).sum())


SPARSE = Sparse(NONNEGATIVE)
cones = st.sampled_from(["psd", "nonnegative", "both"])


def solve(problem, cone="psd", tol=TOL, **options):
    start = unit(MATRIX_SETS[cone].prox(problem.W, 0.0))
    margin = MarginProblem(problem.X, problem.y, anchor_weight=problem.anchor_weight)
    return spectral_descent(
        margin, start, problem.sigma, MATRIX_SETS[cone], max_iter=100, tol=tol, **options
    )


@settings(max_examples=200)
@given(problems(max_n=20, max_p=4), cones)
def test_cost_never_rises_and_the_gap_certifies_convergence(problem, cone):
    solution = solve(problem, cone)
    path = np.array(solution.objective_path)
    # The logarithms in the cost come multiplied by sigma: so does their rounding.
    assert np.diff(path).max(initial=0) <= 1e-13 * problem.sigma
    if solution.converged:
        assert solution.gap <= TOL
    if solution.stop is not Stop.NO_DIRECTION:
        assert solution.gap >= -1e-9
    assert np.linalg.norm(solution.weights) == pytest.approx(1)


@settings(max_examples=50)
@given(problems(max_n=20, max_p=4), cones, st.randoms(use_true_random=False))
def test_no_point_of_the_cone_near_a_solution_is_lower_to_first_order(problem, cone, random):
    """The certificate read directly: <Sigma, V - W> >= -gap |P| for random V of the cone."""
    solution = solve(problem, cone, tol=1e-6)
    if not solution.converged:
        return
    rng = np.random.default_rng(random.randrange(2**32))
    gradient = plain(problem).margin(solution.weights, problem.sigma).gradient
    for _ in range(20):
        noise = rng.standard_normal(gradient.shape)
        V = MATRIX_SETS[cone].prox(noise + noise.T, 0.0)
        if np.any(V):
            drop = np.vdot(gradient, solution.weights - unit(V))
            assert drop <= 1e-5 * np.linalg.norm(gradient)


@settings(max_examples=50)
@given(problems(max_n=20, max_p=4), st.randoms(use_true_random=False))
def test_a_penalty_is_one_more_weight_set(problem, random):
    """The penalised cost never rises, and no point near the end is lower to first order."""
    margin = MarginProblem(problem.X, problem.y, anchor_weight=problem.anchor_weight)
    solution = spectral_descent(
        margin, unit(problem.W), problem.sigma, SPARSE, max_iter=100, tol=1e-6
    )
    path, W = np.array(solution.objective_path), solution.weights
    assert np.diff(path).max(initial=0) <= 1e-13 * max(problem.sigma, 1)
    at = margin.evaluate(W, problem.sigma)
    assert path[-1] == pytest.approx(at.cost + SPARSE.value(W), rel=1e-12)
    if not solution.converged:
        return
    rng = np.random.default_rng(random.randrange(2**32))
    here = np.vdot(at.gradient, W) + SPARSE.value(W)
    for _ in range(20):
        V = rng.uniform(size=W.shape) * (rng.uniform(size=W.shape) < 0.5)
        V = V + V.T
        if V.any():
            V = unit(V)
            there = np.vdot(at.gradient, V) + SPARSE.value(V)
            assert here - there <= 1e-5 * np.linalg.norm(at.gradient)


def test_first_step_is_the_papers():
    problem = random_problem(3, n=40, p=5, sigma=4.0)
    first = full_steps(
        MarginProblem(problem.X, problem.y), problem.W, 4.0, MATRIX_SETS["psd"], max_iter=1, tol=0
    )
    by_descent = spectral_descent(
        MarginProblem(problem.X, problem.y), problem.W, 4.0, MATRIX_SETS["psd"], max_iter=1, tol=0
    )
    assert by_descent.n_passes == 2
    np.testing.assert_array_equal(by_descent.weights, first.weights)


def test_full_steps_stop_when_the_cost_settles():
    problem = random_problem(0, n=40, sigma=10.0)
    solution = full_steps(
        MarginProblem(problem.X, problem.y),
        problem.W,
        10.0,
        MATRIX_SETS["psd"],
        max_iter=100,
        tol=1e-8,
    )
    assert solution.stop is Stop.TOLERANCE
    path = solution.objective_path
    assert abs(path[-1] - path[-2]) < 1e-8 <= abs(path[-2] - path[-3])


@pytest.mark.parametrize("solver", [full_steps, spectral_descent])
def test_no_direction_keeps_the_start(solver):
    X, y = np.zeros((6, 3)), np.arange(6) % 2
    start = np.eye(3) / np.sqrt(3)
    solution = solver(MarginProblem(X, y), start, 1.0, MATRIX_SETS["psd"], max_iter=5, tol=1e-3)
    assert solution.stop is Stop.NO_DIRECTION
    np.testing.assert_array_equal(solution.weights, start)


@settings(max_examples=30)
@given(problems(max_n=16, max_p=3), st.integers(-250, 250))
def test_units_of_the_table_do_not_matter(problem, exponent):
    """Scaling X by s and sigma by s^2 leaves the weights and scales the cost by s^2, exactly."""
    one, other = problem, np.ldexp(problem.X, exponent)
    sigma = float(np.ldexp(problem.sigma, 2 * exponent))
    a = MarginProblem(one.X, one.y).evaluate(one.W, one.sigma)
    b = MarginProblem(other, one.y).evaluate(one.W, sigma)
    assert np.ldexp(a.cost, 2 * exponent) == b.cost
    np.testing.assert_array_equal(np.ldexp(a.gradient, 2 * exponent), b.gradient)


def test_a_refused_point_has_no_gradient():
    problem = random_problem(1)
    margin = MarginProblem(problem.X, problem.y)
    cost = margin.evaluate(problem.W, 1.0).cost
    assert margin.evaluate(problem.W, 1.0, reject_above=cost - 1e-9).gradient is None
    assert margin.evaluate(problem.W, 1.0, reject_above=cost + 1e-9).gradient is not None


def test_overflowing_features_are_refused():
    X = np.array([[0.0], [1e200], [0.0], [2e200]])
    with pytest.raises(ValueError, match="Scale the features"):
        MarginProblem(X, np.array([0, 0, 1, 1]))


class Bowl:
    """|W - target|^2 / 2 as a problem: everything about it is known."""

    def __init__(self, target):
        self.target, self.visited = target, []

    def evaluate(self, W, sigma, *, reject_above=np.inf):
        self.visited.append(W)
        cost = float(np.sum((W - self.target) ** 2)) / 2
        return MarginPass(cost, W - self.target if cost <= reject_above else None, None)

    def cost_rounding(self, sigma):
        return 1e-15


def on_the_sphere(x, y):
    return np.array([[x, 0.0], [0.0, y]]) / np.hypot(x, y)


def test_steps_are_counted_and_told_one_by_one():
    problem = random_problem(3, n=40, p=5, sigma=1.0)
    for solver in (full_steps, spectral_descent):
        for most in (1, 2, 5):
            told = []
            solution = solver(
                MarginProblem(problem.X, problem.y),
                unit(MATRIX_SETS["psd"].prox(problem.W, 0.0)),
                1.0,
                MATRIX_SETS["psd"],
                max_iter=most,
                tol=0.0,
                on_step=lambda *step, told=told: told.append(step),
            )
            assert solution.stop is Stop.MAX_ITER
            assert solution.n_iter == most
            assert not solution.converged
            assert [step for step, _, _ in told] == list(range(most + 1))
            assert tuple(cost for _, cost, _ in told) == solution.objective_path
            assert told[-1][2] == solution.gap


def test_full_steps_may_end_after_the_first():
    problem = random_problem(3, n=40, p=5, sigma=4.0)
    margin = MarginProblem(problem.X, problem.y)
    solution = full_steps(margin, problem.W, 4.0, MATRIX_SETS["psd"], max_iter=9, tol=1e9)
    assert (solution.stop, solution.n_iter, solution.n_passes) == (Stop.TOLERANCE, 1, 2)


def test_a_gap_of_the_tolerance_is_small_enough():
    """At the minimum of a cost that is flat to rounding the gap is 0, and 0 is asked for."""
    target = on_the_sphere(1.0, 1.0)
    solution = spectral_descent(
        Bowl(2 * target), target, 1.0, MATRIX_SETS["nonnegative"], max_iter=5, tol=1e-15
    )
    assert (solution.stop, solution.n_iter, solution.n_passes) == (Stop.TOLERANCE, 0, 1)


def test_refused_points_come_nearer_by_factors_of_four():
    """Where all costs rise: the paper's point, a step as long as the weights, then cuts."""
    start = on_the_sphere(1.0, 1.0)

    class Hilltop(Bowl):
        def evaluate(self, W, sigma, *, reject_above=np.inf):
            self.visited.append(W)
            is_start = np.array_equal(W, start)
            gradient = np.diag([-1e-3, 1e-3])
            return MarginPass(0.0 if is_start else 1.0, gradient if is_start else None, None)

    hill = Hilltop(start)
    solution = spectral_descent(hill, start, 1.0, MATRIX_SETS["nonnegative"], max_iter=5, tol=1e-6)
    assert solution.stop is Stop.STALLED
    np.testing.assert_array_equal(solution.weights, start)
    assert solution.n_passes == len(hill.visited) == 22
    np.testing.assert_allclose(hill.visited[1], on_the_sphere(1.0, 0.0), atol=1e-12)
    for cut, point in enumerate(hill.visited[2:]):
        # A step as long as the weights: <d, d> = 1 with d along the gradient of size sqrt(2).
        moved = start + 4.0**-cut * np.diag([1.0, -1.0]) / np.sqrt(2)
        np.testing.assert_allclose(point, unit(np.maximum(moved, 0.0)), atol=1e-12)


def test_the_second_step_has_the_length_of_barzilai_and_borwein():
    """A bowl has curvature 1 everywhere, so its second step is 1 long: to the target itself."""
    target, start = on_the_sphere(1.0, 0.3), on_the_sphere(0.2, 1.0)
    bowl = Bowl(target)
    solution = spectral_descent(
        bowl, start, 1.0, MATRIX_SETS["nonnegative"], max_iter=5, tol=1e-12, first_step=0.3
    )
    moved = start - 0.3 * (start - target)
    np.testing.assert_allclose(bowl.visited[1], unit(moved), atol=1e-12)
    np.testing.assert_allclose(bowl.visited[2], target, atol=1e-12)
    assert solution.next_step == pytest.approx(1.0)


def test_the_solver_says_what_it_needs():
    with pytest.raises(ValueError, match="needs a projection and constraint='clip' is none"):
        Descent().check_fits(MATRIX_SETS["clip"], "clip")
    FullSteps().check_fits(MATRIX_SETS["clip"], "clip")
    Descent().check_fits(MATRIX_SETS["psd"], "psd")


def test_solvers_go_by_their_names_and_limits():
    assert isinstance(resolved_solver("monotone"), Descent)
    found = resolved_solver("paper", max_iter=7)
    assert isinstance(found, FullSteps)
    assert found.max_iter == 7
    # As their docstrings promise.
    assert (Descent().max_iter, Descent().tol) == (100, 1e-3)
    assert (FullSteps().max_iter, FullSteps().tol) == (10, 1e-3)
    own = Descent(max_iter=3)
    assert resolved_solver(own, max_iter=9) is own
    assert own.with_limits(tol=0.5).get_params() == own.get_params() | {"tol": 0.5}
    np.testing.assert_array_equal(even_start(own, 4), np.full(4, 0.25))
    with pytest.raises(ValueError, match="starts from even weights"):
        even_start(Descent(init="random"), 4)
    with pytest.raises(ValueError, match="starts from even weights"):
        even_start(Descent(init=np.eye(2)), 2)


@pytest.mark.parametrize(
    "bad",
    [
        {"init": "zeros"},
        {"max_iter": 0},
        {"max_iter": 1.5},
        {"tol": -1e-9},
        {"n_anchors": 0},
        {"n_anchors": "most"},
        {"n_references": 2.5},
    ],
)
def test_parameters_that_make_no_sense_are_refused(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        Descent(**bad).checked()


def test_parameters_that_make_sense_are_taken():
    for good in ({"init": "im4e"}, {"init": np.eye(2)}, {"tol": 0.0}, {"n_anchors": 0.5}):
        solver = Descent(**good)
        assert solver.checked() is solver
