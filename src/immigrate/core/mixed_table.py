"""A table of mixed types laid out for nearest neighbours, with ReliefF's rule for missing values.

    diff(f, i, j) = |x_if - x_jf| / range_f                    numeric
                  = 1 if x_if != x_jf, else 0                  categorical
                  = its expectation given the classes          where a value is missing

The last line is Kononenko's: with x_if missing and x_jf known a categorical difference is
1 - P(x_jf | class of i); with both missing it is 1 - sum_v P(v | class of i) P(v | class of j).
Both are the mean difference from values drawn from the class, which says what to do with
numeric features as well. The soft margins draw from all samples instead: ``differences``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from immigrate.arrays import Array
from immigrate.core.differences import mean_difference

COMPLETE = -1
LARGEST = float(np.finfo(np.float64).max)
# Squares of larger differences, summed, leave the range of float64.
LARGEST_SPAN = 1e150
# Squares of smaller differences lose their last digits, and below 1e-162 all of them.
SMALLEST_SPAN = 3e-152


class MixedTable(NamedTuple):
    """Labelled samples, laid out for passes over the pairs.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        Numeric features in their units of difference, category codes, NaN where missing.
    is_categorical : ndarray of shape (p,)
    y : ndarray of shape (n,)
        Class codes 0, 1, ...
    starts : ndarray of shape (n_classes + 1,)
        Number of samples of lower classes.
    gap : ndarray of shape (p,)
        Row of the next two for a feature with missing values, `COMPLETE` for the others.
    one_missing : ndarray of shape (n_gaps, n_classes, n)
        Difference of a sample from one of class c whose value is missing.
    both_missing : ndarray of shape (n_gaps, n_classes, n_classes)
    screen : ndarray of shape (p, n), float32
        `values` in units of `span`, feature by feature, NaN where missing.
    span : ndarray of shape (p,)
        Range of a numeric feature in `values`, 1 for those of categories and without one.
    runs : ndarray of shape (n_runs, 3)
        Neighbouring features of one kind: first, last + 1, and whether they are plain, that
        is numeric and complete.
    """

    values: Array
    is_categorical: NDArray[np.bool_]
    y: NDArray[np.intp]
    starts: NDArray[np.intp]
    gap: NDArray[np.intp]
    one_missing: Array
    both_missing: Array
    screen: NDArray[np.float32]
    span: Array
    runs: NDArray[np.intp]


def mixed_table(
    X: Array,
    y: NDArray[np.intp],
    is_categorical: NDArray[np.bool_] | None = None,
    *,
    scale: str | None = "range",
) -> MixedTable:
    """`X` and `y` laid out for passes, numeric features in units of their range or as they are."""
    n, p = X.shape
    n_classes = int(y.max()) + 1
    if is_categorical is None:
        is_categorical = np.zeros(p, dtype=bool)
    values = _in_units(np.array(X, dtype=np.float64, order="C"), is_categorical, scale)
    for f in np.flatnonzero(is_categorical):
        values[:, f] = _codes(values[:, f])
    has_gap = np.isnan(values).any(axis=0)
    filled = [
        _expected_differences(values[:, f], y, n_classes, bool(is_categorical[f]))
        for f in np.flatnonzero(has_gap)
    ]
    span = difference_units(values, is_categorical)
    return MixedTable(
        values,
        is_categorical,
        y,
        np.concatenate([[0], np.cumsum(np.bincount(y))]).astype(np.intp),
        np.where(has_gap, np.cumsum(has_gap) - 1, COMPLETE).astype(np.intp),
        np.array([one for one, _ in filled]).reshape(-1, n_classes, n),
        np.array([both for _, both in filled]).reshape(-1, n_classes, n_classes),
        np.ascontiguousarray(_from_zero(values, is_categorical, span / 2).T, dtype=np.float32),
        span,
        _runs(~is_categorical & ~has_gap),
    )


def _codes(x: Array) -> Array:
    """Categories numbered 0, 1, ..., NaN where missing."""
    is_known = ~np.isnan(x)
    codes = np.full(x.size, np.nan)
    codes[is_known] = np.unique(x[is_known], return_inverse=True)[1]
    return codes


def _runs(is_plain: NDArray[np.bool_]) -> NDArray[np.intp]:
    edges = np.flatnonzero(np.diff(is_plain)) + 1
    first, last = np.append(0, edges), np.append(edges, is_plain.size)
    return np.column_stack([first, last, is_plain[first]]).astype(np.intp)


def difference_units(
    X: Array, is_categorical: NDArray[np.bool_], *, scale: str | None = "range"
) -> Array:
    """What a difference of 1 is in each feature: its range, or 1 where it is not scaled."""
    # A range that overflows is cut to the largest float, which has no counterpart in float32.
    X = X.astype(np.float64, copy=False)
    return 2 * np.minimum(_half_units(X, is_categorical, scale), LARGEST / 2)


def _half_units(X: Array, is_categorical: NDArray[np.bool_], scale: str | None) -> Array:
    half_range = _highest(X) / 2 - _lowest(X) / 2  # -inf where nothing is known
    return np.where(~is_categorical & (half_range > 0) & (scale == "range"), half_range, 0.5)


def _in_units(X: Array, is_categorical: NDArray[np.bool_], scale: str | None) -> Array:
    if scale is None:
        span = float((_highest(X) / 2 - _lowest(X) / 2).max()) * 2
        if span > LARGEST_SPAN:
            raise ValueError(
                f"A feature of X spans {span:.3g}; squared differences would overflow. Use "
                "scale='range', or scale the features first."
            )
        if 0 < span < SMALLEST_SPAN and not is_categorical.any():
            raise ValueError(
                f"No feature of X spans more than {span:.3g}; squared differences would vanish. "
                "Use scale='range', or scale the features first."
            )
        return X
    return _from_zero(X, is_categorical, _half_units(X, is_categorical, scale))


def _from_zero(X: Array, is_categorical: NDArray[np.bool_], half_unit: Array) -> Array:
    """Values in units, numbers from 0 on: float32 has no digit to spend on an offset."""
    # The smallest value is taken off first, so that integers differ by exact multiples. Halves
    # do not overflow.
    shifted = X / 2 - np.where(is_categorical, 0.0, _lowest(X) / 2)
    in_units: Array = shifted / half_unit
    return in_units


def _lowest(X: Array) -> Array:
    return np.fmin.reduce(X, axis=0, initial=np.inf)


def _highest(X: Array) -> Array:
    return np.fmax.reduce(X, axis=0, initial=-np.inf)


def _expected_differences(
    x: Array, y: NDArray[np.intp], n_classes: int, is_categorical: bool
) -> tuple[Array, Array]:
    """Differences of one feature where one of two values is missing, and where both are."""
    is_known = ~np.isnan(x)
    one, both = np.zeros((n_classes, x.size)), np.zeros((n_classes, n_classes))
    if not is_known.any():
        return one, both  # nothing is known of it: no two samples differ
    members = [is_known & (y == c) for c in range(n_classes)]
    # A class with no known value says nothing: draw from all of them.
    members = [member if member.any() else is_known for member in members]
    for c, member in enumerate(members):
        one[c, is_known] = mean_difference(x[is_known], x[member], is_categorical)
        both[c] = [one[c, other].mean() for other in members]
    return one, both
