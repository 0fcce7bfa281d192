"""Levels of a column, and its values as numbers by what was learned of it in fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.arrays import Array
from immigrate.columns.kinds import Column, Content, Kind
from immigrate.columns.objects import NUMBER_TYPES, as_float, as_floats
from immigrate.columns.warning import ColumnWarning
from immigrate.progress import warn_user

Levels = tuple[Any, ...]


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


def dates_refused(column: Column) -> ValueError:
    """The error for a column of dates, with the ways out."""
    return ValueError(
        f"Column {column.name!r} holds dates or times ({column.type_name}); a feature is a "
        "number or a category. Turn it into a number, such as days since a start, or into a "
        "category, such as the month; or drop it."
    )


def seen_levels(column: Column) -> Levels:
    """Different known values, in the order of their categories or sorted."""
    known = column.values[~_is_missing(column.values)]
    if column.content is not Content.NAMES:
        return tuple(int(x) if float(x).is_integer() else float(x) for x in np.unique(known))
    if column.categories is not None:
        # Categories that no row has are left out: they would be columns of zeros.
        seen = set(known)
        return tuple(level for level in column.categories if level in seen)
    return _sorted(list(set(known)))


def _sorted(levels: list[Any]) -> Levels:
    """Levels in an order that the rows do not decide: their own, where all have one."""
    try:
        if any(
            all(isinstance(level, one) for level in levels) for one in (str, bytes, NUMBER_TYPES)
        ):
            return tuple(sorted(levels))
    except ArithmeticError:  # whole numbers beyond the range of floats, beside floats
        pass
    return tuple(sorted(levels, key=_order_of_mixed))


def _order_of_mixed(level: Any) -> tuple[str, float, str]:
    if isinstance(level, NUMBER_TYPES):
        return "", as_float(level), ""
    return type(level).__name__, 0.0, str(level)


def column_values(column: Column, kind: Kind, levels: Levels) -> NDArray[np.floating[Any]]:
    """Values of a column, in fit or later, as numbers: codes for levels, NaN where missing."""
    if column.content is Content.DATES:
        raise dates_refused(column)
    if kind is Kind.NOMINAL:
        _check_same_content(column, levels)
        return _codes(column, levels, unseen=len(levels))
    if kind is Kind.ORDERED:
        _check_same_content(column, levels)
        return _places(column, levels)
    if column.content is not Content.NAMES:
        return column.values
    return _numbers(column)


def _numbers(column: Column) -> Array:
    """Numbers in a category; text is refused."""
    is_missing = _is_missing(column.values)
    for row, value in enumerate(column.values):
        if not is_missing[row] and not isinstance(value, NUMBER_TYPES):
            raise ValueError(
                f"Column {column.name!r} held numbers in fit and holds {value!r} in row {row} "
                "now. Give numbers, or NaN where a value is missing."
            )
    return as_floats(column.values, is_missing)


def _places(column: Column, levels: Levels) -> NDArray[np.floating[Any]]:
    """Places in the order; what has no place is missing."""
    codes = _codes(column, levels, unseen=np.nan)
    is_lost = np.isnan(codes) & ~_is_missing(column.values)
    if is_lost.any():
        lost = column.values[is_lost].tolist()[0]
        warn_user(
            f"Column {column.name!r} holds {lost!r}, which is not among its "
            f"ordered categories {', '.join(map(repr, levels))}. It has no place in the order "
            "and is read as missing; declare all categories before fit.",
            ColumnWarning,
        )
    return codes


def _codes(column: Column, levels: Levels, unseen: float) -> NDArray[np.floating[Any]]:
    values = column.values
    # Equal as Python sees it, so that 1 is 1.0, in every container.
    code = {level: float(j) for j, level in enumerate(levels)}
    codes = np.array([code.get(value, unseen) for value in values.tolist()], dtype=np.float64)
    codes[_is_missing(values)] = np.nan
    # A table of float32 alone stays one.
    return codes.astype(np.float32) if values.dtype == np.float32 else codes


def _check_same_content(column: Column, levels: Levels) -> None:
    """Refuse numbers for names and the like: every one of them would be an unseen level."""
    known = column.values[~_is_missing(column.values)]
    if not len(known) or not levels:
        return
    before = {_sort_of(type(level)) for level in levels}
    now = {_sort_of(one) for one in set(map(type, known))}
    if before.isdisjoint(now):
        raise ValueError(
            f"Column {column.name!r} held {min(before)} such as {levels[0]!r} in fit and holds "
            f"{min(now)} such as {known[:1].tolist()[0]!r} now. Give it in the form that it had "
            "in fit."
        )


def _sort_of(one: type) -> str:
    if issubclass(one, NUMBER_TYPES):
        return "numbers"
    return "bytes" if issubclass(one, bytes) else "names"


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values))
