"""The parameter `categorical_features`, one reading for every estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from immigrate.typing import Mask

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
    mask = np.zeros(len(names), dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features == FROM_DTYPE:
            return None
        raise _not_understood(categorical_features)
    items = np.asarray(categorical_features, dtype=object)
    if items.ndim != 1:
        raise _not_understood(categorical_features)
    if items.size and all(isinstance(item, bool | np.bool_) for item in items):
        return _full_mask(items, len(names))
    for item in items:
        mask[_position(item, names, categorical_features)] = True
    return mask


def _full_mask(items: Any, n_features: int) -> Mask:
    if items.shape != (n_features,):
        raise ValueError(
            f"categorical_features is a mask of {len(items)} entries, but X has {n_features} "
            "features. Give one entry per feature."
        )
    return np.asarray(items, dtype=bool)


def _position(item: Any, names: Sequence[str], given: Any) -> int:
    if isinstance(item, str):
        if item in names:
            return names.index(item)
        more = ", ..." if len(names) > 10 else ""
        raise ValueError(
            f"categorical_features names {item!r}, but the columns of X are "
            f"{', '.join(map(repr, names[:10]))}{more}. Use one of these names, indices or a mask."
        )
    if not isinstance(item, int | np.integer) or isinstance(item, bool):
        raise _not_understood(given)
    if not -len(names) <= item < len(names):
        raise ValueError(
            f"categorical_features has index {item}, but X has {len(names)} features. Count "
            "from 0."
        )
    return int(item)


def _not_understood(given: Any) -> ValueError:
    return ValueError(
        f"categorical_features={given!r} is not understood; give column names, indices or a "
        "mask, 'from_dtype' (text and category columns), or None (no column)."
    )
