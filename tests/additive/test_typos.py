"""Numbers that are rather mistyped: found where one is, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from additive.problems import encoded

from immigrate.additive.families import number_outcome
from immigrate.additive.null_model import null_model
from immigrate.additive.typos import typos_of


def typos_in(X, y):
    data = encoded(X, np.arange(len(y)) % 2)
    model = null_model(replace(data, outcome=number_outcome(y, data.weight)))
    return typos_of(model, y)


def study(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 5 + 3 * X[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("n", [24, 120, 400])
@pytest.mark.parametrize("factor", [-1, 1])
def test_a_number_with_its_point_in_the_wrong_place_is_found(n, factor):
    X, y = study(n)
    wild = y.copy()
    wild[7] = factor * 1000.0
    found = typos_in(X, wild)
    assert found.rows.tolist() == [7]
    assert found.n_deviations[0] > 100
    # It counts as two deviations on its own side, which is no longer far from the others.
    away = factor * (found.values[0] - (5 + 3 * X[7, 0]))
    assert 0 < away < 5 * y.std()


def test_the_unit_of_the_numbers_does_not_matter():
    X, y = study()
    y[7] = 1000.0
    one, other = typos_in(X, y), typos_in(X, 1e-3 * y + 4)
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_allclose(one.n_deviations, other.n_deviations, rtol=1e-6)
    np.testing.assert_allclose(1e-3 * one.values + 4, other.values, rtol=1e-6)


def test_two_of_many_may_be_mistyped():
    X, y = study(400)
    y[[7, 30]] = 900.0, -1100.0
    assert typos_in(X, y).rows.tolist() == [7, 30]


def test_long_tails_rarely_have_such_a_gap():
    """In one of twenty tables with t3 noise, one of fifty with lognormal, none with normal."""
    X, y = study(400)
    normal, tails = [], []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        noises = (rng.normal(size=400), rng.standard_t(3, 400), rng.lognormal(size=400))
        n_typos = [len(typos_in(X, y + 3 * noise).rows) for noise in noises]
        normal.append(n_typos[0])
        tails += n_typos[1:]
    assert not any(normal)
    assert np.count_nonzero(tails) <= 3


def test_clear_groups_are_no_typos():
    """Half of the numbers far from the others: that is what a feature may explain."""
    X, y = study(200)
    y[:100] += 1e4
    assert not len(typos_in(X, y).rows)
