"""Algorithm 2 of the paper: full steps to the closed-form answer of Theorem 3.1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from immigrate.arrays import Array
from immigrate.core.cones import Oracle, WeightSet, oracle
from immigrate.kernels import MarginPass
from immigrate.kernels.threads import blas_threads_for
from immigrate.progress import report_progress
from immigrate.solvers import OnStep, Problem, Solution, Solver, Stop


def full_steps(
    problem: Problem,
    start: Array,
    sigma: float,
    weight_set: WeightSet,
    *,
    max_iter: int,
    tol: float,
    on_step: OnStep | None = None,
) -> Solution:
    """Iterate couplings and weights until the cost changes by less than `tol`.

    In the Frank-Wolfe view this always takes the full step, so the cost may rise.
    """
    W, path = start, []
    # One sweep more than steps: the last gives cost and scores at the weights that come back.
    while True:
        current = problem.evaluate(W, sigma)
        assert current.gradient is not None
        best = oracle(W, current.gradient, weight_set)
        path.append(current.cost + weight_set.value(W))
        report_progress(f"{len(path) - 1} of at most {max_iter} steps")
        if on_step:
            on_step(len(path) - 1, path[-1], best.gap)
        stop = _reason_to_stop(path, best, tol, max_iter)
        if stop:
            return Solution(W, tuple(path), best.gap, len(path), stop, current.scores)
        assert best.weights is not None
        W = best.weights


def _reason_to_stop(path: list[float], best: Oracle, tol: float, max_iter: int) -> Stop | None:
    # First, because without a direction there are no weights to go on with.
    if not best.has_direction:
        return Stop.NO_DIRECTION
    if len(path) > 1 and abs(path[-1] - path[-2]) < tol:
        return Stop.TOLERANCE
    return Stop.MAX_ITER if len(path) > max_iter else None


class FullSteps(Solver):
    """The steps of the paper, Algorithm 2: always the whole way to the answer of Theorem 3.1.

    The cost may rise. The R package takes the same steps.

    Parameters
    ----------
    init : {"auto", "identity", "random", "im4e"} or array-like of shape \
(n_features, n_features), default="auto"
        Where W starts, as in `Descent`.
    max_iter : int, default=10
        Limit on steps.
    tol : float, default=1e-3
        Stops when the cost changes by less.

    See Also
    --------
    Descent : Steps that never raise the cost.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import FullSteps
    >>> from immigrate.datasets import make_monk1
    >>> ImmigrateClassifier(4.0, solver=FullSteps(max_iter=50)).fit(*make_monk1()).converged_
    True
    """

    needs_feasible_start = False
    needs_projection = False
    can_warm_start = False

    def __init__(
        self, *, init: str | ArrayLike = "auto", max_iter: int = 10, tol: float = 1e-3
    ) -> None:
        self.init = init
        self.max_iter = max_iter
        self.tol = tol

    def solution(
        self,
        problem: Problem,
        start: Array,
        sigma: float,
        weight_set: WeightSet,
        *,
        first_step: float = np.inf,
        known: MarginPass | None = None,
        multiplier: Array | None = None,
        on_step: OnStep | None = None,
    ) -> Solution:
        """The weights found from `start`; steps of any other length are not taken."""
        with blas_threads_for(len(start)):
            return full_steps(
                problem,
                start,
                sigma,
                weight_set,
                max_iter=self.max_iter,
                tol=self.tol,
                on_step=on_step,
            )
