"""Levels without an order: each is the index of its name."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.kinds.column import (
    NUMBER_TYPES,
    Column,
    Content,
    Kind,
    Levels,
    as_float,
    dates_refused,
)


class Nominal(Kind):
    """Levels without an order; one that was not there in fit has the next free code."""

    name = "nominal"
    is_nominal = True

    @classmethod
    def fit(cls, column: Column, is_listed: bool | None) -> Self | None:
        """Levels of what is listed; where nothing is listed, of all names without an order."""
        has_order = column.is_ordered and column.categories is not None
        is_named = column.content is Content.NAMES and not has_order
        if not is_listed and (is_listed is not None or not is_named):
            return None
        known = column.values[~pd.isna(column.values)]
        if column.content is not Content.NAMES:
            numbers = np.unique(known).tolist()
            return cls(tuple(int(x) if float(x).is_integer() else float(x) for x in numbers))
        if column.categories is None:
            return cls(_sorted(list(set(known))))
        # Categories that no row has are left out: they would be columns of zeros.
        seen = set(known)
        return cls(tuple(level for level in column.categories if level in seen))

    def read(self, column: Column) -> NDArray[np.floating[Any]]:
        """Codes of levels."""
        return level_codes(column, self.levels, unseen=len(self.levels))

    def is_coded(self, is_frame: bool) -> bool:
        """Every number is a level."""
        return True


def level_codes(column: Column, levels: Levels, unseen: float) -> NDArray[np.floating[Any]]:
    """The index of each value among the levels, NaN where missing; one of none is `unseen`."""
    if column.content is Content.DATES:
        raise dates_refused(column)
    values, is_missing = column.values, pd.isna(column.values)
    # Equal as Python sees it, so that 1 is 1.0, in every container.
    code = {level: float(j) for j, level in enumerate(levels)}
    codes = np.array([code.get(value, -1.0) for value in values.tolist()], dtype=np.float64)
    is_unseen = (codes < 0) & ~is_missing
    if is_unseen.sum() == (~is_missing).sum():
        _check_same_content(column, values[~is_missing], levels)
    codes[is_unseen], codes[is_missing] = unseen, np.nan
    # A table of float32 alone stays one.
    return codes.astype(np.float32) if values.dtype == np.float32 else codes


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


def _check_same_content(column: Column, known: NDArray[Any], levels: Levels) -> None:
    """Refuse numbers for names and the like: every one of them would be an unseen level."""
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
