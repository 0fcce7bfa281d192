"""The parameter `categorical_features`, one reading for every estimator."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from immigrate.arrays import Mask

FROM_DTYPE = "from_dtype"


def chosen_mask(categorical_features: Any, names: Sequence[str]) -> Mask | None:
    """Which columns the user calls categorical; None where the types of the columns decide.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of names, indices or bool, or None
    names : sequence of str
        Names of the columns, x0, x1, ... where they have none.

    Examples
    --------
    >>> from immigrate.columns.choice import chosen_mask
    >>> chosen_mask(["b", 0], ["a", "b", "c"])
    array([ True,  True, False])
    """
    if categorical_features is None:
        return np.zeros(len(names), dtype=bool)
    if isinstance(categorical_features, str):
        if categorical_features == FROM_DTYPE:
            return None
        raise _not_understood(categorical_features)
    return named_mask(categorical_features, names, "categorical_features")


def named_mask(given: Any, names: Sequence[str], parameter: str) -> Mask:
    """Which columns a list of names and indices, or a mask, stands for.

    Examples
    --------
    >>> from immigrate.columns.choice import named_mask
    >>> named_mask(["c", 0], ["a", "b", "c"], "adjust_for")
    array([ True, False,  True])
    """
    items = np.asarray([given] if isinstance(given, str | int) else given, dtype=object)
    if items.ndim != 1:
        raise _not_understood(given, parameter)
    # Before positions are looked for: in Python, True is also the index 1.
    if items.size and all(isinstance(item, bool | np.bool_) for item in items):
        return _full_mask(items, len(names), parameter)
    mask = np.zeros(len(names), dtype=bool)
    for item in items:
        mask[named_position(item, names, parameter)] = True
    return mask


def _full_mask(items: Any, n_features: int, parameter: str) -> Mask:
    if items.shape != (n_features,):
        raise ValueError(
            f"{parameter} is a mask of {len(items)} entries, but X has {n_features} features. "
            "Give one entry per feature."
        )
    return np.asarray(items, dtype=bool)


def named_position(item: Any, names: Sequence[str], parameter: str) -> int:
    """The position of a column by its name or index.

    Examples
    --------
    >>> from immigrate.columns.choice import named_position
    >>> named_position("b", ["a", "b", "c"], "pairs")
    1
    """
    if isinstance(item, str):
        if item in names:
            return list(names).index(item)
        more = ", ..." if len(names) > 10 else ""
        raise ValueError(
            f"{parameter} names {item!r}, but the columns of X are "
            f"{', '.join(map(repr, names[:10]))}{more}.{meant_name(item, names)} Use one of these "
            "names, indices or a mask."
        )
    if not isinstance(item, int | np.integer) or isinstance(item, bool):
        raise _not_understood(item, parameter)
    if not -len(names) <= item < len(names):
        raise ValueError(
            f"{parameter} has index {item}, but X has {len(names)} features. Count from 0."
        )
    # A negative index counts from the end, as in any sequence.
    return int(item) % len(names)


def meant_name(name: str, names: Sequence[Any]) -> str:
    """A sentence with the name that was meant, if one is near.

    Examples
    --------
    >>> from immigrate.columns.choice import meant_name
    >>> meant_name("Does", ["age", "dose"])
    " Did you mean 'dose'?"
    """
    folded = {one.casefold(): one for one in reversed(names) if isinstance(one, str)}
    near = get_close_matches(name.casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def _not_understood(given: Any, parameter: str = "categorical_features") -> ValueError:
    also = (
        ", 'from_dtype' (text and category columns), or None (no column)"
        if parameter == "categorical_features"
        else ", or None"
    )
    return ValueError(
        f"{parameter}={given!r} is not understood; give column names, indices or a mask{also}."
    )
