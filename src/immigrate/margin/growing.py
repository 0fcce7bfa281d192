"""Fits on samples that grow until the weights are precise enough, and how precise they are.

A pass over all pairs costs n^2 p^2, but the weights it leads to hardly change beyond some
thousands of samples. So a large table is fitted on samples of it, each twice the one before:

    order         a random order of each class; a sample is the first so many of it
    anchors       those whose margin counts; every class weighs as much as in the whole table
    references    those they are compared with; each stands for as many of its class as it takes
                  to make up the whole table

Anchors and references are taken from the same order: square samples cost half as much as
rectangular ones, because a pair serves both its samples, and were as exact for the same number of
pairs (docs/measurements/scaling.md).

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
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.cones import WeightSet, norm
from immigrate.durations import MOST_STEP_SECONDS
from immigrate.kernels import pass_seconds
from immigrate.kernels.threads import n_threads
from immigrate.margin.encoding import References
from immigrate.margin.penalties import Penalty
from immigrate.margin.problem import Fit, Task
from immigrate.progress import print_line
from immigrate.solvers import OnStep, Solution, Solver

FIRST_SIZE = 4000
# Small classes are drawn at least so often: of 1 % among 4,000 samples 40 would say little.
FEWEST_OF_A_CLASS = 500
# Up to here shares of classes differ by rounding, and every reference counts once.
SAME_SHARE = 1.05
N_GROUPS = 5
# Norm of the error at which a sample is large enough: a cosine of .995 to the weights of all.
SMALL_ERROR = 0.1


class Size(NamedTuple):
    """Numbers of anchors and references."""

    n_anchors: int
    n_references: int


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of a table, and what they stand for.

    Attributes
    ----------
    rows : ndarray of shape (m,)
    is_anchor : ndarray of shape (m,) or None
        Whose margin counts; None is all of them.
    anchor_weight : ndarray of shape (m,) or None
        D of Eq. 10; None is even.
    count : ndarray of shape (m,) or None
        How many references each stands for, 0 for none; None is one each.
    """

    rows: Codes
    is_anchor: Mask | None
    anchor_weight: Array | None
    count: Array | None


def sample_sizes(solver: Solver, n_samples: int, n_weights: int) -> list[Size]:
    """Sizes of the samples that a fit goes through, the smallest first; empty for all samples.

    Examples
    --------
    >>> from immigrate.margin.growing import sample_sizes
    >>> from immigrate.solvers import Descent
    >>> sample_sizes(Descent(), 10_000, 20 * 20)
    []
    >>> [size.n_anchors for size in sample_sizes(Descent(), 1_000_000, 20 * 20)]
    [4000, 8000, 15491]
    >>> sample_sizes(Descent(n_anchors=500, n_references=0.01), 1_000_000, 20 * 20)
    [Size(n_anchors=500, n_references=10000)]
    """
    most_pairs = MOST_STEP_SECONDS / pass_seconds(1, n_weights)
    n_anchors = _as_count(solver.n_anchors, n_samples)
    n_references = _as_count(solver.n_references, n_samples)
    if n_anchors is None and n_references is None:
        return _doubled_sizes(n_samples, most_pairs)
    # What is left open fills the time of a step.
    if n_anchors is None:
        n_anchors = min(n_samples, max(2, int(most_pairs / (n_references or 1))))
    if n_references is None:
        n_references = min(n_samples, max(2, int(most_pairs / n_anchors)))
    is_all = n_anchors == n_references == n_samples
    return [] if is_all else [Size(n_anchors, n_references)]


def _as_count(size: int | float | str | None, n_samples: int) -> int | None:
    """A number of samples, or None where it is to be chosen."""
    if isinstance(size, str):
        return None
    if size is None:
        return n_samples
    return min(n_samples, size if isinstance(size, int) else max(2, round(size * n_samples)))


