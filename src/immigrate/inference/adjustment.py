"""Many p-values at once. All in logarithms; `n_tests` counts tests whose p is not listed."""

from __future__ import annotations

import numpy as np

from immigrate.typing import Array


def holm(log_p: Array, n_tests: int | None = None) -> Array:
    """Log of Holm's step-down adjusted p-values: family-wise error under any dependence.

    Tests that are not listed must have larger p-values than all that are.
    """
    order, back = _sorting(log_p)
    left = (n_tests or len(log_p)) - np.arange(len(log_p))
    adjusted = np.maximum.accumulate(log_p[order] + np.log(left))
    return np.minimum(adjusted, 0.0)[back]


def benjamini_hochberg(log_p: Array, n_tests: int | None = None, n_found: int = 0) -> Array:
    """Log of adjusted p-values for the false discovery rate.

    `n_found` tests with smaller p-values, which are neither listed nor in `n_tests`, were
    rejected before.
    """
    order, back = _sorting(log_p)
    ranks = n_found + np.arange(1, len(log_p) + 1)
    scaled = log_p[order] + np.log((n_found + (n_tests or len(log_p))) / ranks)
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 0.0)[back]


def westfall_young(log_p: Array, smallest_null_log_p: Array) -> Array:
    """Log of single-step min-p adjusted p-values, from the smallest p of each null draw.

    The data count as one draw, so no adjusted p is below 1 / (n_draws + 1).
    """
    null = np.sort(smallest_null_log_p)
    n_as_small = np.searchsorted(null, log_p, side="right")
    return np.log((1 + n_as_small) / (1 + len(null)))


def _sorting(log_p: Array) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(log_p, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return order, back
