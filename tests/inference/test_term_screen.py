from __future__ import annotations

import tracemalloc
from math import comb

import numpy as np
import pytest
from inference.problems import additive_problem, encoded

from immigrate.inference import term_screen
from immigrate.inference.additive import fitted_additive_model
from immigrate.inference.term_screen import strongest_terms
from immigrate.inference.term_sets import all_terms, every_term
from immigrate.inference.term_statistics import term_results


@pytest.mark.parametrize("order", [2, 3])
def test_every_term_is_screened_once(order):
    data = additive_problem(p=7)
    contrasts = fitted_additive_model(data).contrasts(data)
    screened = strongest_terms(data, contrasts, every_term(len(data.functions), order), count=1000)
    assert len(screened.terms) == comb(7, order)
    assert len(np.unique(screened.terms, axis=0)) == comb(7, order)
    assert np.all(np.diff(screened.log_p) >= 0)


@pytest.mark.parametrize("order", [2, 3])
def test_the_screen_orders_terms_nearly_as_the_exact_statistic(order):
    data = additive_problem(n=400, p=8)
    contrasts = fitted_additive_model(data).contrasts(data)
    screened = strongest_terms(data, contrasts, every_term(len(data.functions), order), count=1000)
    exact = term_results(data, screened.terms, contrasts).log_p
    assert np.corrcoef(screened.log_p, exact)[0, 1] > 0.9


@pytest.mark.parametrize("tile_bytes", [1.0, 1e4])
def test_tile_size_does_not_matter(monkeypatch, tile_bytes):
    data = additive_problem(p=9)
    contrasts = fitted_additive_model(data).contrasts(data)
    expected = strongest_terms(data, contrasts, every_term(len(data.functions), 2), count=10)
    monkeypatch.setattr(term_screen, "TILE_BYTES", tile_bytes)
    result = strongest_terms(data, contrasts, every_term(len(data.functions), 2), count=10)
    np.testing.assert_array_equal(result.terms, expected.terms)
    np.testing.assert_allclose(result.log_p, expected.log_p, rtol=1e-9)


def test_a_selective_screen_loses_none_of_the_strongest(monkeypatch):
    data = additive_problem(p=20)
    contrasts = fitted_additive_model(data).contrasts(data)
    monkeypatch.setattr(term_screen, "SELECTIVE_FROM", np.inf)
    expected = strongest_terms(data, contrasts, every_term(len(data.functions), 2), count=9)
    monkeypatch.setattr(term_screen, "SELECTIVE_FROM", 0)
    np.testing.assert_array_equal(
        strongest_terms(data, contrasts, every_term(len(data.functions), 2), count=9).terms,
        expected.terms,
    )


def test_memory_stays_bounded():
    rng = np.random.default_rng(0)
    data = encoded(rng.normal(size=(40, 900)), np.arange(40) % 2)
    contrasts = fitted_additive_model(data).contrasts(data)
    tracemalloc.start()
    strongest_terms(data, contrasts, every_term(len(data.functions), 2), count=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # U of all 404,550 pairs would take 52 MB for each of its temporaries.
    assert peak < 100e6


def test_all_terms_are_in_lexicographic_order():
    terms = all_terms(6, 3).tolist()
    assert terms == sorted(terms)
    assert len(terms) == comb(6, 3)
    assert all(a < b < c for a, b, c in terms)