def _doubled_sizes(n_samples: int, most_pairs: float) -> list[Size]:
    """From FIRST_SIZE, doubled, to the size that a step has time for."""
    # n samples have n^2 / 2 pairs, each of which serves both.
    largest = max(FIRST_SIZE, int(np.sqrt(2 * most_pairs)))
    if n_samples <= largest:
        return []
    n_doublings = int(np.ceil(np.log2(largest / FIRST_SIZE)))
    sizes = [FIRST_SIZE * 2**k for k in range(n_doublings)]
    return [Size(size, size) for size in (*sizes, largest)]


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one table, each larger one holding the smaller ones.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Class of each row of the table.
    anchor_weight : ndarray of shape (n,) or None
        D of Eq. 10 over the whole table; None is even.
    order : list of ndarray
        Rows of each class in a random order.
    sizes : list of Size
        The smallest first.
    """

    codes: Codes
    anchor_weight: Array | None
    order: list[Codes]
    sizes: list[Size]

    @classmethod
    def of(
        cls, codes: Codes, anchor_weight: Array | None, sizes: list[Size], random_state: Any
    ) -> Samples:
        """Samples in an order that is drawn here."""
        random = check_random_state(random_state)
        n_classes = int(codes.max()) + 1
        order = [random.permutation(np.flatnonzero(codes == c)) for c in range(n_classes)]
        return cls(codes, anchor_weight, order, sizes)

    def references(self, all_references: References, stage: int) -> References:
        """One of the samples, as references."""
        sample = self.drawn(self.sizes[stage])
        # `rows` forgets weights, counts and anchors; those of the sample take their place.
        return replace(
            all_references.rows(sample.rows),
            anchor_weight=sample.anchor_weight,
            count=sample.count,
            is_anchor=sample.is_anchor,
        )

    def drawn(self, size: Size) -> Sample:
        """A sample of this size."""
        anchors, references = (self._per_class(n) for n in size)
        # Both are the first of one order: who is drawn for the smaller group is in the larger one
        # too.
        drawn = np.maximum(anchors, references)
        rows = np.sort(np.concatenate([r[:m] for r, m in zip(self.order, drawn)]))
        is_anchor, is_reference = self._first(anchors)[rows], self._first(references)[rows]
        return Sample(
            rows,
            None if is_anchor.all() else is_anchor,
            self._anchor_weight(rows, is_anchor, anchors),
            self._count(rows, is_reference, references),
        )

    @property
    def _sizes(self) -> Codes:
        return np.array([len(rows) for rows in self.order])

    def _per_class(self, n_drawn: int) -> Codes:
        """How many samples of each class: in proportion, but not too few of a small one."""
        sizes = self._sizes
        proportional = np.rint(n_drawn * sizes / sizes.sum()).astype(int)
        # Small classes may have half of the sample between them at most; two of each make a hit
        # possible.
        fewest = min(FEWEST_OF_A_CLASS, n_drawn // (2 * len(sizes)))
        return np.minimum(np.maximum(proportional, max(fewest, 2)), sizes)

    def _first(self, per_class: Codes) -> Mask:
        """Mask of the first so many of every class, over the table."""
        is_first = np.zeros(len(self.codes), dtype=bool)
        for rows, m in zip(self.order, per_class):
            is_first[rows[:m]] = True
        return is_first

    def _anchor_weight(self, rows: Codes, is_anchor: Mask, per_class: Codes) -> Array | None:
        """D such that every class weighs as much among the anchors as in the whole table."""
        if self.anchor_weight is None and _is_even(per_class / self._sizes):
            return None
        D = np.ones(len(self.codes)) if self.anchor_weight is None else self.anchor_weight
        drawn, codes = D[rows] * is_anchor, self.codes[rows]
        of_class = np.bincount(self.codes, weights=D)
        of_drawn = np.bincount(codes, weights=drawn, minlength=len(of_class))
        # A class of which only samples without weight were drawn has none to raise. Shares are at
        # most 1, where the factor by which a class is raised can overflow.
        share = drawn / np.where(of_drawn > 0, of_drawn, 1.0)[codes]
        weight = share * of_class[codes]
        if not weight.any():
            raise ValueError(
                "sample_weight is zero for all samples that were drawn from this large table. "
                "Leave out the rows without weight, or look at all: "
                "solver=Descent(n_anchors=None, n_references=None)."
            )
        return weight / weight.sum()

    def _count(self, rows: Codes, is_reference: Mask, per_class: Codes) -> Array | None:
        """How many samples of its class each reference stands for, the smallest number being 1."""
        if _is_even(per_class / self._sizes):
            return None if is_reference.all() else is_reference.astype(float)
        # Relative to the least: a factor common to all references changes no coupling.
        count = self._sizes / per_class
        return is_reference * (count / count.min())[self.codes[rows]]


def _is_even(shares: Array) -> bool:
    return bool(shares.max() <= SAME_SHARE * shares.min())


def grown_fit(
    task: Task,
    sigma: float,
    penalty: Penalty | None = None,
    *,
    begin: Solution | None = None,
    weight_set: WeightSet | None = None,
    on_step: OnStep | None = None,
) -> Fit:
    """The weights at one sigma, on the sample of `task` and then on larger ones.

    It goes on from `begin`, or starts where the task says. The weight set is that of the penalty
    on the sample of `task`, where it is known.
    """
    while True:
        at_start = None
        if weight_set is None:
            weight_set, at_start = task.priced(sigma, penalty)
        solution = task.options.solver.solution(
            task.problem,
            task.start if begin is None else begin.weights,
            sigma,
            weight_set,
            first_step=np.inf if begin is None else begin.next_step,
            known=at_start if begin is None else None,
            on_step=on_step,
        )
        error = sampling_error(task, solution, sigma, weight_set)
        if task.options.verbose:
            n_seen, n = len(task.references.values), len(task.all_references.values)
            print_line(
                f"{n_seen:,} of {n:,} samples   standard error of the weights {norm(error):.3f}"
            )
        samples, stage = task.samples, task.stage + 1
        if samples is None or stage == len(samples.sizes) or norm(error) <= SMALL_ERROR:
            return Fit(task, solution, sigma, error)
        # What the passes over this sample have kept is of no use to the larger one.
        task.problem.release()
        task = task.options.task(task.all_references, samples, stage)
        begin, weight_set = solution, None


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
        found = task.options.solver.solution(
            part.problem().with_threads(n_threads(task.options.n_jobs)),
            solution.weights,
            sigma,
            weight_set,
            first_step=solution.next_step,
        )
        squares += (found.weights - solution.weights) ** 2 / N_GROUPS
    # m / n of the formula above: a sample of the whole table has no error.
    share = len(references.values) / len(task.all_references.values)
    error: Array = np.sqrt((1 - share) * squares / N_GROUPS)
    return error


def groups_of(codes: Codes, is_anchor: np.ndarray | None) -> list[Codes]:
    """Rows of N_GROUPS groups that hold the same share of every class, and of its anchors.

    Of a class too small to be cut, and of few anchors, all are in every group: a hit and a miss
    are needed in each.
    """
    # Numbers are of one kind: a group may hold any of them.
    codes = codes if codes.dtype.kind == "i" else np.zeros(len(codes), dtype=np.intp)
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
