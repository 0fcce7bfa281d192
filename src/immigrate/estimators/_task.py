"""What a solver is given: a table in one encoding, where the weights start and where they live."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from immigrate.arrays import Array
from immigrate.core.cones import Cone, WeightSet
from immigrate.core.triples import WithTriples
from immigrate.estimators._options import FitOptions
from immigrate.estimators._penalty import Penalty
from immigrate.kernels import MarginPass
from immigrate.kernels.threads import n_threads
from immigrate.margin.references import References
from immigrate.problems import MarginProblem
from immigrate.solvers import OnStep, Solution

if TYPE_CHECKING:
    from immigrate.estimators._growth import Samples


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that options and table decide before the first step.

    Attributes
    ----------
    options : FitOptions
    all_references : References
        All samples of the table, as references of new ones.
    references : References
        Those that the solver looks at.
    problem : MarginProblem
        Their cost and gradient, over the features that passed the screen.
    start : ndarray
        Where the weights start.
    weight_set : Cone or WithTriples
        Where they live, without a price on any.
    samples : Samples or None
        The growing samples that the solver looks at; None where it looks at all.
    stage : int
        Which of them this is.
    """

    options: FitOptions
    all_references: References
    references: References
    problem: MarginProblem
    start: Array
    weight_set: Cone | WithTriples
    samples: Samples | None = None
    stage: int = 0

    @property
    def is_sampled(self) -> bool:
        """Whether the solver looks at a sample of the table."""
        return self.samples is not None

    @property
    def is_warm(self) -> bool:
        """Whether fits along a path of sigma may start where the one before ended."""
        return self.options.solver.can_warm_start and self.weight_set.can_warm_start

    def priced(
        self, sigma: float, penalty: Penalty | None, at_start: MarginPass | None = None
    ) -> tuple[WeightSet, MarginPass | None]:
        """Where weights live and what they cost at this sigma, and the pass at the start.

        The pass is taken where there are prices, which are in units of its gradient, unless it
        is known.
        """
        if not self.options.has_price(penalty):
            return self.weight_set, at_start
        if at_start is None:
            at_start = self.problem.evaluate(self.start, sigma)
        assert at_start.gradient is not None
        owner = self.references.encoding.owner
        return self.options.priced(self.weight_set, penalty, owner, at_start.gradient), at_start

    def solution(
        self,
        sigma: float,
        weight_set: WeightSet,
        *,
        at_start: MarginPass | None = None,
        begin: Solution | None = None,
        on_step: OnStep | None = None,
    ) -> Solution:
        """The weights at one sigma, from the start or from where another fit has ended."""
        return self.options.solver.solution(
            self.problem,
            self.start if begin is None else begin.weights,
            sigma,
            weight_set,
            first_step=np.inf if begin is None else begin.next_step,
            known=at_start if begin is None else None,
            on_step=on_step,
        )

    def kept(self, solution: Solution, sigma: float, penalty: Penalty | None) -> Solution:
        """The solution with the weights that the penalty leaves, and their scores."""
        weights = solution.weights if penalty is None else penalty.kept(solution.weights)
        if weights is solution.weights:
            return solution
        # Pruned weights score differently, which takes one more sweep.
        scores = self.problem.loo_scores(weights, sigma)
        return replace(solution, weights=weights, scores=scores)


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution, the task that it solves, and its standard error against the whole table.

    Attributes
    ----------
    task : Task
    solution : Solution
    sigma : float
    error : ndarray
        Standard error of each weight; 0 where all samples were looked at.
    """

    task: Task
    solution: Solution
    sigma: float
    error: Array


def task_on(
    options: FitOptions, all_references: References, samples: Samples | None = None, stage: int = 0
) -> Task:
    """The task on all samples of a table, or on one of the growing samples of it."""
    references = all_references if samples is None else samples.references(all_references, stage)
    weight_set = options.make_weight_set(all_references.form)
    return Task(
        options,
        all_references,
        references,
        # Laid out once: the solver and later every prediction use the same layout.
        references.problem().with_threads(n_threads(options.n_jobs)),
        options.make_start(references, weight_set),
        weight_set,
        samples,
        stage,
    )
