"""To what degree a column is a hit, and a miss, of a row: two shares >= 0 for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from immigrate.arrays import Array, Codes

HIT, MISS = 0, 1


class Target(Protocol):
    """What a pass asks of a target."""

    def __call__(self, rows: Codes, columns: Codes) -> Array:
        """Hit and miss share of every column for every row, (2, r, c)."""


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

    def _present(self, rows: Codes, columns: Codes) -> Array:
        """How often each column is there for each row: no sample is its own neighbour."""
        return self.count[columns] * (rows[:, None] != columns)
