"""One column of any container, and what a kind of column has to say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from numbers import Number
from typing import Any, ClassVar, Self

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


@dataclass(frozen=True)
class Kind:
    """What the values of a column mean to a model, and how they are read.

    A subclass stands in a file of this package and in its list `BY_TYPE`: that is all of
    reading. Differences of its values stand in `core/differences`, its functions in the test in
    `additive/basis`, its words in `interactions/words`.

    Parameters
    ----------
    levels : tuple
        Levels of nominal and ordered columns, in the order of their codes.
    period : float
        Period of circular columns, infinite for all others.
    """

    levels: Levels = ()
    period: float = np.inf

    # In stored models and in messages: it never changes.
    name: ClassVar[str]
    is_nominal: ClassVar[bool] = False
    is_number: ClassVar[bool] = False

    @classmethod
    def fit(cls, column: Column, is_listed: bool | None) -> Self | None:
        """The kind with what it learns from a column; None for a column of another kind.

        Parameters
        ----------
        column : Column
        is_listed : bool or None
            Whether `categorical_features` lists the column; None where its type decides.
        """
        raise NotImplementedError

    def read(self, column: Column) -> NDArray[np.floating[Any]]:
        """The values of a column, in fit or later: codes for levels, NaN where missing.

        Those of numbers, where a kind does not say otherwise; text is refused.
        """
        if column.content is Content.DATES:
            raise dates_refused(column)
        if column.content is not Content.NAMES:
            return column.values
        is_missing = pd.isna(column.values)
        for row, value in enumerate(column.values):
            if not is_missing[row] and not isinstance(value, NUMBER_TYPES):
                raise ValueError(
                    f"Column {column.name!r} held numbers in fit and holds {value!r} in row {row} "
                    "now. Give numbers, or NaN where a value is missing."
                )
        return as_floats(column.values, is_missing)

    def is_coded(self, is_frame: bool) -> bool:
        """Whether the numbers of a frame, or of an array, are something else than the values."""
        return False

    def text(self, value: float) -> str:
        """What a value is called: the name of a level, or the number as the user writes it."""
        names = self.level_names
        return str(names[int(value)]) if 0 <= value < len(names) else f"{value:g}"

    @property
    def level_names(self) -> Levels:
        """What the values are called; nothing for numbers."""
        return self.levels


def dates_refused(column: Column) -> ValueError:
    """The error for a column of dates, with the ways out."""
    return ValueError(
        f"Column {column.name!r} holds dates or times ({column.type_name}); a feature is a "
        "number or a category. Turn it into a number, such as days since a start, or into a "
        "category, such as the month; or drop it."
    )


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
