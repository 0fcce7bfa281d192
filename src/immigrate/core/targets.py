"""To what degree a column is a hit, and a miss, of a row: two shares >= 0 for each pair.

==========  ======================================  ===========================================
target      hits                                    what references vote for
==========  ======================================  ===========================================
classes     those of one's own class                their class
numbers     those of a near number, to a degree     the highest number, the lowest, in between
==========  ======================================  ===========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from immigrate.arrays import Array, Codes

HIT, MISS = 0, 1
# How near a number is: a share of the samples that lie between. Twice of it predicts alike
# (docs/measurements/regression.md).
NEAR = 0.25


class Target(Protocol):
    """What a pass asks of a target."""

    @property
    def y(self) -> np.ndarray:
        """Class codes, or numbers, (n,)."""

    @property
    def count(self) -> Array:
        """How often each sample counts as a reference, (n,)."""

    @property
    def n_classes(self) -> int:
        """Number of things that references vote for."""

    def __call__(self, rows: Codes, columns: Codes) -> Array:
        """Hit and miss share of every column for every row, (2, r, c)."""

    def by_class(self, rows: Codes, columns: Codes) -> Array:
        """Share of every column in each vote, as every row sees it, (n_classes, r, c)."""

    def votes(self) -> Array:
        """Share of every sample in each vote, as new samples see it, (n_classes, n)."""


@dataclass(frozen=True)
class ClassTarget:
    """Hits are the samples of one's own class, misses all others.

    A sample that counts c times stands for c references: a centre for the samples around it, a
    sample drawn from many for those that were not drawn. No sample is its own neighbour, however
    often it counts.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Class codes 0, 1, ...
    count : ndarray of shape (n,)
        How often each sample counts as a reference; 0 for one that is no reference.
    """

    y: Codes
    count: Array

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    def __call__(self, rows: Codes, columns: Codes) -> Array:
        """Hit and miss share of every column for every row, (2, r, c)."""
        is_hit = self.y[rows][:, None] == self.y[columns]
        present = self._present(rows, columns)
        return np.array([present * is_hit, present * ~is_hit])

    def by_class(self, rows: Codes, columns: Codes) -> Array:
        """Share of every column in each class, as every row sees it, (n_classes, r, c)."""
        belongs = np.arange(self.n_classes)[:, None] == self.y[columns]
        return belongs[:, None, :] * self._present(rows, columns)

    def votes(self) -> Array:
        """Share of every sample in its class, (n_classes, n)."""
        return (np.arange(self.n_classes)[:, None] == self.y) * self.count

    def _present(self, rows: Codes, columns: Codes) -> Array:
        """How often each column is there for each row: no sample is its own neighbour."""
        return self.count[columns] * (rows[:, None] != columns)


@dataclass(frozen=True)
class NumberTarget:
    """Hits are the samples with a near number, misses the others, both to a degree.

        hit(n, j) = exp(-|u_n - u_j| / NEAR),    miss(n, j) = 1 - hit(n, j)

    with u the rank of a number as a share of all samples: neither its unit nor one that lies far
    out matters, and of a number with two values hits are about those of two classes.

    A number between the lowest and the highest is a share of both: its votes are
    (high - y) / (high - low) for the lowest and the rest for the highest. What classifiers take
    for the probability of a class is then where the mean number of soft neighbours lies.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Finite numbers, not all alike.
    count : ndarray of shape (n,)
        How often each sample counts as a reference.
    """

    y: np.ndarray
    count: Array
    n_classes: int = 2

    @cached_property
    def rank(self) -> Array:
        """Middle rank of each number, as a share of all references, (n,)."""
        _, code = np.unique(self.y, return_inverse=True)
        size = np.bincount(code, self.count)
        rank: Array = ((np.cumsum(size) - size / 2) / size.sum())[code]
        return rank

    def __call__(self, rows: Codes, columns: Codes) -> Array:
        """Hit and miss share of every column for every row, (2, r, c)."""
        near = np.exp(-np.abs(self.rank[rows][:, None] - self.rank[columns]) / NEAR)
        present = self.count[columns] * (rows[:, None] != columns)
        return np.array([present * near, present * (1 - near)])

    def by_class(self, rows: Codes, columns: Codes) -> Array:
        """Votes of every column for the lowest and the highest number, (2, r, c)."""
        return self.votes()[:, None, columns] * (rows[:, None] != columns)

    def votes(self) -> Array:
        """Votes of every sample for the lowest and the highest number, (2, n)."""
        # Halves do not overflow.
        low, high = self.y.min() / 2, self.y.max() / 2
        share = (self.y / 2 - low) / (high - low)
        return np.array([1 - share, share]) * self.count
