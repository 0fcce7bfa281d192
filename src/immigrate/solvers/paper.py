"""Algorithm 2 of the paper: full steps to the closed-form answer of Theorem 3.1."""

from __future__ import annotations

from collections.abc import Callable

from immigrate.core.cones import WeightSet
from immigrate.problems.margin import MarginProblem
from immigrate.solvers.gap import Oracle, oracle
from immigrate.solvers.result import Solution, Stop
from immigrate.typing import Array


def full_steps(
    problem: MarginProblem,
    start: Array,
    sigma: float,
    weight_set: WeightSet,
    *,
    max_iter: int,
    tol: float,
    on_step: Callable[[int, float, float], None] | None = None,
) -> Solution:
    """Iterate couplings and weights until the cost changes by less than `tol`.

    In the Frank-Wolfe view this always takes the full step, so the cost may rise.
    """
    W, path = start, []
    while True:
        current = problem.evaluate(W, sigma)
        assert current.gradient is not None
        best = oracle(W, current.gradient, weight_set)
        path.append(current.cost)
        if on_step:
            on_step(len(path) - 1, current.cost, best.gap)
        stop = _reason_to_stop(path, best, tol, max_iter)
        if stop:
            return Solution(W, tuple(path), best.gap, len(path), stop, current.scores)
        assert best.weights is not None
        W = best.weights


def _reason_to_stop(path: list[float], best: Oracle, tol: float, max_iter: int) -> Stop | None:
    if best.weights is None:
        return Stop.NO_DIRECTION
    if len(path) > 1 and abs(path[-1] - path[-2]) < tol:
        return Stop.TOLERANCE
    return Stop.MAX_ITER if len(path) > max_iter else None
