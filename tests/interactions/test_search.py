from __future__ import annotations

from itertools import combinations

import numpy as np
from additive.problems import encoded, search_for_pairs

from immigrate import InteractionTest
from immigrate.additive.sizes import FirstOrder
from immigrate.interactions.findings import measurable_terms
from immigrate.interactions.search import MOST_FOUND, Round, at_once


def normal_columns(n, p=12, seed=0):
    rng = np.random.default_rng(seed)
    return encoded(rng.normal(size=(n, p)), rng.integers(0, 2, n))


def test_no_more_pairs_are_measured_together_than_half_the_samples_have_columns_for():
    pairs = list(combinations(range(12), 2))
    # A pair of numbers has 18 columns, and half of 100 samples is 50.
    assert measurable_terms(normal_columns(100), pairs) == pairs[:2]
    assert measurable_terms(normal_columns(20), pairs) == pairs[:1]
    assert measurable_terms(normal_columns(3000), pairs) == pairs[:MOST_FOUND]
    assert measurable_terms(normal_columns(100), []) == []


def test_triples_are_not_measured():
    assert measurable_terms(normal_columns(100), [(0, 1, 2)]) == []


def test_shadows_of_a_pair_found_at_once_are_not_all_measured():
    """Every feature is a copy of one of two with some noise, so all their pairs are found."""
    rng = np.random.default_rng(1)
    n = 150
    a, b = rng.normal(size=(2, n))
    X = np.column_stack([x + 0.05 * rng.normal(size=n) for x in [a] * 4 + [b] * 3])
    test = InteractionTest(stepwise=False).fit(X, (a * b > 0).astype(int))
    table = test.selected_
    assert len(table) > 8
    # Those that are not measured together keep the size that a single step of the fit gives.
    assert np.isfinite(table["size"]).all()
    assert table["size"].max() < 20


def test_all_terms_within_the_level_are_found_at_once():
    """Holm: .005 of 4 tests is .02, .016 is .048, .03 is .06; an exact .05 counts."""
    terms, p = np.array([(0, 1), (0, 2), (1, 2), (2, 3)]), np.array([0.005, 0.016, 0.03, 0.9])
    everything = np.ones(4, dtype=bool)
    tested = Round(
        terms,
        10 * p,
        np.log(p),
        everything,
        4,
        0,
        np.empty(0),
        FirstOrder(np.zeros((4, 4)), np.zeros(4)),
    )
    found = at_once(search_for_pairs(0.05), tested)
    assert [one.term for one in found] == [(0, 1), (0, 2)]
    np.testing.assert_allclose([one.statistic for one in found], [0.05, 0.16])
    assert [one.term for one in at_once(search_for_pairs(0.02), tested)] == [(0, 1)]
    assert at_once(search_for_pairs(0.0199), tested) == []
    assert len(at_once(search_for_pairs(0.0601), tested)) == 3
