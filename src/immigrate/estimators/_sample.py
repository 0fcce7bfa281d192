"""Which samples a fit looks at: all of them, or a stratified sample that grows.

A pass over all pairs costs n^2 p^2, but the weights it leads to hardly change beyond some
thousands of samples. So a large table is fitted on samples of it, each twice the one before:

    order         a random order of each class; a sample is the first so many of it
    anchors       those whose margin counts; every class weighs as much as in the whole table
    references    those they are compared with; each stands for as many of its class as it takes
                  to make up the whole table

Anchors and references are taken from the same order: square samples cost half as much as
rectangular ones, because a pair serves both its samples, and were as exact for the same number of
pairs (docs/measurements/scaling.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.durations import MOST_STEP_SECONDS
from immigrate.kernels import pass_seconds
from immigrate.solvers import Solver

FIRST_SIZE = 4000
# Small classes are drawn at least so often: of 1 % among 4,000 samples 40 would say little.
FEWEST_OF_A_CLASS = 500
# Up to here shares of classes differ by rounding, and every reference counts once.
SAME_SHARE = 1.05


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
    >>> from immigrate.estimators._sample import sample_sizes
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
class Sampler:
    """Draws samples of one table, each larger one holding the smaller ones.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Class of each row of the table.
    anchor_weight : ndarray of shape (n,) or None
        D of Eq. 10 over the whole table; None is even.
    random_state : int, RandomState instance or None
        Read when the first sample is drawn.
    """

    codes: Codes
    anchor_weight: Array | None
    random_state: Any

    @cached_property
    def order(self) -> list[Codes]:
        """Rows of each class in a random order."""
        random = check_random_state(self.random_state)
        n_classes = int(self.codes.max()) + 1
        return [random.permutation(np.flatnonzero(self.codes == c)) for c in range(n_classes)]

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
