"""Many p-values at once. All in logarithms; `n_tests` counts tests whose p is not listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.inference.residuals import Draws

Kind = Literal["holm", "westfall-young", "fdr"]


@dataclass(frozen=True)
class Family:
    """P-values that are adjusted together.

    Attributes
    ----------
    log_p : ndarray
        Logarithms of the p-values at hand.
    n_tests : int
        How many tests there were, listed or not.
    smallest_null_log_p : ndarray of shape (n_draws,)
        The smallest log p of each label set drawn from the null model; empty without draws.
    n_found : int
        How many tests were found before and are not counted any more.
    """

    log_p: Array
    n_tests: int
    smallest_null_log_p: Array
    n_found: int = 0


@dataclass(frozen=True)
class Adjustment:
    """What adjusted p-values control.

    Attributes
    ----------
    kind : {"holm", "westfall-young", "fdr"} or None
        The family-wise error under any dependence, the family-wise error by draws from the null
        model, the false discovery rate, or nothing.
    draws : Draws or None
        The label sets that "westfall-young" needs.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.inference.adjustment import Adjustment, Family
    >>> family = Family(np.log([0.01, 0.04]), n_tests=2, smallest_null_log_p=np.empty(0))
    >>> np.exp(Adjustment("holm").log_adjusted(family)).round(3)
    array([0.02, 0.04])
    """

    kind: Kind | None = "holm"
    draws: Draws | None = None

    def log_adjusted(self, family: Family) -> Array:
        """Logarithms of the adjusted p-values."""
        if self.kind == "holm":
            return holm(family.log_p, family.n_tests)
        if self.kind == "fdr":
            return benjamini_hochberg(family.log_p, family.n_tests, family.n_found)
        if self.kind == "westfall-young":
            return westfall_young(family.log_p, family.smallest_null_log_p)
        return family.log_p


def holm(log_p: Array, n_tests: int | None = None) -> Array:
    """Log of Holm's step-down adjusted p-values: family-wise error under any dependence.

    Tests that are not listed must have larger p-values than all that are.
    """
    order, back = _sorting(log_p)
    # The smallest p is multiplied by all tests, the next one by one test less, and so on.
    left = (n_tests or len(log_p)) - np.arange(len(log_p))
    # A test is rejected only if all with smaller p-values are.
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
    # From the largest p down: a test is rejected if any with a larger p is.
    adjusted = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.minimum(adjusted, 0.0)[back]


def westfall_young(log_p: Array, smallest_null_log_p: Array) -> Array:
    """Log of single-step min-p adjusted p-values, from the smallest p of each null draw.

    The data count as one draw, so no adjusted p is below 1 / (n_draws + 1).
    """
    null = np.sort(smallest_null_log_p)
    # A draw that is equal counts as one that is as small.
    n_as_small = np.searchsorted(null, log_p, side="right")
    return np.log((1 + n_as_small) / (1 + len(null)))


def _sorting(log_p: Array) -> tuple[Codes, Codes]:
    order = np.argsort(log_p, kind="stable")
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return order, back
