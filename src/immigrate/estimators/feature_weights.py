"""The weights of IM4E, one per feature: for its classifier, as a screen, and as a start."""

from __future__ import annotations

from immigrate.core.cones import VECTOR_SETS, Cone
from immigrate.problems import MarginProblem
from immigrate.solvers import Solution, Solver, even_start

DEFAULT_SIGMA = 0.125


def vector_set(solver: Solver) -> Cone:
    """Where the weights of features live."""
    # Scaled to sum 1, the step is not the best of its set, and descent along it ends at a
    # few features (docs/deviations.md): for solvers that do not ask for a projection.
    return VECTOR_SETS["sphere" if solver.needs_projection else "sum"]


def feature_weights(
    problem: MarginProblem, solver: Solver, sigma: float = DEFAULT_SIGMA
) -> Solution:
    """What IM4E finds for a problem with a linear form."""
    start = even_start(solver, problem.n_features)
    return solver.solution(problem, start, sigma, vector_set(solver))
