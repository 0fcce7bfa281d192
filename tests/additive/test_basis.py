from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from additive.problems import encoded, mixed_problem
from scipy import stats

from immigrate.additive.basis import (
    LARGEST_Z,
    MOST_NOMINAL_DUMMIES,
    MOST_NOMINAL_GROUPS,
    main_effect,
    mid_ranks,
    product_functions,
    rough_basis,
    smooth_basis,
)
from immigrate.additive.levels import feature_levels


def feature_phi(levels):
    """phi_k / k of all samples: (k, n)."""
    phi, _ = product_functions(levels)
    return np.zeros((0, len(levels.code))) if phi is None else phi.of(levels.code)


def single_functions(levels):
    """Normal score and side of the median of all samples: (2, n)."""
    _, single = product_functions(levels)
    return np.zeros((2, len(levels.code))) if single is None else single.of(levels.code)


def additive_columns(levels, weight, basis):
    """Columns of the main effect of all samples, and their penalties."""
    effect = main_effect(levels, weight, basis)
    return SimpleNamespace(values=effect.of(slice(None)), penalty=effect.penalty)


def test_mid_ranks_of_distinct_values_are_those_of_the_sorted_sample():
    levels = feature_levels(np.array([3.0, 1.0, 2.0]), np.ones(3))
    np.testing.assert_allclose(mid_ranks(levels.share)[levels.code], [5 / 6, 1 / 6, 3 / 6])


def test_functions_are_centred_uncorrelated_and_of_variance_one_over_k_squared():
    data = mixed_problem()
    for functions in data.phi[[0, 1, 3]]:
        used = functions[np.any(functions != 0, axis=1)]
        covariance = used @ used.T / functions.shape[1]
        np.testing.assert_allclose(used.mean(axis=1), 0, atol=1e-12)
        expected = np.diag(1.0 / np.arange(1, len(used) + 1) ** 2)
        np.testing.assert_allclose(covariance, expected, atol=0.02)


@pytest.mark.parametrize("n_levels", [2, 3, 6, 7])
def test_number_of_functions_is_bounded_by_the_levels(n_levels):
    x = np.arange(60) % n_levels
    functions = feature_phi(feature_levels(x.astype(float), np.ones(60)))
    assert np.any(functions != 0, axis=1).sum() == min(n_levels - 1, 4)


def test_eigenvectors_of_many_equal_levels_are_nearly_the_cosines():
    x = np.repeat(np.arange(6.0), 10)
    functions = feature_phi(feature_levels(x, np.ones(60)))
    u = (x + 0.5) / 6
    correlation = np.corrcoef(functions[0], np.cos(np.pi * u))[0, 1]
    assert abs(correlation) > 0.999


def test_missing_values_are_zero_everywhere_but_in_the_indicator():
    x = np.array([0.1, np.nan, 2.0, 3.0, 4.0, 5.5, 6.0, 7.0, np.nan])
    levels, weight = feature_levels(x, np.ones(9)), np.ones(9)
    assert not feature_phi(levels)[:, [1, 8]].any()
    columns = additive_columns(levels, weight, smooth_basis(9)).values
    assert not columns[:-1, [1, 8]].any()
    np.testing.assert_allclose(columns[-1, [1, 8]], 7 / 9)


@pytest.mark.parametrize("is_nominal", [False, True])
@pytest.mark.parametrize("n_levels", [1, 2, 5, 6, 40])
@pytest.mark.parametrize("n_missing", [0, 3])
@pytest.mark.parametrize("basis", [smooth_basis(80), smooth_basis(3000), rough_basis(400)])
def test_columns_are_counted_without_building_them(n_levels, n_missing, is_nominal, basis):
    x = (np.arange(80) % n_levels).astype(float)
    x[:n_missing] = np.nan
    levels = feature_levels(x, np.ones(80), is_nominal)
    columns = additive_columns(levels, np.ones(80), basis)
    assert basis.n_columns(levels) == len(columns.values) == len(columns.penalty)


