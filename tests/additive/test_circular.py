"""Values on a circle: where the clock begins does not matter, and their waves meet there."""

from __future__ import annotations

import numpy as np
import pytest
from additive.problems import encoded, pair_search

from immigrate.additive.basis import circular_waves, main_effect, smooth_basis
from immigrate.additive.levels import feature_levels
from immigrate.additive.null_model import main_effect_log_p, null_model
from immigrate.interactions.statistics import term_results


def clock_problem(n_hours, shift=0.0, n=400, seed=0):
    """Hours of which some are rare, a number, levels, and a pair of hour and number."""
    rng = np.random.default_rng(seed)
    hour = 24 * rng.beta(2, 4, n)
    if n_hours:
        hour = np.floor(hour * n_hours / 24) * 24 / n_hours
    X = np.column_stack([hour, rng.normal(size=n), rng.integers(0, 3, n)])
    angle = 2 * np.pi * hour / 24
    logit = 2 * np.cos(angle) + 1.5 * np.sin(angle) * X[:, 1]
    y = (rng.logistic(size=n) < logit).astype(int)
    X[::17, 0] = np.nan
    X[:, 0] = (X[:, 0] + shift) % 24
    return encoded(X, y, nominal=[2], circular=[0])


def evidence(design):
    """Every number that the null model, the pairs and the features alone have."""
    model = null_model(design)
    found = pair_search(design, model)
    alone = term_results(design, np.arange(3)[:, None], model.contrasts())
    order = np.lexsort(found.terms.T)
    numbers = (found.log_p[order], found.statistic[order], alone.log_p, alone.statistic)
    return np.concatenate([[model.strength, model.deviance_explained], *numbers])


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize("n_hours", [0, 24, 12, 8, 6, 3])
def test_turning_the_clock_changes_nothing(n_hours, steps):
    shift = steps * 24 / (n_hours or 11)
    expected, found = (evidence(clock_problem(n_hours, by)) for by in (0.0, shift))
    # SMALLEST_MAIN_EFFECT, a millionth of each column, is all that knows cosine from sine.
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=1e-8)


@pytest.mark.parametrize("n_hours", [0, 24, 7])
def test_the_pair_of_an_hour_and_a_number_is_found(n_hours):
    model = null_model(clock_problem(n_hours, n=600))
    search = pair_search(model.design, model)
    assert search.terms[0].tolist() == [0, 1]
    assert search.log_p[0] < np.log(1e-4)
    assert main_effect_log_p(model.design, model.design.weight)[0] < np.log(1e-6)


def test_waves_meet_where_the_circle_closes():
    ends = circular_waves(np.array([1e-12, 1 - 1e-12]), 3)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    u = (np.arange(1000) + 0.5) / 1000
    waves = circular_waves(u, 3)
    np.testing.assert_allclose(waves.T @ waves / 1000, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("n_levels", [5, 12, 300])
def test_an_hour_has_as_many_columns_as_were_counted(n_levels):
    x, weight = np.arange(300) % float(n_levels), np.ones(300)
    levels, basis = feature_levels(x, weight, is_circular=True), smooth_basis(300)
    effect = main_effect(levels, weight, basis)
    assert len(effect.of(slice(None))) == len(effect.penalty) == basis.n_columns(levels)
    np.testing.assert_allclose(effect.of(slice(None)).mean(axis=1), 0, atol=1e-12)
