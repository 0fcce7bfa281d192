"""Products of the features of chosen pairs, as columns for a model that has none of its own.

    number × number      (x_a - mean x_a) (x_b - mean x_b)                     a × b
    nominal × number     one column per level but the first, its 0/1 centred   a=level × b
    nominal × nominal    one column per two such levels                        a=level × b=level
    circular × any       cosine and sine of the angle and of its double,    cos(a) × b, sin(a) × b,
                         centred: four columns                          cos(2 a) × b, sin(2 a) × b

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

WAVES = ("cos({})", "sin({})", "cos(2 {})", "sin(2 {})")


@dataclass(frozen=True, eq=False)
class PairColumns:
    """What the columns of a pair are products of.

    Attributes
    ----------
    levels : tuple of tuple
        Levels of nominal features, empty for the others.
    means : tuple of ndarray
        Of each feature, of the 0/1 columns of its levels but the first, or of its waves.
    periods : tuple of float or None
        Periods of circular features, infinite for the others; None where there is none.
    """

    levels: tuple[Levels, ...]
    means: tuple[Array, ...]
    periods: tuple[float, ...] | None = None

    @classmethod
    def of(cls, values: Array, reader: Reader, weight: Array | None) -> PairColumns:
        """With the means of the training samples, each counting by its weight."""
        levels = tuple(kind.levels if kind.is_nominal else () for kind in reader.kinds)
        periods = None if reader.period is None else tuple(reader.period.tolist())
        means = tuple(
            _known_mean(_factors(x, kind.levels if kind.is_nominal else (), kind.period), weight)
            for x, kind in zip(values.T, reader.kinds)
        )
        return cls(levels, means, periods)

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
        factors = _factors(values[:, j], self.levels[j], self._period(j))
        centred: Array = factors - self.means[j]
        return centred

    def _period(self, j: int) -> float:
        return np.inf if self.periods is None else self.periods[j]

    def _name(self, names: Sequence[Any], j: int, place: int) -> str:
        levels = self.levels[j]
        if self._period(j) < np.inf:
            return WAVES[place].format(names[j])
        return f"{names[j]}={levels[place + 1]}" if levels else str(names[j])


def _factors(x: Array, levels: Levels, period: float) -> Array:
    """A number as one column, a nominal feature as the 0/1 columns of its levels but the first.

    A circular feature is the cosine and sine of its angle and of its double.
    """
    if period < np.inf:
        angle = 2 * np.pi * x.astype(np.float64) / period
        return np.column_stack([wave(k * angle) for k in (1, 2) for wave in (np.cos, np.sin)])
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
