"""Rounds of boosting: on which task, how a learner is trained, and who votes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from immigrate.arrays import Array
from immigrate.core.cones import WeightSet
from immigrate.estimators._path import fit_at
from immigrate.estimators._penalty import Penalty, Prune
from immigrate.estimators._task import Task
from immigrate.margin.model import chosen_encoding
from immigrate.margin.references import References
from immigrate.problems import MarginProblem
from immigrate.progress import warn_user
from immigrate.solvers import Solution
from immigrate.solvers.boosting import Learner, Trainer


def chosen_task(tasks: Sequence[Task], penalty: Penalty | None) -> Task:
    """Of two ways to encode levels, the one that leave-one-out chooses for a single model."""
    if len(tasks) == 1:
        return tasks[0]
    # At the automatic width, because the rounds have none yet, and on the first sample.
    fits = [fit_at(replace(task, samples=None), "auto", penalty, "energy") for task in tasks]
    return tasks[chosen_encoding([model for model, _ in fits])]


def first_anchor_weight(references: References) -> Array:
    """The anchor weights D that boosting starts from."""
    if references.anchor_weight is not None:
        return references.anchor_weight
    weight = np.full(len(references.codes), 1 / len(references.anchor_codes))
    # Who is no anchor is never right or wrong, and has no weight.
    return weight if references.is_anchor is None else weight * references.is_anchor


def trainer(
    task: Task, penalty: Penalty | None, weight_sets: dict[float, WeightSet], *, is_warm: bool
) -> Trainer:
    """What trains one learner, from where the round before ended if `is_warm`.

    `weight_sets` is where weights live and what they cost, by sigma; others are added to it.
    """

    def train(problem: MarginProblem, sigma: float, last: Solution | None) -> Solution:
        start, step = task.start, np.inf
        # Only the anchor weights have changed since the last round: its end is near the new one.
        # Pruned weights may lie outside of the set, and nothing starts from there.
        if is_warm and last is not None and not isinstance(penalty, Prune):
            start, step = last.weights, last.next_step
        if sigma not in weight_sets:
            weight_sets[sigma], _ = task.priced(sigma, penalty)
        solver = task.options.solver
        solution = solver.solution(problem, start, sigma, weight_sets[sigma], first_step=step)
        return replace(task, problem=problem).kept(solution, sigma, penalty)

    return train


def voters(rounds: Sequence[Learner]) -> list[Learner]:
    """The learners that vote; where all are useless, the one with the smallest error alone."""
    kept = [learner for learner in rounds if learner.vote > 0]
    if kept:
        return kept
    warn_user(
        f"All {len(rounds)} learners were discarded (errors of 0, or no better than "
        "chance); the one with the smallest error stands alone. Try variant='samme'.",
        UserWarning,
    )
    best = min(rounds, key=lambda learner: learner.error)
    return [Learner(best.sigma, best.weights, best.error, vote=1.0)]
