"""Columns of Python objects: the types of the values say what they hold."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.arrays import Array
from immigrate.columns.kinds import Column, Content

# pandas.Timestamp and pandas.Timedelta are subclasses of the first and the last.
DATE_TYPES = (
    datetime.date,
    datetime.time,
    np.datetime64,
    np.timedelta64,
    pd.Period,
    datetime.timedelta,
)
FLAG_TYPES = (bool, np.bool_)
# NumPy's flags are no numbers to Python, its own are.
NUMBER_TYPES = (Number, np.bool_)
# Whole numbers up to here are floats without rounding.
MOST_EXACT = 2**53
COMPLEX_TYPES = (complex, np.complexfloating)


def object_array(items: Iterable[Any], count: int) -> NDArray[Any]:
    """One object per item; `np.array` would unpack lists into a second dimension."""
    return np.fromiter(items, dtype=object, count=count)


def object_column(name: str, values: NDArray[Any]) -> Column:
    """A column of objects; "1" is a name, 1 a number, True a flag."""
    is_missing = np.asarray(pd.isna(values))
    types = set(map(type, values[~is_missing]))
    _check_values(name, values, types)
    if any(issubclass(one, DATE_TYPES) for one in types):
        return Column(name, Content.DATES, values[:0], "object")
    if types and all(issubclass(one, FLAG_TYPES) for one in types):
        return Column(name, Content.FLAGS, as_floats(values, is_missing), "object")
    # A column without any value has nothing against being a number.
    if all(issubclass(one, NUMBER_TYPES) for one in types):
        if types and all(issubclass(one, int | np.integer) for one in types):
            check_stay_apart(name, values[~is_missing])
        return Column(name, Content.NUMBERS, as_floats(values, is_missing), "object")
    return Column(name, Content.NAMES, values, "object")


def as_floats(values: NDArray[Any], is_missing: NDArray[np.bool_]) -> Array:
    """Numbers of any type, `Decimal` and `Fraction` included, NaN where missing."""
    floats = np.full(len(values), np.nan)
    floats[~is_missing] = [as_float(value) for value in values[~is_missing]]
    return floats


def as_float(value: Any) -> float:
    """A number of any type as a float."""
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the range: refused as infinity later
        return np.inf if value > 0 else -np.inf


def check_stay_apart(name: str, numbers: NDArray[Any]) -> None:
    """Refuse different whole numbers that are one and the same float: most likely names.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.columns.objects import check_stay_apart
    >>> check_stay_apart("id", np.array([2**53, 2**53 + 2]))
    """
    if not len(numbers) or (numbers.max() <= MOST_EXACT and numbers.min() >= -MOST_EXACT):
        return
    different = np.unique(numbers)
    floats = np.array([as_float(number) for number in different.tolist()])
    same = np.flatnonzero((floats[1:] == floats[:-1]) & np.isfinite(floats[1:]))
    if same.size:
        one, other = different[same[0] : same[0] + 2].tolist()
        raise ValueError(
            f"Column {name!r} holds {one} and {other}, which are one number where 15 digits are "
            "kept, as they are here. If they are names, turn them into text; if they are "
            "measured, subtract a common start."
        )


def unmasked(array: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """A masked array without its mask: what is masked is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.columns.objects import unmasked
    >>> unmasked(np.ma.masked_equal([1, 2, 9], 9))
    array([ 1.,  2., nan])
    """
    if not np.ma.is_masked(array) or array.dtype.kind in "mMcV":
        return np.asarray(array)
    if array.dtype.kind in "fiub":
        is_single = array.dtype == np.float32
        floats = array.astype(np.float32 if is_single else np.float64)
        return np.asarray(np.ma.filled(floats, np.nan))
    # Not by its `filled`, which takes None for the value that the array carries for that.
    objects: NDArray[Any] = array.data.astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects


def _check_values(name: str, values: NDArray[Any], types: set[type]) -> None:
    for one in types:
        if issubclass(one, COMPLEX_TYPES):
            raise complex_refused(name)
        if getattr(one, "__hash__", None) is None:  # lists, dictionaries, sets, arrays
            row = next(i for i, value in enumerate(values) if type(value) is one)
            raise TypeError(
                f"Column {name!r} holds a {one.__name__} in row {row}, {values[row]!r}; every "
                "value of the argument must be a string or a number. Unpack it into columns "
                "of its own, or drop the column."
            )


def complex_refused(name: str) -> ValueError:
    """The error for complex numbers, which have no order and so no range."""
    return ValueError(
        f"Complex data not supported: column {name!r} holds complex numbers. Give their real "
        "and imaginary parts as two columns."
    )
