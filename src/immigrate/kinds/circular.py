"""Numbers that come round: hours of the day, days of the week, months, angles.

    d(x, y) = min(|x - y|, period - |x - y|)

The user names such columns and their periods; they are never guessed. Values are read into
[0, period). Nothing here depends on where the clock starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array
from immigrate.checks import check_positive, named_position
from immigrate.kinds.column import Column, Content, Kind

# What values are called, by the period.
UNITS = {24.0: " h", 360.0: "°"}
# Beyond this the mean direction is that of rounding errors: the values balance each other.
LEAST_RESULTANT = 1e-9


@dataclass(frozen=True)
class Circular(Kind):
    """Numbers within one period.

    Parameters
    ----------
    start : float
        Where the user's period begins, such as 1 where months are 1 to 12.
    is_whole : bool
        Whether all values of fit were whole numbers.

    Examples
    --------
    >>> from immigrate.kinds import Circular
    >>> Circular(period=24.0).text(3.04), Circular(period=12.0, start=1.0, is_whole=True).text(0.2)
    ('3 h', '12')
    """

    start: float = 0.0
    is_whole: bool = False

    name = "circular"
    is_number = True

    @classmethod
    def of_period(cls, column: Column, is_listed: bool | None, period: float) -> Self:
        """With the period that the user gives; numbers alone come round."""
        if is_listed or column.content is not Content.NUMBERS:
            held = "is in categorical_features" if is_listed else f"holds {column.content.value}"
            raise ValueError(
                f"Column {column.name!r} is in circular_features and {held}; numbers were "
                "expected. Number its values, such as the days of the week from 0 to 6, and "
                "leave it out of categorical_features."
            )
        known = column.values[np.isfinite(column.values)]
        if not len(known):
            return cls(period=period)
        is_whole = float(period).is_integer() and bool((known == np.rint(known)).all())
        low, high, start = float(known.min()), float(known.max()), 0.0
        if low < 0 and high - low < period:
            start = low
        elif high == period and low > 0 and is_whole:
            start = 1.0
        return cls(period=period, start=start, is_whole=is_whole)

    def read(self, column: Column) -> NDArray[np.floating[Any]]:
        """Numbers in [0, period)."""
        return turned(super().read(column), self.period)

    def text(self, value: float) -> str:
        """A value within the user's period, with its unit."""
        # Three digits of the period say enough.
        digits = 0 if self.is_whole else max(0, 2 - int(np.floor(np.log10(self.period))))
        shown = self.start + (round(value, digits) - self.start) % self.period
        return f"{shown:g}{UNITS.get(self.period, '')}"

    def is_coded(self, is_frame: bool) -> bool:
        """Numbers may lie in any period."""
        return True


def chosen_periods(circular_features: Any, names: Sequence[str]) -> dict[int, float]:
    """The period of each circular column, by its position.

    Parameters
    ----------
    circular_features : dict or None
        From names or indices of columns to periods, such as ``{"hour": 24}``.
    names : sequence of str

    Examples
    --------
    >>> from immigrate.kinds.circular import chosen_periods
    >>> chosen_periods({"hour": 24, 0: 360}, ["wind", "dose", "hour"])
    {2: 24.0, 0: 360.0}
    """
    if circular_features is None:
        return {}
    if not isinstance(circular_features, Mapping):
        raise ValueError(
            "circular_features must be None or a dictionary from columns to their periods, such "
            f"as {{'hour': 24, 'month': 12}}; got {circular_features!r}."
        )
    return {
        named_position(column, names, "circular_features"): check_positive(
            f"The period of {column!r} in circular_features", period
        )
        for column, period in circular_features.items()
    }


def turned(values: NDArray[np.floating[Any]], period: float) -> NDArray[np.floating[Any]]:
    """Values in [0, period); infinity stays, to be refused by whoever reads it."""
    with np.errstate(invalid="ignore"):
        inside = np.mod(values, period)
    # The remainder of a tiny negative number is rounded to the period itself.
    inside = np.where(inside >= period, 0.0, inside)
    return np.where(np.isinf(values), values, inside).astype(values.dtype, copy=False)


def arc_start(values: Array, period: float) -> float:
    """Where the shortest arc with all known values begins: behind the largest gap."""
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return 0.0
    gaps = np.diff(known, append=known[0] + period)
    return float(known[(int(gaps.argmax()) + 1) % len(known)])


def mean_circular_difference(
    x: Array, drawn: Array, period: float, count: Array | None = None, *, power: int = 1
) -> Array:
    """Mean of the differences, or of their squares, of each of `x` from the values `drawn`.

    Parameters
    ----------
    x, drawn : ndarray
        Known values in [0, period).
    period : float
    count : ndarray, optional
        How often each of `drawn` was seen; once by default.
    power : {1, 2}
    """
    weight = np.ones(drawn.size) if count is None else count
    order = np.argsort(drawn, kind="stable")
    # In turns, whose squares are floats whatever the unit. Three turns hold the half turn to
    # either side of every value.
    x, once, weight = x / period, drawn[order] / period, weight[order]
    turns, weights = np.concatenate([once - 1, once, once + 1]), np.tile(weight, 3)
    ends = [np.searchsorted(turns, x + shift, side="right") for shift in (-0.5, 0.0, 0.5)]
    sums = [
        np.concatenate([[0.0], np.cumsum(weights * turns**k)])[np.array(ends)]
        for k in range(power + 1)
    ]
    # Those of the half turn before x, and of the half turn behind it.
    before, behind = ([s[i + 1] - s[i] for s in sums] for i in (0, 1))
    if power == 1:
        total = (x * before[0] - before[1]) + (behind[1] - x * behind[0])
    else:
        n, first, second = (one + other for one, other in zip(before, behind))
        total = second - 2 * x * first + x**2 * n
    mean: Array = np.maximum(total, 0.0) / weight.sum() * period**power
    return mean


def circular_unit(values: Array, period: float, scale: str) -> float:
    """What a difference of 1 is: the deviation or the largest difference of the known values.

    The deviation is the root of half the mean square difference of two values, which on a line
    is the standard deviation.
    """
    known = np.unique(values[~np.isnan(values)].astype(np.float64))
    if len(known) < 2:
        return 1.0
    if scale == "range":
        gaps = np.diff(known, append=known[0] + period)
        return float(min(period / 2, period - gaps.max()))
    values = values[~np.isnan(values)].astype(np.float64) / period
    half_square = float(mean_circular_difference(values, values, 1.0, power=2).mean()) / 2
    return float(np.sqrt(half_square)) * period


def circular_mean(values: Array, period: float, weight: Array | None = None) -> float:
    """The direction in which known values point on average; 0 where they balance each other.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.kinds.circular import circular_mean
    >>> round(circular_mean(np.array([23.0, 2.0]), 24.0), 6)
    0.5
    """
    is_known = ~np.isnan(values)
    if not is_known.any():
        return np.nan
    own = None if weight is None else weight[is_known]
    resultant = np.average(np.exp(2j * np.pi * values[is_known] / period), weights=own)
    if abs(resultant) < LEAST_RESULTANT:
        return 0.0
    return float(turned(np.angle(resultant) / (2 * np.pi) * period, period))
