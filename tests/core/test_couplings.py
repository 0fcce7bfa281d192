from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles.margin import anchor_cost, entropy, expected_distance, margin_cost

from immigrate.core.couplings import (
    class_probability,
    distance_share,
    hit_and_miss,
    own_class_probability,
    soft_coupling,
    soft_minimum,
    soft_sum,
)

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


RNG = np.random.default_rng(0)
Q = RNG.uniform(0, 3, (4, 7))
SHARE = RNG.integers(0, 3, (4, 7)).astype(float)
SHARE[0] = 0  # nobody


def test_shares_are_copies_of_a_candidate():
    sums = soft_sum(Q, 0.7, SHARE)
    energy, coupling = sums.free_energy(0.7), sums.coupling(Q, SHARE, 0.7)
    for q, share, one, alpha in zip(Q[1:], SHARE[1:], energy[1:], coupling[1:]):
        copies = np.repeat(q, share.astype(int))
        assert one == pytest.approx(-0.7 * np.log(np.sum(np.exp(-copies / 0.7))), rel=1e-13)
        expected = share * np.exp(-q / 0.7)
        np.testing.assert_allclose(alpha, expected / expected.sum(), rtol=1e-13)


def test_nobody_is_infinitely_far_and_has_no_coupling():
    sums = soft_sum(Q, 0.7, SHARE)
    assert sums.floor[0] == sums.free_energy(0.7)[0] == np.inf
    assert sums.total[0] == 0
    np.testing.assert_array_equal(sums.coupling(Q, SHARE, 0.7)[0], 0.0)


@pytest.mark.parametrize("sigma", [1e-3, 0.7, 1e3])
@pytest.mark.parametrize("cut", [0, 1, 4, 7])
def test_sums_over_parts_merge_into_the_sum_over_all(cut, sigma):
    parts = [soft_sum(Q[:, own], sigma, SHARE[:, own]) for own in (slice(cut), slice(cut, None))]
    whole = soft_sum(Q, sigma, SHARE)
    for merged in (parts[0].merged(parts[1], sigma), parts[1].merged(parts[0], sigma)):
        np.testing.assert_array_equal(merged.floor, whole.floor)
        np.testing.assert_allclose(merged.total, whole.total, rtol=1e-13)


def test_distances_of_any_size_do_not_overflow():
    q = np.array([1e300, 1.5e300, 1e-300])
    np.testing.assert_array_equal(soft_coupling(q, 1e-300), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(
        soft_coupling(q, 1e300), np.exp(-q / 1e300) / np.exp(-q / 1e300).sum()
    )
    # Down to the smallest numbers there are: exp(-740) is one.
    assert 0 < soft_coupling(np.array([0.0, 740.0]), 1.0)[1] < 1e-320


def test_misses_are_all_other_classes_together():
    energy, y = RNG.normal(size=(5, 3)), np.array([0, 1, 2, 1, 0])
    hit, miss = hit_and_miss(energy, y, 0.5)
    for row, c, own, others in zip(energy, y, hit, miss):
        assert own == row[c]
        rest = np.delete(row, c)
        assert others == pytest.approx(-0.5 * np.log(np.exp(-rest / 0.5).sum()), rel=1e-13)
    weight = RNG.uniform(size=5)
    assert margin_cost(energy, y, 0.5, weight) == pytest.approx(np.sum(weight * (hit - miss)))


def test_entropy_is_that_of_the_definition():
    assert entropy(np.array([0.25, 0.75, 0.0])) == pytest.approx(
        -0.25 * np.log(0.25) - 0.75 * np.log(0.75), rel=1e-14
    )
    assert entropy(np.full(8, 1 / 8)) == pytest.approx(np.log(8))


def test_expected_distance_is_the_bracket_of_equation_9():
    q = np.array([0.5, 1.5, 4.0])
    weight = np.exp(-q / 2)
    assert expected_distance(q, 2.0) == pytest.approx((weight @ q) / weight.sum(), rel=1e-14)


def test_smallest_score_is_likeliest():
    probability = class_probability(np.array([[3.0, 1.0, 2.0]]), sigma=0.5)
    assert probability.sum() == pytest.approx(1)
    assert probability.argmax() == 1


def test_the_probability_of_the_own_class_is_the_one_among_all():
    """One by one, for several widths, and for several candidates with a width for each."""
    rng = np.random.default_rng(0)
    score, y = rng.gamma(1.0, size=(3, 20, 4)), rng.integers(0, 4, 20)
    score[0, 0, 1] = np.inf
    widths = np.array([[0.01], [1.0], [30.0]])
    for scores, sigma in ((score[0], np.array([0.5])), (score[1], widths), (score, widths)):
        expected = class_probability(scores, sigma[..., None])[..., np.arange(20), y]
        np.testing.assert_array_equal(own_class_probability(scores, sigma, y), expected)


def test_share_of_no_distance_at_all_is_even():
    np.testing.assert_array_equal(distance_share(np.zeros((1, 2))), [[0.5, 0.5]])


@pytest.mark.parametrize("scale", [1e-300, 0.01, 1.0, 1e300])
def test_shares_of_distances_do_not_depend_on_units(scale):
    found = distance_share(scale * np.array([[1.0, 3.0], [0.0, 2.0]]))
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.0, 1.0]], rtol=1e-14)
