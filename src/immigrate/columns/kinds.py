"""What a column holds, and what it means to a model."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from numpy.typing import NDArray


class Kind(Enum):
    """What the values of a column mean to a model."""

    # These texts are in stored models: they never change.
    NUMBER = "number"
    FLAG = "flag"
    ORDERED = "ordered category"
    NOMINAL = "nominal"


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
    categories: tuple[Any, ...] | None = None
    is_ordered: bool = False
