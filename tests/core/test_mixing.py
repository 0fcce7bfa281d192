from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from immigrate.core import couplings
from immigrate.core.couplings import mixture_shares


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


@pytest.mark.parametrize(("n_models", "seed"), [(2, 0), (3, 1), (3, 2)])
def test_shares_are_those_of_a_direct_optimiser(n_models, seed, monkeypatch):
    """Of models of which each is right about some samples, so that all have a share."""
    rng = np.random.default_rng(seed)
    log_likelihood = np.log(rng.uniform(0.01, 0.3, (n_models, 60)))
    log_likelihood[rng.integers(0, n_models, 60), np.arange(60)] = np.log(0.8)

    def loss(free):
        shares = np.append(free, 1 - free.sum())
        return -likelihood_of(np.maximum(shares, 1e-9), log_likelihood)

    start = np.full(n_models - 1, 1 / n_models)
    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-12}).x
    found = mixture_shares(log_likelihood)
    np.testing.assert_allclose(found[:-1], best, atol=2e-4)
    monkeypatch.setattr(couplings, "SMALL_SHARE_CHANGE", 1e-12)
    np.testing.assert_allclose(mixture_shares(log_likelihood)[:-1], best, atol=1e-6)


def steps_by_loops(log_likelihood, n_steps):
    """Shares after each step of EM: whom every sample is due to, on average."""
    n_models, n_samples = log_likelihood.shape
    shares = [[1 / n_models] * n_models]
    for _ in range(n_steps):
        due = [0.0] * n_models
        for i in range(n_samples):
            parts = [s * np.exp(log) for s, log in zip(shares[-1], log_likelihood[:, i])]
            due = [d + part / sum(parts) for d, part in zip(due, parts)]
        shares.append([d / n_samples for d in due])
    return np.array(shares)


def test_steps_end_at_the_first_small_change(monkeypatch):
    log_likelihood = np.log(np.random.default_rng(3).uniform(0.2, 1.0, size=(3, 12)))
    path = steps_by_loops(log_likelihood, 60)
    change = np.abs(np.diff(path, axis=0)).max(axis=1)
    for small in (1e-2, 1e-3):
        monkeypatch.setattr(couplings, "SMALL_SHARE_CHANGE", small)
        last = int(np.argmax(change < small)) + 1
        assert 1 < last < 60
        np.testing.assert_allclose(mixture_shares(log_likelihood), path[last], rtol=1e-12)
    monkeypatch.setattr(couplings, "SMALL_SHARE_CHANGE", 0.0)
    for most in (0, 1, 7):
        monkeypatch.setattr(couplings, "MOST_MIXING_STEPS", most)
        np.testing.assert_allclose(mixture_shares(log_likelihood), path[most], rtol=1e-12)
