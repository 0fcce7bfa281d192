"""Fits on samples that grow until the weights are precise enough, and how precise they are.

The standard error of the weights is that of a grouped jackknife. The sample is cut into K groups,
the fit goes on from its own solution in each of them, and

    error_ab^2 = (1 - m / n) mean_k (W_k,ab - W_ab)^2 / K

for m of n samples: the groups are K times smaller, so that their squared errors are K times
larger, and what m samples get wrong of the whole table vanishes at m = n. Differences are taken
from the solution itself and not from their mean, so that a systematic change with the size of the
sample counts too. Groups cost 1 / K of a step each, because a pass goes with the square of the
size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.cones import WeightSet, norm
from immigrate.estimators._penalty import Penalty
from immigrate.estimators._task import Task
from immigrate.kernels.threads import n_threads
from immigrate.progress import print_line
from immigrate.solvers import Solution
from immigrate.solvers.solver import OnStep

N_GROUPS = 5
# Norm of the error at which a sample is large enough: a cosine of .995 to the weights of all.
SMALL_ERROR = 0.1


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution, the task that it solves, and its standard error against the whole table.

    Attributes
    ----------
    task : Task
    solution : Solution
    error : ndarray
        Standard error of each weight; 0 where all samples were looked at.
    """

    task: Task
    solution: Solution
    error: Array


def grown_fit(
    task: Task,
    sigma: float,
    *,
    penalty: Penalty | None = None,
    start: Array | None = None,
    first_step: float = np.inf,
    on_step: OnStep | None = None,
    verbose: bool = False,
) -> Fit:
    """The weights at one sigma, on the sample of `task` and then on larger ones.

    It begins at `start`, by default where the task says, and with the paper's step unless a
    length is given.
    """
    weights = task.start if start is None else start
    while True:
        weight_set = task.weight_set_at(sigma, penalty)
        solution = task.solver.solution(
            task.problem,
            weights,
            sigma,
            weight_set,
            first_step=first_step,
            known=task.known_at(weights, sigma),
            on_step=on_step,
        )
        if not task.is_sampled:
            return Fit(task, solution, np.zeros_like(solution.weights))
        error = sampling_error(task, solution, sigma, weight_set)
        if verbose:
            print_line(
                f"{len(task.references.values):,} of {len(task.maker.data.values):,} samples   "
                f"standard error of the weights {norm(error):.3f}"
            )
        larger = task.grown() if norm(error) > SMALL_ERROR else None
        if larger is None:
            return Fit(task, solution, error)
        # What the passes over this sample have kept is of no use to the larger one.
        task.references.release()
        task, weights, first_step = larger, solution.weights, solution.next_step


def sampling_error(task: Task, solution: Solution, sigma: float, weight_set: WeightSet) -> Array:
    """Standard error of each weight, from the fits of groups of the sample."""
    references = task.references
    squares = np.zeros_like(solution.weights)
    for group in groups_of(references.codes, references.is_anchor):
        part = replace(
            references.rows(group),
            anchor_weight=_scaled(references.anchor_weight, group),
            is_anchor=None if references.is_anchor is None else references.is_anchor[group],
        )
        found = task.solver.solution(
            part.problem(n_threads(task.maker.n_jobs)),
            solution.weights,
            sigma,
            weight_set,
            first_step=solution.next_step,
        )
        squares += (found.weights - solution.weights) ** 2 / N_GROUPS
    # m / n of the formula above: a sample of the whole table has no error.
    share = len(references.values) / len(task.maker.data.values)
    error: Array = np.sqrt((1 - share) * squares / N_GROUPS)
    return error


def groups_of(codes: Codes, is_anchor: np.ndarray | None) -> list[Codes]:
    """Rows of N_GROUPS groups that hold the same share of every class, and of its anchors.

    Of a class too small to be cut, and of few anchors, all are in every group: a hit and a miss
    are needed in each.
    """
    parts = codes if is_anchor is None else 2 * codes + is_anchor
    groups: list[list[Codes]] = [[] for _ in range(N_GROUPS)]
    for part in np.unique(parts):
        own = np.flatnonzero(parts == part)
        for k, group in enumerate(groups):
            group.append(own if len(own) < 2 * N_GROUPS else own[k::N_GROUPS])
    return [np.sort(np.concatenate(group)) for group in groups]


def _scaled(anchor_weight: Array | None, group: Codes) -> Array | None:
    """Weights of a group, with sum 1; even where the whole group has none."""
    if anchor_weight is None or not anchor_weight[group].any():
        return None
    return anchor_weight[group] / anchor_weight[group].sum()
