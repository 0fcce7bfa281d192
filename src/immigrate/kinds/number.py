"""Numbers, and what has an order: flags are 0 and 1, ordered categories their places."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.arrays import Array, Mask
from immigrate.kinds.circular import circular_unit
from immigrate.kinds.column import NUMBER_TYPES, Column, ColumnWarning, Content, Kind, Levels
from immigrate.kinds.nominal import level_codes
from immigrate.progress import warn_user

SCALES = ("std", "range", None)
LIMITS = np.finfo(np.float64)


class Flag(Kind):
    """True and false, which are 1 and 0."""

    name = "flag"
    is_number = True

    @classmethod
    def fit(cls, column: Column, is_listed: bool | None) -> Self | None:
        """Whatever container it comes from."""
        return cls() if column.content is Content.FLAGS else None

    @property
    def level_names(self) -> Levels:
        """What 0 and 1 were."""
        return (False, True)


class Ordered(Kind):
    """Categories in an order; values are their places in it."""

    name = "ordered category"

    @classmethod
    def fit(cls, column: Column, is_listed: bool | None) -> Self | None:
        """Categories whose type has an order."""
        if column.is_ordered and column.categories is not None:
            # All of them, seen or not: the distance of two others depends on those between.
            return cls(column.categories)
        return None

    def read(self, column: Column) -> NDArray[np.floating[Any]]:
        """Places of ordered categories; what has no place is missing."""
        places = level_codes(column, self.levels, unseen=np.nan)
        is_lost = np.isnan(places) & ~pd.isna(column.values)
        if is_lost.any():
            lost = column.values[is_lost].tolist()[0]
            warn_user(
                f"Column {column.name!r} holds {lost!r}, which is not among its ordered "
                f"categories {', '.join(map(repr, self.levels))}. It has no place in the order "
                "and is read as missing; declare all categories before fit.",
                ColumnWarning,
            )
        return places

    def is_coded(self, is_frame: bool) -> bool:
        """An array of numbers holds places already."""
        return is_frame


class Number(Kind):
    """Numbers as they are."""

    name = "number"
    is_number = True

    @classmethod
    def fit(cls, column: Column, is_listed: bool | None) -> Self | None:
        """All that is left; names are refused."""
        if column.content is Content.NAMES and not all(
            # Without declared categories it is text: no number.
            isinstance(category, NUMBER_TYPES)
            for category in column.categories or [""]
        ):
            raise ValueError(
                f"Column {column.name!r} holds categories, but categorical_features leaves it "
                "out. Add it, or use categorical_features='from_dtype'."
            )
        return cls()


def difference_units(
    values: Array,
    low: Array,
    high: Array,
    is_nominal: Mask,
    *,
    scale: str | None = "std",
    period: Array | None = None,
) -> Array:
    """What a difference of 1 is in each column: its standard deviation, its range, or 1.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        NaN where missing.
    low, high : ndarray of shape (p,)
        Lowest and highest known value of each column.
    is_nominal : ndarray of shape (p,)
    scale : {"std", "range", None}
        The standard deviation is that of the known values with divisor n, as in
        `sklearn.preprocessing.StandardScaler`.
    period : ndarray of shape (p,), optional
        Periods of circular columns, infinite for the others.

    Returns
    -------
    ndarray of shape (p,)
        Above 0 and finite; 1 for constant and nominal columns. Divide by it: the reciprocal
        of a tiny unit overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.kinds.number import difference_units
    >>> X = np.array([[1.0, 0.0, 5.0], [3.0, 1.0, 5.0]])
    >>> difference_units(X, X.min(axis=0), X.max(axis=0), np.array([False, True, False]))
    array([1., 1., 1.])
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is unknown; choose 'std', 'range' or None.")
    units = np.ones(values.shape[1])
    if scale is None or not values.size:
        return units
    values = values.astype(np.float64, copy=False)
    # False also for a column without a value, whose range is turned around.
    varies = (low < high) & ~is_nominal
    if period is not None:
        for j in np.flatnonzero(varies & np.isfinite(period)):
            units[j], varies[j] = circular_unit(values[:, j], period[j], scale), False
    low, high = low[varies], high[varies]
    if scale == "range":
        with np.errstate(over="ignore"):  # a range beyond the largest float is cut to it
            units[varies] = np.minimum(high - low, LIMITS.max)
        return units
    # In units of a power of two near the largest value neither differences nor squares leave
    # the range of floats, and nothing is rounded.
    _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
    scaled = np.ldexp(values[:, varies], -exponent)
    # Where no value is missing both say the same, and this one takes half as long.
    deviation = (np.nanstd if np.isnan(scaled).any() else np.std)(scaled, axis=0)
    # Two neighbouring numbers at the end of the range may deviate by less than one step.
    units[varies] = np.maximum(np.ldexp(deviation, exponent), LIMITS.smallest_subnormal)
    return units
