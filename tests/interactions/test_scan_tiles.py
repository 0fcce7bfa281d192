"""Which terms of a tile may be left out: never one whose p is below the limit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

from immigrate.additive.p_values import log_chi2_tail, log_three_moment_tail
from immigrate.interactions.scan_tiles import (
    KERNEL_MARGIN,
    Marginal,
    TileForms,
    TileNull,
    _outer_limits,
)


def side(rng, a, k=4):
    """Columns of odd sizes, some of which enter the score."""
    sizes = rng.uniform(0.05, 1, (a, k)) / np.arange(1, k + 1)
    n_low = rng.integers(1, k + 1, a)
    is_low = np.arange(k) < n_low[:, None]
    powers = np.array([(sizes**i).sum(axis=1) for i in (1, 2, 3)])
    return Marginal(powers, np.where(is_low, 1 / sizes, 0.0), np.ones(a, dtype=bool))


@pytest.fixture(params=[0, 1])
def null(request):
    rng = np.random.default_rng(request.param)
    return TileNull(side(rng, 5), side(rng, 7))


@pytest.mark.parametrize("p", [0.1, 1e-3, 1e-12])
def test_the_limit_of_the_kernel_form_is_below_that_of_every_term(null, p):
    """(q - mean) / deviation at this p, of all terms, is above the limit, and of one hardly."""
    df = np.outer(null.left.df, null.right.df)
    own = (2 * special.gammainccinv(df / 2, p) - df) / np.sqrt(df)
    limit = null._kernel_limit(p)
    assert limit <= own.min()
    grid = np.geomspace(df.min(), df.max(), 1000)
    lowest = ((2 * special.gammainccinv(grid / 2, p) - grid) / np.sqrt(grid)).min()
    assert limit >= lowest - 1.1 * KERNEL_MARGIN


def test_degrees_of_freedom_are_those_of_three_moments(null):
    _, second, third = null.left.powers
    np.testing.assert_allclose(null.left.df, second**3 / third**2)
    np.testing.assert_array_equal(null.left.n_low, (null.left.low_inverse > 0).sum(axis=1))


def test_without_any_columns_no_kernel_form_passes():
    nothing = Marginal(np.zeros((3, 2)), np.zeros((2, 4)), np.zeros(2, dtype=bool))
    other = side(np.random.default_rng(0), 3)
    assert TileNull(nothing, other)._kernel_limit(0.01) == np.inf
    assert TileNull(other, nothing)._kernel_limit(0.01) == np.inf


@pytest.mark.parametrize("log_limit", [-3.0, -9.0])
def test_what_could_pass_is_what_a_form_says(null, log_limit):
    """Each form by itself, a little above and below the q at which its p is the limit."""
    shape = (len(null.left.n_low), len(null.right.n_low))
    df = np.outer(null.left.n_low, null.right.n_low)
    at_limit = 2 * special.gammainccinv(df / 2, np.exp(log_limit))
    low, nothing = np.zeros(shape), [np.zeros(shape)] * 2
    for factor, passes in [(1.001, True), (0.999, False)]:
        found = null.could_pass(TileForms(low, factor * at_limit, nothing), log_limit)
        assert np.all(found == passes)
    single = 2 * special.gammainccinv(0.5, np.exp(log_limit))
    for factor, passes in [(1.001, True), (0.999, False)]:
        for place in (0, 1):
            forms = [np.zeros(shape), np.zeros(shape)]
            forms[place] += factor * single
            assert np.all(null.could_pass(TileForms(low, low, forms), log_limit) == passes)
    moments = [np.outer(a, b) for a, b in zip(null.left.powers, null.right.powers)]
    q = np.linspace(0, 60, 400)[:, None, None] * np.sqrt(moments[1])
    log_p = log_three_moment_tail(q, tuple(np.broadcast_to(one, q.shape) for one in moments))
    for kernel, own in zip(q, log_p):
        found = null.could_pass(TileForms(kernel, low, nothing), log_limit)
        assert np.all(found[own < log_limit])


def test_results_are_the_tails_of_the_forms(null):
    rng = np.random.default_rng(3)
    shape = (5, 7)
    forms = TileForms(
        *rng.uniform(0, 20, (2, *shape)), [rng.uniform(0, 9, shape) for _ in range(2)]
    )
    index = np.nonzero(np.ones(shape))
    found = null.results(forms, index, 2)
    for t, (i, j) in enumerate(zip(*index)):
        df = null.left.n_low[i] * null.right.n_low[j]
        moments = tuple(null.left.powers[:, i] * null.right.powers[:, j])
        expected = [
            log_chi2_tail(forms.score[i, j], df),
            log_three_moment_tail(forms.kernel[i, j], tuple(map(np.asarray, moments))),
            *[log_chi2_tail(single[i, j], 1) for single in forms.single],
        ]
        np.testing.assert_allclose(found.log_p[:, t], expected, rtol=1e-12)
    assert np.all(found.weight == 1)
    np.testing.assert_allclose(null.results(forms, index, 3).log_p[0], found.log_p[0])
    assert len(null.results(forms, index, 3).log_p) == 1


@pytest.mark.parametrize("left", [[2], [2, 2], [1, 2], [2, 1, 1]])
@pytest.mark.parametrize("right", [[3], [3, 3, 3], [1, 3], [3, 1, 1]])
def test_limits_are_those_of_the_products_of_both_counts(left, right):
    limits = np.arange(20.0) ** 2
    found = _outer_limits(limits, np.array(left), np.array(right))
    expected = [[limits[one * other] for other in right] for one in left]
    np.testing.assert_array_equal(np.broadcast_to(found, (len(left), len(right))), expected)
    assert np.isscalar(found) == (len(set(left)) == len(set(right)) == 1)
