"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from immigrate.kernels.results import ClassScores
from immigrate.typing import Array


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
    """

    weights: Array
    objective_path: tuple[float, ...]
    gap: float
    n_passes: int
    stop: Stop
    scores: ClassScores
    next_step: float = float("inf")

    @property
    def n_iter(self) -> int:
        """Number of steps taken."""
        return len(self.objective_path) - 1

    @property
    def converged(self) -> bool:
        """Whether the stopping tolerance was met."""
        return self.stop is Stop.TOLERANCE
