"""Adjustments of p-values for many tests: one entry of `ADJUSTMENTS` each.

All in logarithms. An entry says what it is called, how it adjusts, what it controls, and what is
taken for features where it needs labels drawn from the null model. Nothing else in the library
knows one adjustment from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from immigrate.additive.residuals import Draws
from immigrate.arrays import Array, Codes
from immigrate.checks import check_count


@dataclass(frozen=True, eq=False)
class PValues:
    """P-values that are adjusted together.

    Attributes
    ----------
    log_p : ndarray
        Logarithms of the p-values at hand.
    n_tests : int or None
        How many tests there were, listed or not; those that are not listed have larger p-values.
        None is as many as are listed.
    smallest_null_log_p : ndarray of shape (n_draws,)
        The smallest log p of each label set drawn from the null model; empty without draws.
    n_found : int
        Tests with smaller p-values that were rejected before; they are neither listed nor in
        `n_tests`.
    """

    log_p: Array
    n_tests: int | None = None
    smallest_null_log_p: Array = field(default_factory=lambda: np.empty(0))
    n_found: int = 0

    @property
    def n_left(self) -> int:
        """Tests that were not found before, listed or not."""
        return self.n_tests or len(self.log_p)

    @property
    def n_all(self) -> int:
        """Tests in all."""
        return self.n_found + self.n_left


def unadjusted(p_values: PValues) -> Array:
    """The p-values as they are."""
    return p_values.log_p


def bonferroni(p_values: PValues) -> Array:
    """Each p-value times the number of tests."""
    return np.minimum(p_values.log_p + np.log(p_values.n_all), 0.0)


def holm(p_values: PValues) -> Array:
    """Holm's step-down p-values: the smallest times all tests, the next times one less, ..."""
    order = np.argsort(p_values.log_p, kind="stable")
    scaled = p_values.log_p[order] + np.log(p_values.n_left - np.arange(len(order)))
    # A test is rejected only if all with smaller p-values are.
    return _in_given_order(np.maximum.accumulate(scaled), order)


def benjamini_hochberg(p_values: PValues) -> Array:
    """False discovery rate: each p-value times the tests over its rank."""
    return _step_up(p_values, 1.0)


def benjamini_yekutieli(p_values: PValues) -> Array:
    """The same under any dependence: times the sum of 1 / i over all tests i."""
    # Without a loop: there may be millions of tests.
    return _step_up(p_values, special.digamma(p_values.n_all + 1) + np.euler_gamma)


def _step_up(p_values: PValues, factor: float) -> Array:
    order = np.argsort(p_values.log_p, kind="stable")
    ranks = p_values.n_found + np.arange(1, len(order) + 1)
    scaled = p_values.log_p[order] + np.log(factor * (p_values.n_all / ranks))
    # From the largest p down: a test is rejected if any with a larger p is.
    return _in_given_order(np.minimum.accumulate(scaled[::-1])[::-1], order)


def westfall_young(p_values: PValues) -> Array:
    """Single-step min-p: the share of label sets whose smallest p-value is as small.

    The data count as one draw, so no adjusted p is below 1 / (n_draws + 1).
    """
    null = np.sort(p_values.smallest_null_log_p)
    # A draw that is equal counts as one that is as small.
    n_as_small: Codes = np.searchsorted(null, p_values.log_p, side="right")
    return np.log((1 + n_as_small) / (1 + len(null)))


def _in_given_order(log_p: Array, order: Codes) -> Array:
    """Adjusted p-values of sorted tests in the order in which they were given; 1 at most."""
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(log_p, 0.0)
    return adjusted


@dataclass(frozen=True, eq=False)
class Adjustment:
    """A way to adjust p-values.

    Attributes
    ----------
    name : str or None
        The value of `InteractionTest(adjust=...)`.
    log_adjusted : callable
        From `PValues` to logarithms of the adjusted ones, in their order.
    method : str
        What a paper calls it.
    error : str
        The error that it controls, "" where it controls none.
    for_features : Adjustment or None
        That of the p-values of features, if it is another one: they have no draws.
    draws : Draws or None
        The label sets that it needs, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.interactions.adjustments import ADJUSTMENTS, PValues
    >>> np.exp(ADJUSTMENTS["holm"].log_adjusted(PValues(np.log([0.01, 0.04])))).round(3)
    array([0.02, 0.04])
    """

    name: str | None
    log_adjusted: Callable[[PValues], Array]
    method: str
    error: str = ""
    for_features: Adjustment | None = None
    draws: Draws | None = None


FAMILY_WISE, DISCOVERIES = "family-wise error rate", "false discovery rate"
HOLM = Adjustment("holm", holm, "Holm's method", FAMILY_WISE)
ADJUSTMENTS: dict[str | None, Adjustment] = {
    one.name: one
    for one in (
        HOLM,
        Adjustment("bonferroni", bonferroni, "Bonferroni's method", FAMILY_WISE),
        Adjustment("fdr_bh", benjamini_hochberg, "Benjamini and Hochberg's method", DISCOVERIES),
        Adjustment(
            "fdr_by",
            benjamini_yekutieli,
            "Benjamini and Yekutieli's method for any dependence",
            DISCOVERIES,
        ),
        Adjustment(
            "westfall-young",
            westfall_young,
            "the min-p method of Westfall and Young with labels drawn from the null model",
            FAMILY_WISE,
            for_features=HOLM,
        ),
        Adjustment(None, unadjusted, "no method: p-values are those of single tests"),
    )
}


def adjustment_of(adjust: Any, *, is_drawn: bool = False) -> Adjustment:
    """The adjustment that a name or `WestfallYoung` stands for.

    `is_drawn` asks for the draws that it needs, if any; each call makes others.

    Examples
    --------
    >>> from immigrate.interactions.adjustments import adjustment_of
    >>> adjustment_of("fdr_bh").error
    'false discovery rate'
    """
    name = "westfall-young" if isinstance(adjust, WestfallYoung) else adjust
    if not isinstance(name, str | None) or name not in ADJUSTMENTS:
        listed = ", ".join(map(repr, ADJUSTMENTS))
        raise ValueError(f"adjust must be one of {listed}, or WestfallYoung(); got {adjust!r}.")
    if not is_drawn or name != "westfall-young":
        return ADJUSTMENTS[name]
    options = adjust if isinstance(adjust, WestfallYoung) else WestfallYoung()
    return replace(ADJUSTMENTS[name], draws=options.draws())


class WestfallYoung(BaseEstimator):
    """Adjusted p-values by the smallest p-value over labels drawn from the null model.

    Parameters
    ----------
    n_draws : int, default=999
        Label sets drawn. No adjusted p-value is below 1 / (n_draws + 1).
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Examples
    --------
    >>> from immigrate import InteractionTest
    >>> from immigrate.options import WestfallYoung
    >>> InteractionTest(adjust=WestfallYoung(n_draws=199, random_state=0))
    InteractionTest(adjust=WestfallYoung(n_draws=199, random_state=0))
    """

    def __init__(
        self, *, n_draws: int = 999, random_state: int | np.random.RandomState | None = None
    ) -> None:
        self.n_draws = n_draws
        self.random_state = random_state

    def draws(self) -> Draws:
        """The label sets to be drawn.

        Returns
        -------
        Draws
        """
        check_count("n_draws", self.n_draws)
        # One number is drawn from the user's generator: all later draws are made from it alone.
        return Draws(self.n_draws, check_random_state(self.random_state).randint(2**31))