def test_a_constant_feature_has_no_columns():
    levels = feature_levels(np.ones(5), np.ones(5))
    assert len(additive_columns(levels, np.ones(5), smooth_basis(5)).values) == 0
    assert feature_phi(levels).shape == (0, 5)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    weighted = encoded(X, y, weight.astype(float))
    repeated = encoded(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(np.repeat(weighted.phi, weight, axis=2), repeated.phi, atol=1e-12)
    np.testing.assert_allclose(
        np.repeat(weighted.single, weight, axis=2), repeated.single, atol=1e-12
    )


def test_single_functions_are_normal_scores_and_sides_of_the_median():
    rng = np.random.default_rng(0)
    x = rng.standard_t(2, 500)
    score, side = single_functions(feature_levels(x, np.ones(500)))
    expected = stats.norm.ppf((stats.rankdata(x) - 0.5) / 500)
    np.testing.assert_allclose(score, expected / expected.std(), atol=1e-12)
    np.testing.assert_allclose(side, np.sign(x - np.median(x)), atol=1e-12)


@pytest.mark.parametrize("is_nominal", [False, True])
@pytest.mark.parametrize("n_levels", [2, 6, 7])
def test_features_with_few_levels_have_no_single_functions(n_levels, is_nominal):
    x = (np.arange(60) % n_levels).astype(float)
    levels = feature_levels(x, np.ones(60), is_nominal)
    assert single_functions(levels).any() == (n_levels > 6 and not is_nominal)


@pytest.mark.parametrize("basis", [smooth_basis, rough_basis])
def test_the_basis_grows_with_the_samples(basis):
    counts = [basis(n).n_cosines for n in (50, 150, 1200, 5000, 1e6)]
    assert counts[0] == 4
    assert counts == sorted(counts)
    assert counts[-1] == 12


@pytest.mark.parametrize("n", [20, 100, 400, 810, 2000, 1e5])
def test_the_rough_basis_is_at_least_as_fine_as_the_smooth_one(n):
    assert rough_basis(n).n_cosines >= smooth_basis(n).n_cosines
    assert rough_basis(n).most_levels >= smooth_basis(n).most_levels


def test_a_value_that_is_there_or_missing_is_a_flag():
    is_there = np.array([True, False, True, True, False])
    flag = feature_levels(np.where(is_there, 7.0, np.nan), np.ones(5))
    expected = feature_levels(is_there.astype(float), np.ones(5))
    np.testing.assert_array_equal(flag.code, expected.code)
    np.testing.assert_array_equal(flag.share, expected.share)


@pytest.mark.parametrize("n_levels", [120, 60])
def test_levels_with_few_samples_have_no_products(n_levels):
    """A nominal feature with nearly as many levels as samples, and one with two for each."""
    x = np.arange(120.0) % n_levels
    assert feature_phi(feature_levels(x, np.ones(120), is_nominal=True)).shape == (0, 120)


def test_levels_with_few_samples_are_one_group_beside_the_common_ones():
    x = np.concatenate([np.repeat([0.0, 1.0], 40), np.arange(2.0, 22.0)])
    phi = feature_phi(feature_levels(x, np.ones(100), is_nominal=True))
    assert len(phi) == 2
    assert len(np.unique(phi[:, 80:].round(9), axis=1).T) == 1


def test_samples_per_level_are_counted_by_weight():
    x = np.arange(40.0) % 8  # five for each level, too few to tell but one of them apart
    once, twice = (
        feature_phi(feature_levels(x, np.full(40, weight), is_nominal=True))
        for weight in (1.0, 2.0)
    )
    assert (len(once), len(twice)) == (1, 7)


def test_a_feature_with_a_level_for_nearly_every_sample_has_no_products():
    x = np.arange(40.0) // 2
    assert len(feature_phi(feature_levels(x, np.ones(40), is_nominal=True))) == 0


@pytest.mark.parametrize("n_levels", [9, 10, 11, 30])
def test_products_tell_the_most_common_levels_apart_and_the_rest_as_one(n_levels):
    """Groups less one: as many contrasts as there are, and each level of the rest alike."""
    size = np.arange(12, 12 + n_levels)[::-1]
    x = np.repeat(np.arange(float(n_levels)), size)
    phi = feature_phi(feature_levels(x, np.ones(len(x)), is_nominal=True))
    n_groups = min(n_levels, MOST_NOMINAL_GROUPS)
    assert len(phi) == n_groups - 1
    assert len(np.unique(phi.round(9), axis=1).T) == n_groups
    is_rest = x >= MOST_NOMINAL_GROUPS - 1
    assert len(np.unique(phi[:, is_rest].round(9), axis=1).T) <= 1
    # Contrasts of unit variance: any two samples of different groups are equally different.
    np.testing.assert_allclose(phi @ phi.T / len(x), np.eye(n_groups - 1), atol=1e-9)


@pytest.mark.parametrize("n_levels", [99, 100, 101, 130])
def test_nominal_levels_have_a_column_each_and_the_rarest_share_one(n_levels):
    size = np.arange(2, 2 + n_levels)[::-1]
    x = np.repeat(np.arange(float(n_levels)), size)
    levels = feature_levels(x, np.ones(len(x)), is_nominal=True)
    columns = additive_columns(levels, np.ones(len(x)), smooth_basis(len(x)))
    n_own = min(n_levels, MOST_NOMINAL_DUMMIES)
    assert len(columns.values) == n_own
    group = np.minimum(x, n_own - 1).astype(int)
    indicator = np.eye(n_own)[group].T
    np.testing.assert_allclose(
        columns.values, indicator - indicator.mean(axis=1, keepdims=True), atol=1e-12
    )


def test_smooth_columns_are_the_value_cosines_of_its_rank_and_a_square():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    x[0] = 50.0
    columns = additive_columns(feature_levels(x, np.ones(300)), np.ones(300), smooth_basis(300))
    u = (stats.rankdata(x) - 0.5) / 300
    z = np.clip((x - x.mean()) / x.std(), -LARGEST_Z, LARGEST_Z)
    cosines = [np.sqrt(2) * np.cos(np.pi * k * u) for k in (1, 2, 3, 4)]
    expected = np.array([z, *cosines, stats.norm.ppf(u) ** 2])
    assert z.max() == LARGEST_Z
    np.testing.assert_allclose(
        columns.values, expected - expected.mean(axis=1, keepdims=True), atol=1e-12
    )
    np.testing.assert_array_equal(columns.penalty, [1, 1, 4, 9, 16, 4])


@pytest.mark.parametrize("n", [30, 400, 5000])
def test_each_well_filled_level_has_a_column_of_its_own(n):
    """Up to 12 levels of 40 samples, or 30 of 15 in the rough basis; else value and cosines."""
    for basis, n_each, most in ((smooth_basis(n), 40, 12), (rough_basis(n), 15, 30)):
        at_most = max(min(n // n_each, most), 2 + basis.n_cosines)
        for n_levels in (at_most, at_most + 1):
            levels = feature_levels(np.arange(n) % float(n_levels), np.ones(n))
            columns = additive_columns(levels, np.ones(n), basis).values
            expected = n_levels if n_levels == at_most else 2 + basis.n_cosines
            assert len(columns) == expected


@pytest.mark.parametrize(
    ("n", "smooth", "rough"),
    [(100, 4, 5), (160, 4, 8), (800, 4, 12), (420, 4, 8), (450, 4, 9), (801, 5, 12)],
)
def test_cosines_are_as_many_as_the_samples_can_pay_for(n, smooth, rough):
    """4 sqrt(n / 800) but 4 at least; one for 50 samples, 8 where there are 20 for each."""
    assert smooth_basis(n).n_cosines == smooth
    assert rough_basis(n).n_cosines == rough


@pytest.mark.parametrize("sizes", [[10, 30, 5, 15], [10, 20, 5, 9, 3, 13]])
def test_functions_of_a_few_levels_are_eigenfunctions_of_the_distance_of_ranks(sizes):
    """-|u - u'| doubly centred, weighted by the shares of the levels; up to six of them."""
    x = np.repeat(np.arange(float(len(sizes))), sizes)
    levels = feature_levels(x, np.ones(60))
    phi, u = feature_phi(levels), mid_ranks(levels.share)[levels.code]
    kernel = -np.abs(u[:, None] - u)
    centring = np.eye(60) - 1 / 60
    operator = centring @ kernel @ centring / 60
    values = []
    for k, function in enumerate(phi, 1):
        image, unit = operator @ function, function * k
        assert unit.mean() == pytest.approx(0, abs=1e-12)
        assert np.mean(unit**2) == pytest.approx(1)
        values.append(image @ function / (function @ function))
        np.testing.assert_allclose(image, values[-1] * function, atol=1e-12)
    assert len(phi) == min(len(sizes) - 1, 4)
    assert values == sorted(values, reverse=True)
