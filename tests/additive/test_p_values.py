from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from immigrate.additive.p_values import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
    widened,
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


def log_tail_by_quadrature(x, df):
    """P(chi2 > x) with exp(-x / 2) (x / 2)^(df / 2 - 1) taken out of the integral."""
    a, half = df / 2, x / 2
    rest, _ = integrate.quad(lambda t: np.exp(-t) * (1 + t / half) ** (a - 1), 0, np.inf)
    return -half + (a - 1) * np.log(half) - special.gammaln(a) + np.log(rest)


@pytest.mark.parametrize("df", [0.7, 1.0, 3.0, 16.0, 60.0])
def test_chi2_tail_beyond_the_smallest_float_is_its_integral(df):
    x = np.array([1600.0, 4000.0, 1e6])
    expected = [log_tail_by_quadrature(one, df) for one in x]
    np.testing.assert_allclose(log_chi2_tail(x, df), expected, rtol=1e-12)


def test_near_and_far_tails_are_told_apart_one_by_one():
    x, df = np.array([[3.0, 1600.0], [1600.0, 3.0]]), np.array([1.0, 5.0])
    found = log_chi2_tail(x, df)
    for index in np.ndindex(found.shape):
        own = df[index[1]]
        near = stats.chi2.logsf(3.0, own)
        expected = near if x[index] == 3 else log_tail_by_quadrature(1600.0, own)
        assert found[index] == pytest.approx(expected, rel=1e-12)


def lugannani_rice(q, eigenvalues):
    """The formula as it was published, at a saddlepoint that a bracketing search finds."""
    top = 1 / (2 * eigenvalues.max())

    def slope(t):
        return np.sum(eigenvalues / (1 - 2 * t * eigenvalues)) - q

    t = optimize.brentq(slope, 0, top * (1 - 1e-12), xtol=1e-300, rtol=1e-15)
    shrunk = 1 - 2 * t * eigenvalues
    w = np.sqrt(2 * (t * q + np.log(shrunk).sum() / 2))
    v = t * np.sqrt(2 * np.sum((eigenvalues / shrunk) ** 2))
    return stats.norm.logsf(w + np.log(v / w) / w)


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e5])
@pytest.mark.parametrize("eigenvalues", MIXTURES)
def test_saddlepoint_is_that_of_lugannani_and_rice(eigenvalues, unit):
    """Also where rounding has left an eigenvalue below 0, which counts as none."""
    q = eigenvalues.sum() * np.array([1.5, 3.0, 10.0, 100.0])
    padded = np.append(eigenvalues, -1e-18)
    found = log_saddlepoint_tail(unit * q, np.tile(unit * padded, (len(q), 1)))
    np.testing.assert_allclose(found, [lugannani_rice(one, eigenvalues) for one in q], rtol=1e-7)


@pytest.mark.parametrize("eigenvalues", MIXTURES)
def test_three_moments_are_pearsons_in_the_tail_and_satterthwaites_at_0(eigenvalues):
    mean, second, third = moments(eigenvalues)
    df = second**3 / third**2
    q = mean + np.sqrt(2 * second) * np.array([1.5, 3.0, 8.0])
    x = (q - mean) / np.sqrt(2 * second) * np.sqrt(2 * df) + df
    pearson = stats.chi2.logsf(x, df)
    found = log_three_moment_tail(q, (mean, second, third))
    np.testing.assert_allclose(found, pearson, rtol=1e-9)
    small = mean * np.array([0.0, 1e-4, 1e-3])
    satterthwaite = stats.chi2.sf(small * mean / second, mean**2 / second)
    found = np.exp(log_three_moment_tail(small, (mean, second, third)))
    assert found[0] == 1
    pearson = stats.chi2.sf((small - mean) * np.sqrt(df / second) + df, df)
    share = (satterthwaite - 0.2) / 0.8
    np.testing.assert_allclose(found, pearson + share * (satterthwaite - pearson), rtol=1e-9)


def test_cauchy_is_the_weighted_mean_of_tangents():
    log_p, weight = np.log([[0.02, 0.9], [0.3, 0.4]]), np.array([[2.0], [1.0]])
    score = (
        2 * np.tan(np.pi * (0.5 - np.exp(log_p[0]))) + np.tan(np.pi * (0.5 - np.exp(log_p[1])))
    ) / 3
    expected = np.log(stats.cauchy.sf(score))
    np.testing.assert_allclose(cauchy_combination(log_p, weight), expected, rtol=1e-12)


def test_a_p_value_of_one_does_not_veto_the_others():
    """Its score is cut, where it would be minus infinity; beside it 1e-5 is still evidence."""
    combined = np.exp(cauchy_combination(np.array([[np.log(1e-5)], [0.0]])))[0]
    assert 2e-5 < combined < 2.1e-5
    assert cauchy_combination(np.full((2, 1), np.log(0.9991))) == 0
    assert cauchy_combination(np.full((2, 1), np.log(0.9985))) == pytest.approx(np.log(0.9985))


def test_what_few_samples_add_is_near_the_variance_of_the_statistic():
    """Of drawn coins with few heads; beside the sum of cumulants times the squares of columns."""
    rng = np.random.default_rng(0)
    n, mu = 300, 0.05
    angle = np.pi * rng.random((2, n))
    phi = np.sqrt(2) * np.cos(np.arange(1, 3)[:, None, None] * angle)  # (2, 2, n)
    C = (phi[:, None, 0] * phi[None, :, 1]).reshape(4, n)
    drawn = (rng.random((20_000, n)) < mu) - mu
    q = np.sum((drawn @ C.T) ** 2, axis=1)
    v = mu * (1 - mu)
    S, kurtosis = v * C @ C.T, C**4 @ np.full(n, v * (1 - 6 * v))
    powers = [np.trace(np.linalg.matrix_power(S, i))[None, None] for i in (1, 2, 3)]
    mean, second, _ = widened(tuple(powers), kurtosis[None])
    np.testing.assert_allclose(np.mean(q), mean[0, 0], rtol=0.03)
    np.testing.assert_allclose(np.var(q), 2 * second[0, 0], rtol=0.12)
    assert np.var(q) > 2.1 * powers[1][0, 0]
