from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.mixing import mixture_shares


def likelihood_of(shares, log_likelihood):
    return np.log(shares @ np.exp(log_likelihood)).mean()


@pytest.mark.parametrize("seed", range(5))
def test_no_direction_raises_the_likelihood(seed):
    """The likelihood is concave: at its top the mean of l_m / mixture is 1, or less at share 0."""
    log_likelihood = np.log(np.random.default_rng(seed).uniform(0.05, 1.0, size=(6, 80)))
    shares = mixture_shares(log_likelihood)
    slope = (np.exp(log_likelihood) / (shares @ np.exp(log_likelihood))).mean(axis=1)
    assert shares.sum() == pytest.approx(1)
    assert slope.max() < 1.02
    assert slope[shares > 0.05] == pytest.approx(1, abs=0.02)


def test_a_mixture_is_at_least_as_likely_as_its_likeliest_member():
    log_likelihood = np.log(np.random.default_rng(0).uniform(0.01, 1.0, size=(4, 50)))
    mixed = likelihood_of(mixture_shares(log_likelihood), log_likelihood)
    assert mixed >= log_likelihood.mean(axis=1).max()


def test_a_model_that_is_always_likeliest_stands_alone():
    log_likelihood = np.log([[0.9, 0.8, 0.7, 0.95], [0.3, 0.4, 0.2, 0.1]])
    assert mixture_shares(log_likelihood)[0] > 0.999


def test_samples_that_everybody_finds_impossible_do_no_harm():
    log_likelihood = np.array([[-1e300, -0.1], [-1e300, -2.0]])
    shares = mixture_shares(log_likelihood)
    assert np.all(np.isfinite(shares))
    assert shares[0] > shares[1]


def test_equal_models_share_equally():
    np.testing.assert_allclose(mixture_shares(np.full((3, 10), -0.5)), 1 / 3)
