"""Checks of parameters: each error says what came, what was expected, what to do.

They know nothing of tables or estimators, so that every layer can use them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

from immigrate.arrays import Mask

FROM_DTYPE = "from_dtype"
# A few multiples of what lies between these, or parts of it, are still floats of full precision.
SMALLEST, LARGEST = 1e-300, 1e300


class InputError(ValueError):
    """What the user gave cannot be used; the message says what came and what to do.

    Parameters
    ----------
    message : str
        For those who call the library from Python.
    shell : str, optional
        The same for those who type commands, where they would do something else.

    Examples
    --------
    >>> from immigrate.checks import InputError
    >>> error = InputError("n_jobs must not be 0.", shell="--jobs must not be 0.")
    >>> print(error, "|", error.shell)
    n_jobs must not be 0. | --jobs must not be 0.
    """

    def __init__(self, message: str, *, shell: str | None = None) -> None:
        super().__init__(message)
        self.shell = message if shell is None else shell


def check_option(name: str, value: Any, choices: Collection[str]) -> str:
    """`value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {sorted(choices)}.")
    return value


def check_option_or_none(name: str, value: Any, choices: Collection[str]) -> str | None:
    """`value` if it is None or one of `choices`."""
    if value is not None and (not isinstance(value, str) or value not in choices):
        raise ValueError(f"{name}={value!r} is unknown; choose None or one of {sorted(choices)}.")
    return value


def check_choices(name: str, choices: Any) -> Sequence[Any]:
    """`choices` if it is a list of things to choose from, each of them once."""
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise ValueError(f"{name} must be a list of choices, got {choices!r}.")
    try:
        is_twice = len(set(choices)) < len(choices)
    except TypeError:  # a list among them, say, which is refused as what it is
        is_twice = False
    if is_twice:
        raise ValueError(f"{name}={choices!r} holds a choice twice.")
    return choices


def check_finite(name: str, value: Any) -> float:
    """`value` as a finite float."""
    if not _is_real(value) or not np.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def check_positive(name: str, value: Any) -> float:
    """`value` as a float above 0 that is neither tiny nor huge."""
    if not _is_real(value) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a number above 0, got {value!r}.")
    if not SMALLEST <= value <= LARGEST:
        raise ValueError(
            f"{name} must be a number between {SMALLEST:.0e} and {LARGEST:.0e}, got {value!r}."
        )
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """`value` as a finite float, 0 or more."""
    if not _is_real(value) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number, 0 or more, got {value!r}.")
    return float(value)


def check_share(name: str, value: Any) -> float:
    """`value` as a float between 0 and 1, neither of them."""
    if not _is_real(value) or not 0 < value < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}.")
    return float(value)


def check_fraction(name: str, value: Any) -> float:
    """`value` as a float from 0 to 1, both of them allowed."""
    if not _is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}.")
    return float(value)


def check_count(name: str, value: Any) -> int:
    """`value` as a whole number, 1 or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")
    return int(value)


def check_jobs(n_jobs: Any) -> Any:
    """`n_jobs` if it is None or a whole number other than 0."""
    if n_jobs is None or (_is_real(n_jobs) and isinstance(n_jobs, Integral) and n_jobs != 0):
        return n_jobs
    words = f"a whole number such as 2, or -1 for all cores; got {n_jobs!r}."
    raise InputError(f"n_jobs must be None, {words}", shell=f"--jobs must be {words}")


def check_sample_size(name: str, value: Any) -> int | float | str | None:
    """`value` if it says how many samples to take: None, "auto", a count or a share of them."""
    if value is None or (isinstance(value, str) and value == "auto"):
        return value
    if _is_real(value) and isinstance(value, Integral) and int(value) >= 2:
        return int(value)
    if _is_real(value) and not isinstance(value, Integral) and 0 < float(value) <= 1:
        return float(value)
    raise ValueError(
        f"{name} must be 'auto', None for all samples, a whole number, 2 or more, or a share "
        f"above 0 and up to 1.0; got {value!r}."
    )


def check_selected_count(count: Any, n_features: int) -> None:
    """Refuse a number of features to select that is neither None, a share nor a possible count."""
    if count is None:
        return
    is_whole = isinstance(count, Integral)
    if _is_real(count) and not is_whole and 0 < count <= 1:
        return
    if not _is_real(count) or not is_whole or count < 1:
        raise ValueError(
            "n_features_to_select must be a whole number, 1 or more, a share above 0 and up to "
            f"1.0, or None; got {count!r}."
        )
    if count > n_features:
        raise ValueError(
            f"n_features_to_select={count}, but X has {n_features} features; ask for no more, "
            "or for a share such as 0.5."
        )


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def chosen_mask(categorical_features: Any, names: Sequence[str]) -> Mask | None:
    """Which columns the user calls categorical; None where the types of the columns decide.

    Parameters
    ----------
    categorical_features : "from_dtype", array-like of names, indices or bool, or None
    names : sequence of str
        Names of the columns, x0, x1, ... where they have none.

    Examples
    --------
    >>> from immigrate.checks import chosen_mask
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
    >>> from immigrate.checks import named_mask
    >>> named_mask(["c", 0], ["a", "b", "c"], "adjust_for")
    array([ True, False,  True])
    """
    items = np.asarray([given] if isinstance(given, str | int) else given, dtype=object)
    if items.ndim != 1:
        raise _not_understood(given, parameter)
    # Before positions are looked for: in Python, True is also the index 1.
    if items.size and all(isinstance(item, bool | np.bool_) for item in items):
        if items.shape != (len(names),):
            raise ValueError(
                f"{parameter} is a mask of {len(items)} entries, but X has {len(names)} features. "
                "Give one entry per feature."
            )
        return np.asarray(items, dtype=bool)
    mask = np.zeros(len(names), dtype=bool)
    for item in items:
        mask[named_position(item, names, parameter)] = True
    return mask


def named_position(item: Any, names: Sequence[str], parameter: str) -> int:
    """The position of a column by its name or index.

    Examples
    --------
    >>> from immigrate.checks import named_position
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
    >>> from immigrate.checks import meant_name
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
