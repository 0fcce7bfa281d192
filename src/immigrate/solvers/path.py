"""Weights along a path of sigma."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from immigrate.core.cones import WeightSet
from immigrate.problems.margin import MarginProblem
from immigrate.solvers.result import Solution
from immigrate.typing import Array


def weight_path(
    solver: Any,
    problem: MarginProblem,
    start: Array,
    sigmas: Sequence[float],
    weight_set: WeightSet,
    *,
    is_warm: bool,
    **options: Any,
) -> Iterator[Solution]:
    """One solution for each sigma, in order.

    Parameters
    ----------
    is_warm : bool
        Whether each fit starts where the one before ended rather than at `start`. Neighbouring
        sigmas have neighbouring solutions, so this saves most of the sweeps.
    options
        Passed on to the solver.
    """
    for i, sigma in enumerate(sigmas):
        solution = solver(problem, start, sigma, weight_set, **options)
        yield solution
        if is_warm and i + 1 < len(sigmas):
            start = solution.weights
            # The curvature of the cost goes as 1 / sigma, and the step as its inverse.
            options["first_step"] = solution.next_step * sigmas[i + 1] / sigma
