"""What a difference of 1 is in each column."""

from __future__ import annotations

import numpy as np

from immigrate.arrays import Array, Mask
from immigrate.columns.notes import column_ranges

SCALES = ("std", "range", None)
LIMITS = np.finfo(np.float64)


def difference_units(values: Array, is_nominal: Mask, scale: str | None = "std") -> Array:
    """Unit of each column: its standard deviation, its range, or 1.

    Parameters
    ----------
    values : ndarray of shape (n, p)
        NaN where missing.
    is_nominal : ndarray of shape (p,)
    scale : {"std", "range", None}
        The standard deviation is that of the known values with divisor n, as in
        `sklearn.preprocessing.StandardScaler`.

    Returns
    -------
    ndarray of shape (p,)
        Above 0 and finite; 1 for constant and nominal columns. Divide by it: the reciprocal
        of a tiny unit overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.columns import difference_units
    >>> X = np.array([[1.0, 0.0, 5.0], [3.0, 1.0, 5.0]])
    >>> difference_units(X, np.array([False, True, False]))
    array([1., 1., 1.])
    >>> difference_units(X, np.array([False, True, False]), "range")
    array([2., 1., 1.])
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is unknown; choose 'std', 'range' or None.")
    units = np.ones(values.shape[1])
    if scale is None or not values.size:
        return units
    values = values.astype(np.float64, copy=False)
    low, high, _ = column_ranges(values)
    # False also for a column without a value, whose range is turned around.
    varies = (low < high) & ~is_nominal
    spread = _ranges if scale == "range" else _deviations
    units[varies] = spread(values[:, varies], low[varies], high[varies])
    return units


def _ranges(values: Array, low: Array, high: Array) -> Array:
    with np.errstate(over="ignore"):  # a range beyond the largest float is cut to it
        return np.minimum(high - low, LIMITS.max)


def _deviations(values: Array, low: Array, high: Array) -> Array:
    # In units of a power of two near the largest value neither differences nor squares leave
    # the range of floats, and nothing is rounded.
    _, exponent = np.frexp(np.maximum(np.abs(low), np.abs(high)))
    scaled = np.ldexp(values, -exponent)
    deviation: Array = np.ldexp(np.nanstd(scaled, axis=0), exponent)
    # Two neighbouring numbers at the end of the range may deviate by less than one step.
    deviation[deviation == 0] = LIMITS.smallest_subnormal
    return deviation
