"""The size that a table would have shown, by its definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from immigrate.additive.cleared import EstimatedContrast
from immigrate.additive.moments import KnownContrast, Matrix
from immigrate.interactions.findings import detectable_size


def contrast(variance, share_left=0.8, dispersion=1.0, is_estimated=False):
    n, nothing = len(variance), np.empty((0, len(variance)))
    own = (np.zeros((n, 1)), variance, share_left, dispersion)
    if is_estimated:
        return EstimatedContrast(*own, nothing.T, np.ones(n), np.ones(n), nothing, nothing)
    return KnownContrast(*own, variance, Matrix(nothing))


@pytest.mark.parametrize("n_tests", [1, 105])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("is_estimated", [False, True])
def test_the_size_is_that_of_a_two_sided_test_with_a_power_of_80_per_cent(
    n_tests, alpha, is_estimated
):
    """Bonferroni over tests, four forms and the contrasts; the variance of the mean contrast."""
    rng = np.random.default_rng(0)
    contrasts = [
        contrast(rng.uniform(0.1, 0.3, 50), 0.9 - 0.1 * c, 1.0 + c, is_estimated) for c in range(3)
    ]
    limit = stats.norm.isf(alpha / 2 / (4 * 3 * n_tests))
    variance = [c.dispersion**2 / (c.share_left * c.variance.sum()) for c in contrasts]
    expected = (limit + stats.norm.ppf(0.8)) * np.sqrt(np.mean(variance))
    expected *= 1.18 if is_estimated else 1.0
    assert detectable_size(contrasts, n_tests, alpha, 1.0) == pytest.approx(expected)
    assert detectable_size(contrasts, n_tests, alpha, 7.0) == pytest.approx(7 * expected)


def test_no_tests_are_one():
    one = [contrast(np.full(40, 0.25))]
    assert detectable_size(one, 0, 0.05, 1.0) == detectable_size(one, 1, 0.05, 1.0)
