from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
)

MIXTURES = [
    np.outer(1 / np.arange(1, 5) ** 2, 1 / np.arange(1, 5) ** 2).ravel(),
    np.array([1.0, 0.9, 0.8, 0.1]),
    np.ones(6),
    np.array([2.0]),
]


def moments(eigenvalues):
    return tuple(np.sum(eigenvalues**i) for i in (1, 2, 3))


def exact_tail(q, eigenvalues, n_draws=400_000):
    draws = np.random.default_rng(0).chisquare(1, (n_draws, len(eigenvalues))) @ eigenvalues
    return np.mean(draws[:, None] > q, axis=0)


@pytest.mark.parametrize("df", [1, 2.5, 4, 16])
def test_chi2_tail_is_that_of_scipy(df):
    x = np.array([0.0, 0.1, 1.0, 10.0, 100.0, 600.0])
    np.testing.assert_allclose(
        log_chi2_tail(x, df), stats.chi2.logsf(x, df), rtol=1e-10, atol=1e-12
    )


def test_chi2_tail_is_finite_and_falling_where_floats_end():
    x = np.array([1200.0, 1300.0, 1500.0, 1e5, 1e8])
    tail = log_chi2_tail(x, 4.0)
    assert np.isfinite(tail).all()
    np.testing.assert_allclose(tail, np.log1p(x / 2) - x / 2, rtol=1e-10)


@pytest.mark.parametrize("eigenvalues", MIXTURES)
def test_three_moments_are_close_in_the_body(eigenvalues):
    q = np.quantile(np.linspace(0.2, 4, 9) * eigenvalues.sum(), np.linspace(0, 1, 9))
    p = np.exp(log_three_moment_tail(q, moments(eigenvalues)))
    np.testing.assert_allclose(p, exact_tail(q, eigenvalues), atol=0.06)


@pytest.mark.parametrize("eigenvalues", MIXTURES)
def test_saddlepoint_is_within_a_tenth_in_the_tail(eigenvalues):
    q = eigenvalues.sum() * np.array([3.0, 4.0, 5.0])
    p = exact_tail(q, eigenvalues)
    is_known = p > 3e-4
    log_p = log_saddlepoint_tail(q[is_known], np.tile(eigenvalues, (is_known.sum(), 1)))
    np.testing.assert_allclose(np.exp(log_p), p[is_known], rtol=0.15)


def test_saddlepoint_of_equal_eigenvalues_is_chi2_however_far_out():
    q = np.array([20.0, 100.0, 1000.0])
    log_p = log_saddlepoint_tail(q, np.ones((3, 4)))
    np.testing.assert_allclose(log_p, stats.chi2.logsf(q, 4), atol=0.05)


def test_p_values_fall_as_the_form_grows():
    eigenvalues = MIXTURES[0]
    q = np.linspace(0, 60, 2000)
    assert np.all(np.diff(log_three_moment_tail(q, moments(eigenvalues))) <= 1e-12)


def test_an_empty_form_has_p_one():
    zero = np.zeros(3)
    assert np.all(log_three_moment_tail(zero, (zero, zero, zero)) == 0)


def test_cauchy_keeps_equal_p_values():
    log_p = np.log([0.5, 0.05, 1e-6, 1e-12, 1e-200])
    np.testing.assert_allclose(cauchy_combination(np.stack([log_p] * 3)), log_p, rtol=1e-6)
    np.testing.assert_allclose(cauchy_combination(np.full((2, 1), -5000.0)), -5000.0)


def test_cauchy_of_no_evidence_is_one():
    assert cauchy_combination(np.zeros((2, 1))) == 0


def test_cauchy_of_one_tiny_p_value_is_twice_it():
    combined = cauchy_combination(np.array([[-300.0], [np.log(0.7)]]))
    np.testing.assert_allclose(combined, -300 + np.log(2))


def test_cauchy_weighs_p_values_and_leaves_out_those_of_weight_zero():
    log_p, weight = np.log([[1e-9], [0.6], [1e-30]]), np.array([[3.0], [1.0], [0.0]])
    np.testing.assert_allclose(cauchy_combination(log_p, weight), np.log(1e-9 * 4 / 3))
    assert cauchy_combination(log_p, np.zeros((3, 1))) == 0


def test_cauchy_of_independent_p_values_is_uniform():
    p = np.random.default_rng(0).uniform(size=(2, 20_000))
    combined = np.exp(cauchy_combination(np.log(p)))
    assert stats.kstest(combined, "uniform").pvalue > 0.01


def test_cauchy_is_continuous_across_the_small_p_switch():
    log_p = np.log([[0.99999e-7, 1.00001e-7], [0.3, 0.3]])
    first, second = cauchy_combination(log_p)
    np.testing.assert_allclose(first, second, atol=1e-4)
