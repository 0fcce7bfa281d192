"""Which levels of a feature are shown."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.additive.levels import feature_levels
from immigrate.additive.surfaces import N_GRID, first_sample, shown_levels


def levels_of(x, is_nominal=False):
    return feature_levels(np.asarray(x, dtype=float), np.ones(len(x)), is_nominal)


@pytest.mark.parametrize(("n_levels", "is_nominal"), [(2, False), (12, False), (40, True)])
def test_all_of_few_levels_and_all_names_are_shown(n_levels, is_nominal):
    found = shown_levels(levels_of(np.arange(200) % n_levels, is_nominal))
    assert found.tolist() == list(range(n_levels))


@pytest.mark.parametrize("n_levels", [13, 30, 200])
def test_of_many_levels_those_at_even_ranks_are_shown_once(n_levels):
    x = np.sort(np.arange(1000) % n_levels)
    found = shown_levels(levels_of(x))
    assert np.all(np.diff(found) > 0)
    assert len(found) <= N_GRID
    ranks = (found + 0.5) / n_levels
    np.testing.assert_allclose([ranks[0], ranks[-1]], [0.02, 0.98], atol=1.1 / n_levels)
    if n_levels == 200:
        np.testing.assert_allclose(np.diff(ranks), 0.96 / (N_GRID - 1), atol=1 / n_levels)


def test_where_one_value_has_nearly_all_samples_the_ends_are_shown():
    x = np.r_[np.full(2000, 99.0), np.arange(20)]
    assert shown_levels(levels_of(x)).tolist() == [0, 20]


def test_the_first_sample_of_each_level():
    assert first_sample(levels_of([np.nan, 2, 1, 2, 3, 1])).tolist() == [2, 1, 4]
