from __future__ import annotations

import numpy as np
from scipy import stats

from immigrate.inference.adjustment import (
    Adjustment,
    Family,
    benjamini_hochberg,
    holm,
    westfall_young,
)

P = np.array([0.04, 0.001, 0.3, 0.01, 0.9])


def test_holm_multiplies_by_the_tests_left():
    adjusted = np.exp(holm(np.log(P)))
    np.testing.assert_allclose(adjusted, [0.12, 0.005, 0.6, 0.04, 0.9])


def test_false_discovery_rate_is_that_of_scipy():
    adjusted = np.exp(benjamini_hochberg(np.log(P)))
    np.testing.assert_allclose(adjusted, stats.false_discovery_control(P))


def test_tests_that_are_not_listed_count():
    small = np.sort(P)[:2]
    for method in (holm, benjamini_hochberg):
        everything = np.exp(method(np.log(np.sort(P))))[:2]
        np.testing.assert_allclose(np.exp(method(np.log(small), n_tests=5)), everything)


def test_westfall_young_counts_the_data_as_a_draw():
    null = np.log(np.array([0.2, 0.02, 0.5]))
    adjusted = np.exp(westfall_young(np.log([0.01, 0.02, 0.9]), null))
    np.testing.assert_allclose(adjusted, [0.25, 0.5, 1.0])


def test_an_adjustment_is_its_formula():
    null = np.log([0.2, 0.02, 0.5])
    family = Family(np.log(P), 7, null, n_found=2)
    expected = {
        "holm": holm(np.log(P), 7),
        "fdr": benjamini_hochberg(np.log(P), 7, 2),
        "westfall-young": westfall_young(np.log(P), null),
        None: np.log(P),
    }
    for kind, log_p in expected.items():
        np.testing.assert_array_equal(Adjustment(kind).log_adjusted(family), log_p)


def test_no_adjusted_p_is_above_one():
    log_p = np.log([0.4, 0.9, 1.0])
    for adjusted in (holm(log_p), benjamini_hochberg(log_p), benjamini_hochberg(log_p, 50, 3)):
        assert np.all(adjusted <= 0)
        assert np.all(adjusted >= log_p)


def test_tests_rejected_before_count_as_tests_and_as_finds():
    """As if they were listed with p-values of 0."""
    everything = benjamini_hochberg(np.log(np.r_[1e-300, 1e-300, P]))
    np.testing.assert_allclose(benjamini_hochberg(np.log(P), n_found=2), everything[2:])
