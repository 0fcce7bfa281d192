from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.scores import (
    class_probability,
    distance_share,
    expected_distance,
    own_class_probability,
)


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
