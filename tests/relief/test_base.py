from __future__ import annotations

import numpy as np
import pytest
from relief_oracles import all_differences, table

from immigrate.core.differences import ColumnDifferences, mean_difference
from immigrate.kernels.neighbours_numpy import differences
from immigrate.relief.base import difference_units, mixed_table


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["continuous", "discrete", "mixed"])
def test_differences_are_the_definition(kind, missing):
    X, y, is_categorical = table(0, n=20, n_classes=3, kind=kind, missing=missing)
    mixed = mixed_table(X, y, is_categorical)
    ours = np.array([differences(mixed, i) for i in range(20)])
    np.testing.assert_allclose(ours, all_differences(X, y, is_categorical), atol=1e-12)


def test_a_missing_category_differs_by_one_minus_its_probability_in_the_class():
    """Kononenko 1994: 1 - P(value | class), and 1 - sum P(v | class) P(v | other class)."""
    X = np.array([[0.0], [0.0], [1.0], [np.nan], [1.0], [2.0], [np.nan]])
    y = np.array([0, 0, 0, 0, 1, 1, 1])
    mixed = mixed_table(X, y, np.array([True]))
    assert differences(mixed, 3)[0, 0] == pytest.approx(1 - 2 / 3)
    assert differences(mixed, 3)[4, 0] == pytest.approx(1 - 1 / 3)
    assert differences(mixed, 4)[3, 0] == pytest.approx(1 - 1 / 3)
    assert differences(mixed, 3)[6, 0] == pytest.approx(1 - 1 / 3 * 1 / 2)


def test_a_class_without_a_known_value_draws_from_all():
    X = np.array([[0.0], [1.0], [np.nan], [np.nan]])
    mixed = mixed_table(X, np.array([0, 0, 1, 1]), np.array([True]))
    np.testing.assert_allclose(differences(mixed, 2)[:, 0], 0.5)


def test_a_feature_of_which_nothing_is_known_makes_no_difference():
    X = np.column_stack([np.full(4, np.nan), np.arange(4.0)])
    mixed = mixed_table(X, np.array([0, 0, 1, 1]), np.array([False, False]))
    np.testing.assert_array_equal(differences(mixed, 0)[:, 0], 0)


@pytest.mark.parametrize("is_categorical", [False, True])
def test_mean_difference_is_a_mean(is_categorical):
    rng = np.random.default_rng(0)
    x, drawn = rng.integers(0, 4, 9).astype(float), rng.integers(0, 4, 20).astype(float)
    d = np.abs(x[:, None] - drawn)
    expected = (d > 0 if is_categorical else d).mean(axis=1)
    np.testing.assert_allclose(mean_difference(x, drawn, is_categorical), expected)


def test_units_are_ranges_of_numeric_features():
    X = np.array([[0.0, 5.0, 1.0], [4.0, 5.0, 9.0]])
    is_categorical = np.array([False, False, True])
    np.testing.assert_array_equal(difference_units(X, is_categorical), [4, 1, 1])
    np.testing.assert_array_equal(difference_units(X, is_categorical, scale=None), [1, 1, 1])


def test_a_range_that_overflows_is_still_a_range():
    X = np.array([[-1.5e308], [1.5e308], [0.0], [0.0]])
    mixed = mixed_table(X, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(mixed.values[:, 0], [0, 1, 0.5, 0.5])


def test_unscaled_differences_whose_squares_overflow_are_refused():
    X = np.array([[0.0], [1e200], [0.0], [2e200]])
    with pytest.raises(ValueError, match="Use scale='range'"):
        mixed_table(X, np.array([0, 0, 1, 1]), scale=None)


def test_a_refused_span_is_named():
    y = np.array([0, 1, 0, 1])
    for X, words in (
        ([[-1e150], [1e150], [0], [0]], r"spans 2e\+150; squared differences would overflow"),
        ([[0], [1e-152], [0], [0]], "spans more than 1e-152; squared differences would vanish"),
    ):
        with pytest.raises(ValueError, match=words):
            mixed_table(np.array(X), y, scale=None)
    for largest in (0.9e150, 4e-152):
        table = mixed_table(np.array([[0.0], [largest], [0], [0]]), y, scale=None)
        assert table.values.max() == largest
    # Categories differ by 1 whatever the numbers do.
    X = np.array([[0, 0], [1e-152, 1], [0, 2], [0, 1.0]])
    mixed_table(X, y, np.array([False, True]), scale=None)


def test_samples_of_lower_classes_are_counted():
    y = np.array([0, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(mixed_table(np.arange(6.0)[:, None], y).starts, [0, 3, 4, 6])


def test_neighbouring_features_of_a_kind_are_one_run():
    X = np.arange(30.0).reshape(5, 6)
    X[0, 4] = np.nan
    table = mixed_table(X, np.array([0, 1, 0, 1, 0]), np.array([0, 0, 1, 1, 0, 0], dtype=bool))
    np.testing.assert_array_equal(table.runs, [[0, 2, 1], [2, 5, 0], [5, 6, 1]])
    np.testing.assert_array_equal(table.gap, [-1, -1, -1, -1, 0, -1])
    screen = table.screen
    assert screen.shape == (6, 5)
    np.testing.assert_allclose(screen[0], np.arange(5) / 4)
    np.testing.assert_array_equal(screen[2], np.arange(5))


def test_the_screen_of_neighbours_goes_from_0_to_1():
    """float32 has few digits: they are spent on what tells samples apart, not on an offset."""
    X = np.array([[1e6, 2.0], [1e6 + 3, 1.0], [1e6 + 1, 0.0], [1e6 + 2, 1.0]])
    found = mixed_table(X, np.array([0, 0, 1, 1]), np.array([False, True])).screen
    np.testing.assert_allclose(found[0], [0, 1, 1 / 3, 2 / 3], rtol=1e-6)
    assert found.dtype == np.float32


def test_one_known_value_is_enough_to_expect_a_difference():
    X = np.array([[3.0], [np.nan], [np.nan]])
    pieces = ColumnDifferences.of(X)
    samples = pieces.samples(X)
    np.testing.assert_allclose(samples.expected, [[0.0, 0.0, 0.0]])
    np.testing.assert_allclose(pieces.samples(X + 2).expected[0, 0], 2.0)


def test_the_unit_of_the_widest_column_is_the_largest_number():
    """Its range is twice that, which is no number any more."""
    largest = np.finfo(np.float64).max
    X = np.array([[-largest, -largest / 2], [largest, largest / 4]])
    unit = difference_units(X, np.zeros(2, dtype=bool))
    np.testing.assert_allclose(unit / largest, [1.0, 0.75], rtol=1e-15)
