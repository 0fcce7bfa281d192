"""Products of the features of chosen pairs, as columns for a model that has none of its own.

    number × number      (x_a - mean x_a) (x_b - mean x_b)                     a × b
    nominal × number     one column per level but the first, its 0/1 centred   a=level × b
    nominal × nominal    one column per two such levels                        a=level × b=level

A product with a missing value is missing. Flags and ordered categories are numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.kinds.column import Levels
from immigrate.table import Reader


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What the columns of a pair are products of.

    Attributes
    ----------
    levels : tuple of tuple
        Levels of nominal features, empty for the others.
    means : tuple of ndarray
        Of each feature, or of the 0/1 columns of its levels but the first.
    """

    levels: tuple[Levels, ...]
    means: tuple[Array, ...]

    @classmethod
    def of(cls, values: Array, reader: Reader, weight: Array | None) -> PairColumns:
        """With the means of the training samples, each counting by its weight."""
        levels = tuple(kind.levels if kind.is_nominal else () for kind in reader.kinds)
        means = tuple(
            _known_mean(_factors(x, known), weight) for x, known in zip(values.T, levels)
        )
        return cls(levels, means)

    def products(self, values: Array, pairs: Codes) -> Array:
        """The columns of all pairs, side by side: (n, n_columns)."""
        with np.errstate(over="ignore"):  # refused below
            columns = [
                self._centred(values, a)[:, i] * self._centred(values, b)[:, j]
                for a, b in pairs
                for i, j in self._places(a, b)
            ]
        if any(np.isinf(column).any() for column in columns):
            raise ValueError(
                "The product of two features overflows. Scale the features first, for example "
                "with StandardScaler."
            )
        return np.column_stack(columns) if columns else np.empty((len(values), 0))

    def names(self, names: Sequence[Any], pairs: Codes) -> list[str]:
        """Names of these columns."""
        return [
            f"{self._name(names, a, i)} × {self._name(names, b, j)}"
            for a, b in pairs
            for i, j in self._places(a, b)
        ]

    def _places(self, a: int, b: int) -> Iterable[tuple[int, int]]:
        return product(range(len(self.means[a])), range(len(self.means[b])))

    def _centred(self, values: Array, j: int) -> Array:
        centred: Array = _factors(values[:, j], self.levels[j]) - self.means[j]
        return centred

    def _name(self, names: Sequence[Any], j: int, place: int) -> str:
        levels = self.levels[j]
        return f"{names[j]}={levels[place + 1]}" if levels else str(names[j])


def _factors(x: Array, levels: Levels) -> Array:
    """A number as one column, a nominal feature as the 0/1 columns of its levels but the first."""
    if not levels:
        return x[:, None].astype(np.float64)
    # An unseen level is none of these: 0 in all columns.
    columns = (x[:, None] == np.arange(1, len(levels))).astype(np.float64)
    columns[np.isnan(x)] = np.nan
    return columns


def _known_mean(columns: Array, weight: Array | None) -> Array:
    """Means over the known values; 0 where there is none with a weight.

    A nominal feature of one level has no columns, and so no means.
    """
    is_known = ~np.isnan(columns).any(axis=1)
    counted = None if weight is None else weight[is_known]
    if not columns.size or not is_known.any() or (counted is not None and not counted.any()):
        return np.zeros(columns.shape[1])
    # The sum of huge weights would overflow.
    share = None if counted is None else counted / counted.max()
    mean: Array = np.average(columns[is_known], axis=0, weights=share)
    return mean
