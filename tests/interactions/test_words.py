from __future__ import annotations

import numpy as np
import pytest

from immigrate.additive.levels import feature_levels
from immigrate.interactions.words import Side, feature_direction, pair_direction
from immigrate.kinds import Nominal, Number

ONES = np.ones(80)
GRID = np.linspace(-1, 1, 80)
RNG = np.random.default_rng(0)
X, Y = RNG.permutation(GRID), RNG.permutation(GRID)


def number(x, name):
    return Side(name, feature_levels(x, ONES), str, Number())


def nominal(code, name):
    levels = feature_levels(code.astype(float), ONES, is_nominal=True)
    return Side(name, levels, lambda level: "abcdef"[int(levels.value[level])], Nominal())


def far(x):
    return np.sign(np.abs(x) - 0.5)


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (X, "where x is high"),
        (-X, "where x is low"),
        (far(X), "where x is far from its middle"),
        (-far(X), "where x is near its middle"),
        (0 * X, ""),
    ],
)
def test_a_number_acts_where_it_is_high_or_far_out(f, words):
    assert feature_direction(f, ONES, number(X, "x")) == words


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (X * Y, "where x and y are both high or both low"),
        (-X * Y, "where x is high and y low, or the reverse"),
        (far(X) * far(Y), "where x and y are both far from their middle or both near it"),
        (-far(X) * far(Y), "where one of x and y is far from its middle and the other near it"),
        (X * far(Y), "where x is high and y far from its middle, or x low and y near it"),
        (-X * far(Y), "where x is high and y near its middle, or x low and y far from it"),
        (far(X) * Y, "where y is high and x far from its middle, or y low and x near it"),
        (0 * X, ""),
    ],
)
def test_two_numbers_act_where_they_agree_or_not(f, words):
    assert pair_direction(f, ONES, number(X, "x"), number(Y, "y")) == words


def test_levels_beside_a_number_are_those_where_it_helps_most():
    code = np.arange(80) % 3
    slope = np.array([0.1, 2.0, -2.1])[code]
    expected = "where x is high and group is b, or x is low and group is c"
    for sides in (
        (nominal(code, "group"), number(X, "x")),
        (number(X, "x"), nominal(code, "group")),
    ):
        assert pair_direction(slope * X, ONES, *sides) == expected
    words = pair_direction(slope * far(X), ONES, nominal(code, "group"), number(X, "x"))
    assert words == "where x is far from its middle and group is b, or x is near it and group is c"


def test_cells_are_named_by_what_they_add_and_no_more_than_three():
    """Cells without an effect, or with a negative one, are not named."""
    a, b = np.arange(80) % 2, np.arange(80) // 2 % 4
    sides = nominal(a, "a"), nominal(b, "b")
    one = 1.0 * ((a == 1) & (b == 2))
    assert pair_direction(one, ONES, *sides) == "where a is b and b is c"
    assert pair_direction(1e-6 * one, ONES, *sides) == "where a is b and b is c"
    two = one + 0.5 * ((a == 0) & (b == 3)) - 2.0 * (b == 0)
    assert pair_direction(two, ONES, *sides) == "where a is b and b is c, or a is a and b is d"
    many = np.where(a == 1, 1.0 + b, -1.0)
    assert pair_direction(many, ONES, *sides).split(", or ") == [
        "where a is b and b is d",
        "a is b and b is c",
        "a is b and b is b",
    ]


def test_a_feature_of_levels_acts_where_its_mean_is_high():
    code = np.repeat([0, 1, 2, 3], [40, 20, 10, 10])
    side = nominal(code, "group")
    f = np.array([0.1, -1.0, 3.0, 2.0])[code]
    assert feature_direction(f, ONES, side) == "where group is c or group is d"
    flag = nominal(np.arange(80) % 2, "flag")
    assert feature_direction(np.arange(80) % 2 - 0.5, ONES, flag) == "where flag is b"


def test_rare_levels_are_named_only_where_no_other_can_be():
    """Of many levels with one sample each some have the highest mean by chance."""
    code = np.repeat([0, 1, 2, 3, 4], [40, 36, 2, 1, 1])
    side = nominal(code, "group")
    f = np.array([0.4, -0.5, 0.6, 1.0, -1.0])[code]
    assert feature_direction(f, ONES, side) == "where group is a"
    f = np.array([-0.4, -0.5, 0.6, 1.0, -1.0])[code]
    assert feature_direction(f, ONES, side) == "where group is c or group is d"


def test_an_effect_on_a_few_samples_is_an_effect():
    few = np.where(X > 0.9, 1.0, 0.0)
    assert feature_direction(few, ONES, number(X, "x")) == "where x is high"
    assert pair_direction(few * (Y > 0), ONES, number(X, "x"), number(Y, "y")) != ""


def test_missing_values_and_weights_count_as_they_should():
    code = np.where(np.arange(80) < 8, np.nan, np.arange(80) % 2)
    levels = feature_levels(code, ONES, is_nominal=True)
    side = Side("flag", levels, lambda level: "ab"[int(levels.value[level])], Nominal())
    f = np.where(np.isnan(code), 100.0, np.where(code == 1, 1.0, -1.0))
    assert feature_direction(f, ONES, side) == "where flag is b"
    # All of the weight on the samples where it is the other way round.
    weight = np.where(np.arange(80) < 40, 10.0, 0.1)
    turned = np.where(np.arange(80) < 40, -f, f)
    assert feature_direction(turned, weight, side) == "where flag is a"


def test_the_spread_of_an_effect_is_that_of_its_levels_or_patterns():
    code = np.arange(80) % 2
    f = code - 0.5
    assert nominal(code, "g").spread(f, ONES) == pytest.approx(40.0)
    assert number(X, "x").spread(np.sign(X), ONES) == pytest.approx(80.0)
    assert number(X, "x").spread(far(X), ONES) == pytest.approx(80.0)
