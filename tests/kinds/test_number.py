from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from immigrate.kinds import number
from immigrate.table import Reader
from immigrate.table.notes import column_ranges

NUMERIC = np.zeros(3, dtype=bool)


def difference_units(values, is_nominal, scale="std"):
    low, high, _ = column_ranges(values)
    return number.difference_units(values, low, high, is_nominal, scale=scale)


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 3)) * [1e-3, 1, 1e4] + [5, -2, 1e6]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def test_standard_deviations_are_those_of_the_scaler():
    X = table()
    np.testing.assert_allclose(
        difference_units(X, NUMERIC), StandardScaler().fit(X).scale_, rtol=1e-10
    )


def test_ranges_are_those_of_the_known_values():
    X = table()
    expected = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    np.testing.assert_array_equal(difference_units(X, NUMERIC, "range"), expected)


@pytest.mark.parametrize("scale", ["std", "range", None])
def test_constant_nominal_empty_and_unused_columns_have_unit_1(scale):
    X = np.array([[0.1, 0, np.nan], [0.1, 5, np.nan], [0.1, 9, np.nan]])
    reader, values = Reader.fit(X, [1])
    np.testing.assert_array_equal(difference_units(values, reader.is_nominal, scale), 1)


@pytest.mark.parametrize("scale", ["std", "range"])
@pytest.mark.parametrize("exponent", [-1074, -1060, -600, 0, 600, 1000])
def test_a_power_of_two_scales_the_units(scale, exponent):
    X = np.random.default_rng(0).integers(-1000, 1000, size=(40, 3)).astype(float)
    expected = np.ldexp(difference_units(X, NUMERIC, scale), exponent)
    units = difference_units(np.ldexp(X, exponent), NUMERIC, scale)
    np.testing.assert_allclose(units, expected, rtol=1e-12)


@given(
    arrays(np.float64, (6, 3), elements=st.floats(allow_infinity=False, allow_nan=True, width=64)),
    st.sampled_from(["std", "range", None]),
)
def test_units_are_positive_and_finite(X, scale):
    units = difference_units(X, NUMERIC, scale)
    assert np.isfinite(units).all()
    assert (units > 0).all()


def test_float32_does_not_overflow():
    X = np.array([[3e38, 1, 0], [-3e38, 2, 1e-45]], dtype=np.float32)
    np.testing.assert_allclose(
        difference_units(X, NUMERIC, "range"), [2 * float(X[0, 0]), 1, float(X[1, 2])]
    )


def test_flags_and_orders_have_units_of_numbers():
    reader, values = Reader.fit(np.array([[True], [False]]))
    np.testing.assert_array_equal(difference_units(values, reader.is_nominal), [0.5])


def test_an_unknown_scale_is_refused():
    with pytest.raises(ValueError, match="scale='iqr' is unknown; choose 'std', 'range' or None"):
        difference_units(table(), NUMERIC, "iqr")
