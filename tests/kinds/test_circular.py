"""Columns that come round: nothing depends on where the clock starts."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from immigrate.kinds import Circular
from immigrate.kinds.circular import (
    arc_start,
    circular_mean,
    circular_unit,
    mean_circular_difference,
    turned,
)
from immigrate.table import Reader

hours = st.lists(st.floats(0, 23.999), min_size=2, max_size=30).map(np.array)


def difference(x, y, period=24.0):
    line = np.abs(x - y)
    return np.minimum(line, period - line)


@given(hours, hours, st.sampled_from([1, 2]))
def test_mean_differences_are_those_of_the_formula(x, drawn, power):
    count = np.arange(1.0, len(drawn) + 1)
    expected = np.average(difference(x[:, None], drawn) ** power, axis=1, weights=count)
    found = mean_circular_difference(x, drawn, 24.0, count, power=power)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(hours, st.floats(-50, 50), st.sampled_from(["std", "range"]))
def test_units_do_not_depend_on_where_the_clock_starts(x, shift, scale):
    x = np.round(x, 2)
    later = turned(x + shift, 24.0)
    np.testing.assert_allclose(
        circular_unit(later, 24.0, scale), circular_unit(x, 24.0, scale), atol=1e-6
    )


def test_units_of_part_of_the_clock_are_those_of_a_line():
    x = np.random.default_rng(0).uniform(3, 14, 200)
    assert circular_unit(x, 24.0, "std") == pytest.approx(x.std())
    assert circular_unit(x, 24.0, "range") == pytest.approx(np.ptp(x))
    late = turned(x + 15, 24.0)
    assert circular_unit(late, 24.0, "std") == pytest.approx(x.std())


def test_the_mean_is_where_the_values_are():
    assert circular_mean(np.array([23.0, 1.0, np.nan]), 24.0) == pytest.approx(0.0, abs=1e-9)
    assert circular_mean(np.array([22.0, 2.0, 2.0]), 24.0) > 0
    assert circular_mean(np.array([0.0, 12.0]), 24.0) == 0
    assert np.isnan(circular_mean(np.array([np.nan]), 24.0))
    weight = np.array([0.0, 1.0])
    assert circular_mean(np.array([3.0, 9.0]), 24.0, weight) == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("value", "period", "words"),
    [
        (2.96, 24.0, "3 h"),
        (23.97, 24.0, "0 h"),
        (181.3, 360.0, "181°"),
        (4.53, 7.0, "4.53"),
    ],
)
def test_a_direction_has_words(value, period, words):
    assert Circular(period=period).text(value) == words


@pytest.mark.parametrize(
    ("given", "period", "value", "words"),
    [
        (np.arange(1.0, 13.0), 12, 11.8, "12"),
        (np.arange(0.0, 7.0), 7, 6.15, "6"),
        (np.arange(1.0, 8.0), 7, 0.0, "7"),
        (np.arange(0.0, 25.0), 24, 23.9, "0 h"),
        (np.array([-180.0, -90.5, 90.0]), 360, 270.0, "-90°"),
        (np.array([np.nan, 5.5, 30.0]), 24, 5.51, "5.5 h"),
        (np.array([np.nan]), 24, 5.51, "5.5 h"),
    ],
)
def test_words_are_in_the_numbers_of_the_user(given, period, value, words):
    reader, _ = Reader.fit(given[:, None], circular_features={0: period})
    assert reader.kinds[0].text(value) == words
    assert pickle.loads(pickle.dumps(reader)) == reader


@pytest.mark.parametrize("container", [pd.DataFrame, lambda X: X.to_numpy()])
def test_values_are_read_within_one_period(container):
    X = pd.DataFrame({"hour": [0.0, 25.0, -1.0, np.nan], "dose": [1.0, 2.0, 3.0, 4.0]})
    given = container(X)
    reader, values = Reader.fit(given, circular_features={0: 24})
    np.testing.assert_array_equal(values[:, 0], [0, 1, 23, np.nan])
    np.testing.assert_array_equal(np.asarray(given), X)
    assert [kind.name for kind in reader.kinds] == ["circular", "number"]
    np.testing.assert_array_equal(reader.period, [24, np.inf])
    np.testing.assert_array_equal(reader.read(container(X + 24))[:, 0], values[:, 0])
    assert reader.features(np.array([False, True])).period is None
    again = pickle.loads(pickle.dumps(reader))
    assert again == reader
    np.testing.assert_array_equal(again.period, reader.period)


@pytest.mark.parametrize(
    ("circular", "message"),
    [
        (["hour"], r"dictionary from columns to their periods, such as \{'hour': 24"),
        ({"hours": 24}, "circular_features names 'hours'.*Did you mean 'hour'"),
        ({"hour": 0}, "The period of 'hour' in circular_features must be a number above 0"),
        (
            {"site": 7},
            "Column .site. is in circular_features and holds names; numbers were",
        ),
        ({"is_old": 7}, "Column 'is_old' is in circular_features and holds flags; numbers were"),
    ],
)
def test_what_cannot_come_round_is_refused(circular, message):
    X = pd.DataFrame({"hour": [0, 1, 2], "site": ["A", "B", "A"], "is_old": [True, False, True]})
    with pytest.raises(ValueError, match=message):
        Reader.fit(X, circular_features=circular)


@pytest.mark.parametrize(
    ("values", "start", "is_whole"),
    [
        ([0, 5, 23], 0.0, True),
        ([-180, 0, 179], 0.0, True),  # of a period of 24, they are several turns
        ([-12, 0, 11], -12.0, True),
        ([-12, 0, 12], 0.0, True),  # a whole period apart
        ([1, 12, 24], 1.0, True),
        ([0, 12, 24], 0.0, True),
        ([1, 12, 23], 0.0, True),
        ([1.5, 12, 24], 0.0, False),
        ([np.nan, np.nan], 0.0, False),
    ],
)
def test_the_period_of_the_user_begins_where_the_values_say(values, start, is_whole):
    reader, _ = Reader.fit(
        pd.DataFrame({"hour": np.array(values, dtype=float)}), circular_features={"hour": 24}
    )
    (kind,) = reader.kinds
    assert (kind.start, kind.is_whole) == (start, is_whole)


def test_the_shortest_arc_begins_behind_the_largest_gap():
    assert arc_start(np.array([1.0, 23.0, 22.0, np.nan]), 24.0) == 22.0
    assert arc_start(np.array([5.0, 3.0, 9.0]), 24.0) == 3.0
    assert arc_start(np.array([np.nan]), 24.0) == 0.0


def test_the_largest_difference_is_half_a_period_at_most():
    assert circular_unit(np.arange(24.0), 24.0, "range") == 12.0
    assert circular_unit(np.array([22.0, 2.0, np.nan]), 24.0, "range") == 4.0
    assert circular_unit(np.array([3.0, 3.0, np.nan]), 24.0, "std") == 1.0


def test_directions_that_balance_have_no_mean():
    # Two values nearly half a period apart have the resultant pi d / 24.
    for resultant, mean in ((1e-8, 6.0), (1e-10, 0.0)):
        d = resultant * 24 / np.pi
        assert circular_mean(np.array([0.0, 12.0 - d]), 24.0) == pytest.approx(mean, abs=1e-6)


def test_a_tiny_negative_number_is_the_start_and_infinity_stays():
    np.testing.assert_array_equal(turned(np.array([-1e-20, 25.0, np.inf]), 24.0), [0, 1, np.inf])


@pytest.mark.parametrize(
    ("period", "value", "words"),
    [(24.0, 3.04, "3 h"), (24.0, 3.06, "3.1 h"), (360.0, 7.4, "7°"), (1.0, 0.126, "0.13")],
)
def test_three_digits_of_the_period_are_shown(period, value, words):
    assert Circular(period=period).text(value) == words
