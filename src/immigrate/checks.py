"""Checks of parameters: each error says what came, what was expected, what to do.

They know nothing of tables or estimators, so that every layer can use them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

# A few multiples of what lies between these, or parts of it, are still floats of full precision.
SMALLEST, LARGEST = 1e-300, 1e300


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
    if len(set(choices)) < len(choices):
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
    raise ValueError(
        f"n_jobs must be None, a whole number such as 2, or -1 for all cores; got {n_jobs!r}."
    )


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
