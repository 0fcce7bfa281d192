"""Fits along sigma and along the strength of a penalty, each from a neighbour that is solved.

    strength ->  strong        weaker        ...      weak
    sigma  large   A  ----------> B ------------------> C         at one sigma, every fit starts
           |       |                                              where the stronger penalty ended
           small   A' ---------> B' -----------------> C'         and needs no pass to begin with

Only the first fit of a sigma starts from the sigma before, and that only where it is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from immigrate.arrays import Array
from immigrate.estimators._penalty import Penalty
from immigrate.estimators._task import Task
from immigrate.progress import print_line
from immigrate.solvers import Solution, Solver

Solutions = dict[Penalty | None, Solution]


@dataclass(eq=False)
class Track:
    """The fits with penalties of one kind along a path of sigma.

    Attributes
    ----------
    task : Task
    solver : Solver
    penalties : sequence of Penalty or None
        Strongest first.
    verbose : bool
    """

    task: Task
    solver: Solver
    penalties: Sequence[Penalty | None]
    verbose: bool = False
    _first: tuple[float, Solution] | None = field(default=None, init=False)

    def solutions_at(self, sigma: float) -> Solutions:
        """The solutions at the next sigma, by penalty."""
        # Gradient and multiplier are there for the next fit only.
        return {
            penalty: replace(solution, last_pass=None, multiplier=None)
            for penalty, solution in self.along_strengths(sigma)
        }

    def along_strengths(self, sigma: float) -> Iterator[tuple[Penalty | None, Solution]]:
        """The same one by one, so that the caller can stop early."""
        last = None if self.penalties[0] is None else self.task.fits_without_pairs.get(sigma)
        for penalty in self.penalties:
            last = self._first_at(sigma) if last is None else self._weaker(sigma, penalty, last)
            self._say(sigma, penalty, last)
            yield penalty, last

    def _first_at(self, sigma: float) -> Solution:
        """The strongest penalty, from the sigma before where that is safe."""
        # An infinite step is the paper's: the first one, and that of every cold fit.
        start, step = self.task.start, np.inf
        if self.task.is_warm and self._first is not None:
            before, last = self._first
            # The curvature of the cost goes as 1 / sigma, and the step as its inverse.
            start, step = last.weights, last.next_step * sigma / before
        solution = self._solution(sigma, self.penalties[0], start, step)
        self._first = sigma, solution
        return solution

    def _weaker(self, sigma: float, penalty: Penalty | None, last: Solution) -> Solution:
        """The next weaker penalty, from the end of the one before where the solver gains by it."""
        if not self.solver.can_warm_start:
            return self._solution(sigma, penalty, self.task.start, np.inf)
        weight_set = self.task.weight_set_at(sigma, penalty)
        return self.solver.solution(
            self.task.problem,
            last.weights,
            sigma,
            weight_set,
            first_step=last.next_step,
            known=last.last_pass,
            multiplier=last.multiplier,
        )

    def _solution(
        self,
        sigma: float,
        penalty: Penalty | None,
        start: Array,
        step: float,
    ) -> Solution:
        weight_set = self.task.weight_set_at(sigma, penalty)
        known = self.task.known_at(start, sigma)
        return self.solver.solution(
            self.task.problem, start, sigma, weight_set, first_step=step, known=known
        )

    def _say(self, sigma: float, penalty: Penalty | None, solution: Solution) -> None:
        if self.verbose:
            name = "" if penalty is None else f"   {penalty}"
            cost = solution.objective_path[-1]
            print_line(f"sigma {sigma:.4g}{name}   steps {solution.n_iter}   cost {cost:.6e}")


def tracks_of(
    task: Task, solver: Solver, penalties: Sequence[Penalty | None], *, verbose: bool = False
) -> list[Track]:
    """One track for all penalties of a kind, and one for all that cost nothing during the fit."""
    kinds: dict[object, list[Penalty | None]] = {}
    for penalty in penalties:
        if penalty is None or not penalty.is_priced:
            # What is pruned afterwards is solved as without a penalty, and that once.
            kinds[None] = [None]
        else:
            kinds.setdefault(penalty.kind, []).append(penalty)
    return [Track(task, solver, sorted(group, key=_weakness), verbose) for group in kinds.values()]


def _weakness(penalty: Penalty | None) -> float:
    return 0.0 if penalty is None else -penalty.strength
