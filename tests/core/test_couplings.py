from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from immigrate.core.couplings import soft_coupling, soft_minimum
from immigrate.core.objective import anchor_cost, entropy

distances = arrays(float, st.integers(1, 12), elements=st.floats(0, 1e3))
sigmas = st.floats(1e-6, 1e6)


@given(distances, sigmas)
def test_coupling_is_a_probability_that_falls_with_distance(q, sigma):
    alpha = soft_coupling(q, sigma)
    assert alpha.sum() == pytest.approx(1)
    assert (np.diff(alpha[np.argsort(q, kind="stable")]) <= 0).all()


def test_coupling_is_equation_4():
    q = np.array([0.3, 1.2, 2.0])
    weight = np.exp(-q / 0.7)
    np.testing.assert_allclose(soft_coupling(q, 0.7), weight / weight.sum(), rtol=1e-14)


@given(distances, sigmas)
def test_soft_minimum_lies_between_minimum_and_minimum_less_entropy(q, sigma):
    value = soft_minimum(q, sigma)
    rounding = 1e-12 * (sigma + q.max())
    assert q.min() - sigma * np.log(len(q)) - rounding <= value <= q.min() + rounding


@given(distances, st.floats(1e-2, 1e2))
def test_free_energy_is_expected_distance_minus_sigma_entropy(q, sigma):
    alpha = soft_coupling(q, sigma)
    assert soft_minimum(q, sigma) == pytest.approx(
        alpha @ q - sigma * entropy(alpha), rel=1e-9, abs=1e-9
    )


@given(distances, distances, st.floats(1e-2, 1e2), st.randoms(use_true_random=False))
def test_equation_4_is_the_saddle_point_of_equation_11(q_hit, q_miss, sigma, random):
    """No other alpha lowers the cost and no other beta raises it."""
    alpha, beta = soft_coupling(q_hit, sigma), soft_coupling(q_miss, sigma)
    at_saddle = anchor_cost(q_hit, alpha, q_miss, beta, sigma)
    slack = 1e-9 * (1 + abs(at_saddle) + sigma)
    assert anchor_cost(q_hit, _other(alpha, random), q_miss, beta, sigma) >= at_saddle - slack
    assert anchor_cost(q_hit, alpha, q_miss, _other(beta, random), sigma) <= at_saddle + slack


def _other(probability, random):
    noisy = probability + np.array([random.random() for _ in probability])
    return noisy / noisy.sum()
