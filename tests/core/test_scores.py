from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.scores import class_probability, distance_share, expected_distance


def test_expected_distance_is_the_bracket_of_equation_9():
    q = np.array([0.5, 1.5, 4.0])
    weight = np.exp(-q / 2)
    assert expected_distance(q, 2.0) == pytest.approx((weight @ q) / weight.sum(), rel=1e-14)


def test_smallest_score_is_likeliest():
    probability = class_probability(np.array([[3.0, 1.0, 2.0]]), sigma=0.5)
    assert probability.sum() == pytest.approx(1)
    assert probability.argmax() == 1


def test_share_of_no_distance_at_all_is_even():
    np.testing.assert_array_equal(distance_share(np.zeros((1, 2))), [[0.5, 0.5]])


@pytest.mark.parametrize("scale", [1e-300, 0.01, 1.0, 1e300])
def test_shares_of_distances_do_not_depend_on_units(scale):
    found = distance_share(scale * np.array([[1.0, 3.0], [0.0, 2.0]]))
    np.testing.assert_allclose(found, [[0.25, 0.75], [0.0, 1.0]], rtol=1e-14)
