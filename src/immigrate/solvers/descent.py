"""Spectral projected gradient: the paper's step first, and a cost that never rises.

Each iterate is W+ = P_K(W - t Sigma), scaled onto the sphere. At t = infinity this is Theorem 3.1,
tried first; after a step, t is the Barzilai-Borwein length <dW, dW> / <dW, dSigma>, which
knows the curvature along the last step. A trial point with a higher cost is refused and t cut.
With a penalty in the weight set, P_K is its proximal map and the cost includes its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from immigrate.arrays import Array
from immigrate.core.cones import Aim, Oracle, WeightSet, gain, norm, oracle_within
from immigrate.kernels import MarginPass
from immigrate.kernels.threads import blas_threads_for
from immigrate.progress import report_progress
from immigrate.solvers import OnStep, Problem, Solution, Solver, Stop

# Each refused trial point costs a sweep, so cuts are deep: after 20 of them a step is about 1e-12
# times as long as the first one.
STEP_CUT = 4.0
MAX_CUTS = 20


@dataclass(frozen=True)
class Iterate:
    """A point, what the pass over the pairs said there, and the oracle's answer.

    The cost includes the penalty of the weight set, the gradient does not. The step is of the
    length of Barzilai and Borwein, from the iterate before.
    """

    weights: Array
    cost: float
    gradient: Array
    last_pass: MarginPass
    oracle: Oracle
    step: float

    @classmethod
    def of(
        cls,
        weights: Array,
        at: MarginPass,
        weight_set: WeightSet,
        tol: float,
        multiplier: Array | None,
        before: Iterate | None = None,
    ) -> Iterate:
        """From a pass that has a gradient, and a multiplier that may be about right."""
        gradient = at.gradient
        assert gradient is not None
        best = oracle_within(weights, gradient, weight_set, tol, multiplier)
        cost, step = at.cost + weight_set.value(weights), np.inf
        if before is not None:
            change = weights - before.weights
            curvature = float(np.vdot(change, gradient - before.gradient))
            # Where the cost curves downwards no length is known to be too long: the paper's step.
            step = float(np.vdot(change, change)) / curvature if curvature > 0 else np.inf
        return cls(weights, cost, gradient, at, best, step)


def spectral_descent(
    problem: Problem,
    start: Array,
    sigma: float,
    weight_set: WeightSet,
    *,
    max_iter: int,
    tol: float,
    first_step: float = np.inf,
    known: MarginPass | None = None,
    multiplier: Array | None = None,
    on_step: OnStep | None = None,
) -> Solution:
    """Descend from `start` until the relative Frank-Wolfe gap is at most `tol`.

    A start that is near a solution already does better with a `first_step` as long as the
    last of the fit before than with the paper's step, which forgets where it came from. If a fit
    with another penalty has ended there, what the pass said is `known`, and the `multiplier` of
    its gap is a good start for that of the first.
    """
    at = problem.evaluate(start, sigma) if known is None else known
    # Near a solution costs differ by their rounding only: a reason to stop, not to refuse.
    rounding = problem.cost_rounding(sigma)
    now = Iterate.of(start, at, weight_set, tol, multiplier)
    path, n_passes, step = [now.cost], int(known is None), first_step
    while True:
        report_progress(f"{len(path) - 1} of at most {max_iter} steps")
        if on_step:
            on_step(len(path) - 1, now.cost, now.oracle.gap)
        stop = _reason_to_stop(now.oracle, tol, n_left=max_iter + 1 - len(path))
        if stop:
            break
        for trial in _trials(now, step, weight_set):
            # The limit is on cost plus penalty; the pass knows the cost alone.
            most = now.cost + rounding - weight_set.value(trial.weights)
            at = problem.evaluate(trial.weights, sigma, reject_above=most)
            n_passes += 1
            if at.gradient is not None:
                break
        else:
            stop = Stop.STALLED
            break
        now = Iterate.of(trial.weights, at, weight_set, tol, trial.multiplier, before=now)
        step = now.step
        path.append(now.cost)
    last, best = now.last_pass, now.oracle
    found = now.weights, tuple(path), best.gap, n_passes, stop, last.scores
    return Solution(*found, step, last, best.multiplier)


def _reason_to_stop(best: Oracle, tol: float, n_left: int) -> Stop | None:
    if not best.has_direction:
        return Stop.NO_DIRECTION
    if best.gap <= tol:
        return Stop.TOLERANCE
    return Stop.MAX_ITER if n_left <= 0 else None


class Trial(NamedTuple):
    """A point to try, and the multiplier of the step that leads there."""

    weights: Array
    multiplier: Array | None


def _trials(now: Iterate, step: float, weight_set: WeightSet) -> Iterator[Trial]:
    """Points along the projected path, from the longest step to the shortest."""
    # A step as long as the weights themselves: of the right size whatever the units of the cost.
    cautious = norm(now.weights) / norm(now.gradient)
    if np.isinf(step) and now.oracle.weights is not None:
        # The paper's step. It is infinitely long and cannot be cut: the next trial is a cautious
        # one.
        yield Trial(now.oracle.weights, now.oracle.multiplier)
        step = cautious
    for _ in range(MAX_CUTS):
        A = now.weights - step * now.gradient
        # A point that gains anything over W keeps the promise of `core/penalties.py`.
        here = gain(now.weights, A, step, weight_set)
        found = weight_set.approach(A, step, Aim(now.oracle.multiplier, here))
        # The projection of a long step can be 0, which lies on no sphere.
        if norm(found.weights) > 0:
            yield Trial(weight_set.scaled(found.weights), found.multiplier)
        # A spectral step can be too long by many orders: do not cut it down bit by bit.
        step = min(step / STEP_CUT, cautious)


class Descent(Solver):
    """Steps that never raise the cost, to a stationary point: spectral projected gradient.

    The first step is the paper's; the lengths of the later ones follow the curvature of the
    cost [1]_, and a step that would raise it is cut.

    Parameters
    ----------
    init : {"auto", "identity", "random", "im4e"} or array-like of shape \
