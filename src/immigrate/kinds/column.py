"""One column of any container, before anybody decides what its values mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.arrays import Array, Mask

Levels = tuple[Any, ...]

FLAG_TYPES = (bool, np.bool_)
# NumPy's flags are no numbers to Python, its own are.
NUMBER_TYPES = (Number, np.bool_)


class ColumnWarning(UserWarning):
    """A column that cannot help a model, or that is read in a way that may surprise."""


class Kind(Enum):
    """What the values of a column mean to a model."""

    # These texts are in stored models: they never change.
    NUMBER = "number"
    FLAG = "flag"
    ORDERED = "ordered category"
    NOMINAL = "nominal"
    CIRCULAR = "circular"


class Content(Enum):
    """What the values of a column are, before anybody decides what they mean."""

    NUMBERS = "numbers"
    FLAGS = "flags"
    NAMES = "names"
    DATES = "dates or times"


@dataclass(frozen=True, eq=False)
class Column:
    """One column of any table, in the form that all containers are brought to.

    Attributes
    ----------
    name : str
    content : Content
    values : ndarray of shape (n,)
        Floats with NaN where missing for numbers and flags, objects for names. Dates are
        never looked at, and so have no values.
    type_name : str
        What the container calls the type; only messages use it.
    categories : tuple or None
        Levels that the type of the column declares, in their order.
    is_ordered : bool
        Whether the order of `categories` means something.
    """

    name: str
    content: Content
    values: NDArray[Any]
    type_name: str
    categories: Levels | None = None
    is_ordered: bool = False

    @property
    def is_missing(self) -> Mask:
        """Mask of the rows without a value."""
        return np.asarray(pd.isna(self.values))


def as_floats(values: NDArray[Any], is_missing: Mask) -> Array:
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
