"""Levels of a column, and its values as numbers by what was learned of it in fit."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.columns.kinds import Column, Content, Kind
from immigrate.columns.objects import as_floats
from immigrate.columns.warning import ColumnWarning, warn_user
from immigrate.typing import Array

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
    if all(isinstance(category, Number) for category in column.categories or [""]):
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
        places = _index(column.categories).get_indexer(_index(known))
        is_seen = np.bincount(places, minlength=len(column.categories)) > 0
        return tuple(level for level, seen in zip(column.categories, is_seen) if seen)
    return _sorted(list(pd.unique(known)))


def _sorted(levels: list[Any]) -> Levels:
    try:
        return tuple(sorted(levels))
    except TypeError:  # numbers beside names: any fixed order that the rows do not decide
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def column_values(column: Column, kind: Kind, levels: Levels) -> NDArray[np.floating[Any]]:
    """Values of a column, in fit or later, as numbers: codes for levels, NaN where missing."""
    if column.content is Content.DATES:
        raise dates_refused(column)
    if kind is Kind.NOMINAL:
        _check_same_content(column, levels)
        return _codes(column, levels, unseen=len(levels))
    if kind is Kind.ORDERED:
        return _places(column, levels)
    if column.content is not Content.NAMES:
        return column.values
    return _numbers(column)


def _numbers(column: Column) -> Array:
    """Numbers in a category; text is refused."""
    is_missing = _is_missing(column.values)
    for row, value in enumerate(column.values):
        if not is_missing[row] and not isinstance(value, Number):
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
        warn_user(
            f"Column {column.name!r} holds {column.values[is_lost][0]!r}, which is not among its "
            f"ordered categories {', '.join(map(repr, levels))}. It has no place in the order "
            "and is read as missing; declare all categories before fit.",
            ColumnWarning,
        )
    return codes


def _codes(column: Column, levels: Levels, unseen: float) -> NDArray[np.floating[Any]]:
    values = column.values
    # Objects compare as Python does, 1 equal to 1.0; floats are faster where all are numbers.
    are_numbers = column.content is not Content.NAMES and all(
        isinstance(level, Number) for level in levels
    )
    dtype = np.float64 if are_numbers else object
    found = _index(levels, dtype).get_indexer(_index(values, dtype))
    codes = np.where(found < 0, unseen, found.astype(np.float64))
    codes[_is_missing(values)] = np.nan
    # A table of float32 alone stays one.
    return codes.astype(np.float32) if values.dtype == np.float32 else codes


def _check_same_content(column: Column, levels: Levels) -> None:
    """Refuse numbers for names and the reverse: every one of them would be an unseen level."""
    known = column.values[~_is_missing(column.values)]
    if not len(known) or not levels:
        return
    were_numbers = {isinstance(level, Number) for level in levels}
    are_numbers = {issubclass(one, Number) for one in set(map(type, known))}
    if were_numbers.isdisjoint(are_numbers):
        before, now = ("numbers", "names") if True in were_numbers else ("names", "numbers")
        raise ValueError(
            f"Column {column.name!r} held {before} such as {levels[0]!r} in fit and holds {now} "
            f"such as {known[:1].tolist()[0]!r} now. Give it in the form that it had in fit."
        )


def _index(values: Any, dtype: Any = object) -> pd.Index[Any]:
    index: pd.Index[Any] = pd.Index(values, dtype=dtype, tupleize_cols=False)
    return index


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(pd.isna(values))