(n_features, n_features), default="auto"
        Where W starts. "auto" is the identity or, after a screen, a diagonal of the screen's
        weights. "random" draws a symmetric non-negative matrix, as in the paper. "im4e" is a
        diagonal of the weights of `IM4EClassifier`. Methods with a weight vector start from
        even weights and take "auto" only.
    max_iter : int, default=100
        Limit on steps.
    tol : float, default=1e-3
        Stops when the relative Frank-Wolfe gap is at most this.
    n_anchors, n_references : "auto", int, float or None, default="auto"
        How many samples have their margin counted, and how many they are compared with: a
        number, a share of the table, or None for all. "auto" is all where a step takes a few
        seconds at most; of a larger table it is a sample that is doubled, from 4,000 on, until
        the standard error of the weights is 0.1 or a step takes that long. Every class is drawn
        in proportion to its size, small ones more often (500 samples, or all that they have, as
        far as the sample has room), and weighed such that costs are those of the whole table on
        average (docs/measurements/scaling.md).

    See Also
    --------
    FullSteps : The steps of the paper.

    References
    ----------
    .. [1] E. G. Birgin, J. M. Martinez and M. Raydan, "Nonmonotone spectral projected gradient
       methods on convex sets", SIAM Journal on Optimization 10(4), 2000.
       :doi:`10.1137/S1052623497330963`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.options import Descent
    >>> from immigrate.datasets import make_monk1
    >>> model = ImmigrateClassifier(0.5, solver=Descent(tol=1e-6)).fit(*make_monk1())
    >>> bool(model.gap_ <= 1e-6)
    True
    """

    needs_feasible_start = True
    needs_projection = True
    can_warm_start = True

    def __init__(
        self,
        *,
        init: str | ArrayLike = "auto",
        max_iter: int = 100,
        tol: float = 1e-3,
        n_anchors: int | float | str | None = "auto",
        n_references: int | float | str | None = "auto",
    ) -> None:
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.n_anchors = n_anchors
        self.n_references = n_references

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
        """The weights found from `start`."""
        with blas_threads_for(len(start)):
            return spectral_descent(
                problem,
                start,
                sigma,
                weight_set,
                max_iter=self.max_iter,
                tol=self.tol,
                first_step=first_step,
                known=known,
                multiplier=multiplier,
                on_step=on_step,
            )
