"""A path of strengths of one penalty, from no pairs to all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from immigrate.checks import check_count, check_option, check_share
from immigrate.estimators._penalty import (
    Penalty,
    PricedPenalty,
    resolved_penalties,
    resolved_penalty,
)
from immigrate.estimators._task import Task
from immigrate.kernels.threads import blas_threads_for

# The grid begins about where the first pair enters: a few steps tell that.
LARGEST_TOLERANCE = 1e-2
# A strength at which no table has kept a pair; the gradient at such a fit says which would do.
NO_PAIRS = 1e6


class PenaltyPath(BaseEstimator):
    """Strengths of a penalty to choose from: from the one that leaves no pair down to no penalty.

    The largest strength is the smallest one that leaves no pair at any sigma; a fit without pairs
    finds it. Each of the others is smaller by the same factor. The last choice is no penalty.

    Parameters
    ----------
    penalty : {"l1", "l2"}, `L1` or `L2`, default="l1"
        The penalty whose strength varies; the strength that it has itself is not read.
    n_strengths : int, default=20
        Number of strengths, beside no penalty.
    smallest : float, default=0.05
        The smallest strength, as a share of the largest.

    See Also
    --------
    ImmigrateClassifierCV : Takes this as `penalties`.
    PenaltyPathDisplay : Draws along which strengths pairs enter.

    Examples
    --------
    >>> from immigrate import ImmigrateClassifier, ImmigrateClassifierCV, PenaltyPath
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(random_state=0)
    >>> model = ImmigrateClassifierCV(
    ...     ImmigrateClassifier(constraint="nonnegative"),
    ...     penalties=PenaltyPath(n_strengths=5),
    ...     one_standard_error=True,
    ... )
    >>> len(model.fit(X, y).strengths_)
    6
    """

    def __init__(
        self, penalty: Any = "l1", *, n_strengths: int = 20, smallest: float = 0.05
    ) -> None:
        self.penalty = penalty
        self.n_strengths = n_strengths
        self.smallest = smallest

    def check(self, constraint: str) -> None:
        """Refuse parameters that make no sense."""
        check_count("n_strengths", self.n_strengths)
        check_share("smallest", self.smallest)
        self._with_strength(NO_PAIRS).check(constraint)

    def on(self, task: Task, sigmas: Sequence[float]) -> list[Penalty | None]:
        """Penalties of falling strength for the table of a task, and none at the end."""
        with blas_threads_for(len(task.start)):
            largest = max(self._entering(task, sigmas))
        if largest == 0:
            return [None]
        # A little above, so that no pair enters at the first when they are rounded.
        strengths = largest * 1.01 * np.geomspace(1, self.smallest, self.n_strengths)
        rounded = [float(f"{strength:.4g}") for strength in strengths]
        return [*(self._with_strength(strength) for strength in rounded), None]

    def _entering(self, task: Task, sigmas: Sequence[float]) -> Iterator[float]:
        """For each sigma the strength at which the first pair enters a fit without pairs."""
        penalty, owner = self._with_strength(NO_PAIRS), task.references.encoding.owner
        solver = task.solver.with_limits(tol=LARGEST_TOLERANCE)
        for sigma in sigmas:
            weight_set = task.weight_set_at(sigma, penalty)
            known = task.known_at(task.start, sigma)
            found = solver.solution(task.problem, task.start, sigma, weight_set, known=known)
            at = found.last_pass or task.problem.evaluate(found.weights, sigma)
            assert at.gradient is not None
            # The path begins where this fit has ended.
            task.fits_without_pairs[sigma] = replace(found, last_pass=at)
            unit, price = (
                task.unit_at(sigma),
                penalty.entering_price(-at.gradient, task.cone, owner),
            )
            # Where nothing tells the classes apart there is no gradient, and no pair ever enters.
            yield price / unit if unit > 0 else 0.0

    def _with_strength(self, strength: float) -> PricedPenalty:
        penalty = resolved_penalty(self.penalty, "psd")
        if not isinstance(penalty, PricedPenalty):
            raise ValueError(
                f"A PenaltyPath is of 'l1', 'l2', an L1 or an L2; got {self.penalty!r}, which has "
                "no strength. Offer pruning as a choice of its own: penalties=(None, 'prune')."
            )
        # Cloned once for each strength it takes as long as a few of the fits.
        other = copy(penalty)
        other.strength = strength
        return other


def checked_penalties(penalties: Any, constraint: str) -> PenaltyPath | Sequence[Penalty | None]:
    """What there is to choose from: a path, or penalties each of which is named once."""
    if isinstance(penalties, str):
        check_option("penalties", penalties, ("path",))
        penalties = PenaltyPath()
    if not isinstance(penalties, PenaltyPath):
        return resolved_penalties(penalties, constraint)
    penalties.check(constraint)
    return penalties


def penalties_on(
    task: Task, penalties: PenaltyPath | Sequence[Penalty | None], sigmas: Sequence[float]
) -> Sequence[Penalty | None]:
    """The penalties themselves, or what a path comes to on the table of a task."""
    return penalties.on(task, sigmas) if isinstance(penalties, PenaltyPath) else penalties
