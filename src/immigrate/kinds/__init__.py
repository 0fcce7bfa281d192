"""What a column is: how its values are read as numbers, and what they are called.

===============  ===============================================================================
``column``       one column of any container, and the types that its values may have
``number``       numbers, flags and ordered categories, which are numbers with names
``nominal``      levels without an order
``circular``     numbers that come round: hours, weekdays, months, angles
===============  ===============================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from immigrate.kinds.column import NUMBER_TYPES, Column, Content, Kind, Levels
from immigrate.kinds.nominal import level_codes, seen_levels
from immigrate.kinds.number import known_numbers, places_in_order

__all__ = ["column_values", "fitted_kind"]


def fitted_kind(column: Column, is_listed: bool | None) -> tuple[Kind, Levels]:
    """What a column is to a model, and its levels.

    Parameters
    ----------
    column : Column
    is_listed : bool or None
        Whether `categorical_features` lists the column; None where its type decides.
    """
    if column.content is Content.DATES:
        raise dates_refused(column)
    if is_listed:
        return Kind.NOMINAL, seen_levels(column)
    if column.content is not Content.NAMES:
        return (Kind.FLAG if column.content is Content.FLAGS else Kind.NUMBER), ()
    if column.is_ordered and column.categories is not None:
        # All of them, seen or not: the distance of two others depends on those between.
        return Kind.ORDERED, column.categories
    if is_listed is None:
        return Kind.NOMINAL, seen_levels(column)
    # Without declared categories it is text: no number.
    if all(isinstance(category, NUMBER_TYPES) for category in column.categories or [""]):
        return Kind.NUMBER, ()
    raise ValueError(
        f"Column {column.name!r} holds categories, but categorical_features leaves it out. "
        "Add it, or use categorical_features='from_dtype'."
    )


def column_values(column: Column, kind: Kind, levels: Levels) -> NDArray[np.floating[Any]]:
    """Values of a column, in fit or later, as numbers: codes for levels, NaN where missing."""
    if column.content is Content.DATES:
        raise dates_refused(column)
    if kind is Kind.NOMINAL:
        return level_codes(column, levels, unseen=len(levels))
    if kind is Kind.ORDERED:
        return places_in_order(column, levels)
    if column.content is Content.NAMES:
        return known_numbers(column)
    return column.values


def dates_refused(column: Column) -> ValueError:
    """The error for a column of dates, with the ways out."""
    return ValueError(
        f"Column {column.name!r} holds dates or times ({column.type_name}); a feature is a "
        "number or a category. Turn it into a number, such as days since a start, or into a "
        "category, such as the month; or drop it."
    )
