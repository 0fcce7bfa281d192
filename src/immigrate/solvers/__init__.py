"""Problem and weight set in, weights out. Knows nothing of tables, labels or classifiers.

==============  ================================================================
``descent``     spectral projected gradient: a cost that never rises
``full_steps``  Algorithm 2 of the paper
``boosting``    Algorithm 3: a vote of solutions
==============  ================================================================

This file says what a solver is, what it needs, and what it returns.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning

from immigrate.arrays import Array
from immigrate.checks import check_count, check_not_negative, check_option, check_sample_size
from immigrate.core.cones import WeightSet
from immigrate.kernels import ClassScores, MarginPass
from immigrate.progress import print_line, warn_user

__all__ = [
    "SOLVERS",
    "Descent",
    "FullSteps",
    "OnStep",
    "Problem",
    "Solution",
    "Solver",
    "Stop",
    "even_start",
    "full_steps",
    "print_step",
    "resolved_solver",
    "spectral_descent",
    "warn_unless_converged",
]

# Called with the number of steps so far, the cost and the relative gap.
OnStep = Callable[[int, float, float], None]
INITS = ("auto", "identity", "random", "im4e")


class Problem(Protocol):
    """What a solver minimises."""

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`; no gradient above a limit."""
        ...

    def cost_rounding(self, sigma: float) -> float:
        """Size of the rounding error of a cost."""
        ...

    def with_anchor_weight(self, anchor_weight: Array) -> Self:
        """The same samples with other anchor weights, as boosting needs them every round."""
        ...


class Stop(Enum):
    """Why a solver stopped."""

    TOLERANCE = "the stopping tolerance was met"
    MAX_ITER = "the limit on iterations was reached"
    STALLED = "no step lowers the cost any further in floating point"
    NO_DIRECTION = "no admissible direction improves the margin"


@dataclass(frozen=True)
class Solution:
    """Weights found, and how.

    Attributes
    ----------
    weights : ndarray
    objective_path : tuple of float
        The cost at the start and after each step.
    gap : float
        Relative Frank-Wolfe gap at `weights`: 0 at a stationary point.
    n_passes : int
        Sweeps over the pairs, refused trial points included.
    stop : Stop
    scores : ClassScores
        Leave-one-out scores of the training samples at `weights`.
    next_step : float
        Length of the step that would come next, for a fit that goes on from here.
    last_pass : MarginPass or None
        What the pass over the pairs said at `weights`, for a fit that goes on with another
        penalty.
    multiplier : ndarray or None
        What certifies the gap, for the same.
    """

    weights: Array
    objective_path: tuple[float, ...]
    gap: float
    n_passes: int
    stop: Stop
    scores: ClassScores
    next_step: float = float("inf")
    last_pass: MarginPass | None = None
    multiplier: Array | None = None

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return len(self.objective_path) - 1

    @property
    def converged(self) -> bool:
        """Whether the stopping tolerance was met."""
        return self.stop is Stop.TOLERANCE


# scikit-learn's base is for get_params, set_params, clone and print; a solver has no fit.
class Solver(BaseEstimator, metaclass=ABCMeta):
    """From a problem and a start to weights.

    A subclass has the parameters `init`, `max_iter` and `tol`, says what it needs by the three
    class attributes, and implements `solution`.

    Attributes
    ----------
    needs_feasible_start : bool
        Whether it has to start at a point of the weight set.
    needs_projection : bool
        Whether the weight set has to be one with a proper projection.
    can_warm_start : bool
        Whether it gains from starting near a solution.
    n_anchors, n_references : None, "auto", int or float
        How many samples of a large table it looks at. None is all; a subclass may make
        parameters of them.
    """

    init: Any
    max_iter: int
    tol: float
    n_anchors: Any = None
    n_references: Any = None
    needs_feasible_start: ClassVar[bool]
    needs_projection: ClassVar[bool]
    can_warm_start: ClassVar[bool]

    @abstractmethod
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
        """The weights found from `start`.

        A first step of good length, what a pass at `start` would say, and what certified the
        gap of a neighbour, are taken where they are of use.
        """

    def with_limits(self, **limits: float) -> Self:
        """The same solver with another `max_iter` or `tol`."""
        other: Self = clone(self).set_params(**limits)
        return other

    def checked(self) -> Self:
        """The solver itself, if its parameters make sense."""
        check_count("max_iter", self.max_iter)
        check_not_negative("tol", self.tol)
        check_sample_size("n_anchors", self.n_anchors)
        check_sample_size("n_references", self.n_references)
        # A matrix is checked later, when the number of features is known.
        if isinstance(self.init, str):
            check_option("init", self.init, INITS)
        return self

    def check_fits(self, weight_set: WeightSet, name: str) -> None:
        """Refuse a weight set that lacks what this solver needs."""
        if self.needs_projection and not weight_set.is_projection:
            raise ValueError(
                f"{type(self).__name__} needs a projection and constraint={name!r} is none, so "
                "descent cannot be guaranteed; use it with the paper's full steps, or take "
                "constraint='both'."
            )


def resolved_solver(solver: str | Solver, **limits: Any) -> Solver:
    """The solver that a name stands for, with these limits; a solver stays what it is."""
    if isinstance(solver, Solver):
        return solver.checked()
    return SOLVERS[check_option("solver", solver, SOLVERS)](**limits)


def even_start(solver: Solver, n_features: int) -> Array:
    """Even weights that sum to 1, where a method with a weight vector starts."""
    if not isinstance(solver.init, str) or solver.init != "auto":
        raise ValueError(
            f"A weight vector starts from even weights, got init={solver.init!r}; use init='auto'."
        )
    return np.full(n_features, 1 / n_features)


def warn_unless_converged(solution: Solution, solver: Solver) -> None:
    """Say so where a solver did not reach its tolerance, and what to do about it."""
    if solution.converged:
        return
    if solution.stop is Stop.NO_DIRECTION:
        message = (
            "No admissible direction improves the margin: the weights are where they were "
            "before. Check that the features are not constant and that they carry "
            "information about the classes, or lower the strength of the penalty if there is one."
        )
    else:
        gap = "" if np.isnan(solution.gap) else f" (relative gap {solution.gap:.2g})"
        advice = "." if solver.needs_projection else ", or use solver='monotone'."
        message = (
            f"Stopped after {solution.n_iter} steps because {solution.stop.value}{gap}. "
            f"Raise max_iter or tol of the solver{advice}"
        )
    warn_user(message, ConvergenceWarning)


def print_step(n_iter: int, cost: float, gap: float) -> None:
    """Progress of a solver."""
    print_line(f"step {n_iter:3d}   cost {cost: .6e}   relative gap {gap:.1e}")


# Below what they are made of.
from immigrate.solvers.descent import Descent, spectral_descent  # noqa: E402
from immigrate.solvers.full_steps import FullSteps, full_steps  # noqa: E402

SOLVERS: dict[str, type[Solver]] = {"monotone": Descent, "paper": FullSteps}
