"""Adjusted p-values by their definitions, and what each adjustment says of itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from immigrate.interactions.adjustments import (
    ADJUSTMENTS,
    PValues,
    adjustment_of,
    benjamini_hochberg,
    benjamini_yekutieli,
    bonferroni,
    holm,
    unadjusted,
    westfall_young,
)
from immigrate.interactions.words import of_adjustment, of_level
from immigrate.options import WestfallYoung

P = np.array([0.04, 0.001, 0.3, 0.01, 0.9])
WITHOUT_DRAWS = [one for one in ADJUSTMENTS.values() if one.for_features is None]


def adjusted(method, p, **more):
    return np.exp(method(PValues(np.log(p), **more)))


def test_holm_multiplies_by_the_tests_left():
    np.testing.assert_allclose(adjusted(holm, P), [0.12, 0.005, 0.6, 0.04, 0.9])


def test_bonferroni_multiplies_by_all_tests():
    np.testing.assert_allclose(adjusted(bonferroni, P), [0.2, 0.005, 1.0, 0.05, 1.0])
    # Tests that were found before were made as well.
    np.testing.assert_allclose(adjusted(bonferroni, P[:1], n_tests=4, n_found=6), [0.4])


def test_false_discovery_rate_is_that_of_scipy():
    expected = stats.false_discovery_control(P)
    np.testing.assert_allclose(adjusted(benjamini_hochberg, P), expected)


# The p-values of Benjamini and Hochberg's paper, and `multipletests(.., method="fdr_by")` of
# statsmodels 0.15 for both lists.
FROM_STATSMODELS = [
    (P, [0.1522222222, 0.0114166667, 0.85625, 0.0570833333, 1.0]),
    (
        [
            0.001,
            0.008,
            0.039,
            0.041,
            0.042,
            0.06,
            0.074,
            0.205,
            0.212,
            0.216,
            0.222,
            0.251,
            0.269,
            0.275,
            0.34,
        ],
        [
            0.0497734349,
            0.1990937396,
            *([0.4180968531] * 3),
            0.497734349,
            0.5261763118,
            *([0.9776924712] * 7),
            1.0,
        ],
    ),
]


@pytest.mark.parametrize(("p", "expected"), FROM_STATSMODELS, ids=["short", "paper"])
def test_any_dependence_costs_the_harmonic_sum(p, expected):
    found = adjusted(benjamini_yekutieli, p)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found, stats.false_discovery_control(p, method="by"))


@pytest.mark.parametrize("one", WITHOUT_DRAWS, ids=lambda one: str(one.name))
def test_tests_that_are_not_listed_count(one):
    small, everything = np.sort(P)[:2], adjusted(one.log_adjusted, np.sort(P))
    np.testing.assert_allclose(adjusted(one.log_adjusted, small, n_tests=5), everything[:2])


def test_westfall_young_counts_the_data_as_a_draw():
    null = np.log(np.array([0.2, 0.02, 0.5]))
    found = adjusted(westfall_young, [0.01, 0.02, 0.9], smallest_null_log_p=null)
    np.testing.assert_allclose(found, [0.25, 0.5, 1.0])


@pytest.mark.parametrize("one", WITHOUT_DRAWS, ids=lambda one: str(one.name))
def test_no_adjusted_p_is_below_the_p_or_above_one(one):
    log_p = np.log([0.4, 0.9, 1.0])
    for more in ({}, {"n_tests": 50, "n_found": 3}):
        found = one.log_adjusted(PValues(log_p, **more))
        assert np.all(found <= 0)
        assert np.all(found >= log_p)


@pytest.mark.parametrize("method", [benjamini_hochberg, benjamini_yekutieli])
def test_tests_rejected_before_count_as_tests_and_as_finds(method):
    """As if they were listed with p-values of 0."""
    everything = adjusted(method, np.r_[1e-300, 1e-300, P])
    np.testing.assert_allclose(adjusted(method, P, n_found=2), everything[2:])


def test_a_name_stands_for_its_formula():
    expected = {
        "holm": holm,
        "bonferroni": bonferroni,
        "fdr_bh": benjamini_hochberg,
        "fdr_by": benjamini_yekutieli,
        "westfall-young": westfall_young,
        None: unadjusted,
    }
    assert {name: one.log_adjusted for name, one in ADJUSTMENTS.items()} == expected
    assert all(adjustment_of(name) is one for name, one in ADJUSTMENTS.items())


@pytest.mark.parametrize("name", ["fdr", "benjamini-yekutieli", 0.05, ["holm"]])
def test_an_unknown_name_is_refused_and_never_taken_for_none(name):
    for is_drawn in (False, True):
        with pytest.raises(ValueError, match=r"'holm', 'bonferroni', 'fdr_bh', .* got"):
            adjustment_of(name, is_drawn=is_drawn)


def test_draws_are_made_where_the_adjustment_takes_them():
    assert adjustment_of("holm", is_drawn=True) is ADJUSTMENTS["holm"]
    assert adjustment_of("westfall-young", is_drawn=True).draws.n == 999
    options = WestfallYoung(n_draws=19, random_state=3)
    drawn, again = (adjustment_of(options, is_drawn=True) for _ in range(2))
    assert drawn.draws == again.draws
    assert drawn.draws.n == 19
    assert drawn.for_features is ADJUSTMENTS["holm"]
    assert adjustment_of(options).draws is None


def test_words_name_the_error_that_is_controlled():
    assert of_adjustment(ADJUSTMENTS["holm"]) == (
        "Holm's method, which controls the family-wise error rate"
    )
    assert of_level(ADJUSTMENTS["fdr_bh"], 0.1) == "at a false discovery rate of 0.1"
    assert of_adjustment(ADJUSTMENTS[None]) == "no method: p-values are those of single tests"
    assert of_level(ADJUSTMENTS[None], 0.1) == (
        "at p up to 0.1, not adjusted for the number of tests"
    )
