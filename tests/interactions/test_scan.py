from __future__ import annotations

import tracemalloc
from math import comb

import numpy as np
import pytest
from additive.problems import additive_problem, encoded, mixed_problem

from immigrate.additive.null_model import fitted_additive_model
from immigrate.additive.p_values import cauchy_combination, log_chi2_tail, log_three_moment_tail
from immigrate.interactions import scan
from immigrate.interactions.question import all_terms, every_term
from immigrate.interactions.scan import ScreenedTerms, strongest_terms
from immigrate.interactions.statistics import term_results


@pytest.mark.parametrize("order", [2, 3])
def test_every_term_is_screened_once(order):
    data = additive_problem(p=7)
    contrasts = fitted_additive_model(data).contrasts()
    screened = strongest_terms(data, contrasts, every_term(len(data.levels), order), count=1000)
    assert len(screened.terms) == comb(7, order)
    assert len(np.unique(screened.terms, axis=0)) == comb(7, order)
    assert np.all(np.diff(screened.log_p) >= 0)


@pytest.mark.parametrize("order", [2, 3])
def test_the_screen_orders_terms_nearly_as_the_exact_statistic(order):
    data = additive_problem(n=400, p=8)
    contrasts = fitted_additive_model(data).contrasts()
    screened = strongest_terms(data, contrasts, every_term(len(data.levels), order), count=1000)
    exact = term_results(data, screened.terms, contrasts).log_p
    assert np.corrcoef(screened.log_p, exact)[0, 1] > 0.9


@pytest.mark.parametrize("tile_bytes", [1.0, 1e4])
def test_tile_size_does_not_matter(monkeypatch, tile_bytes):
    data = additive_problem(p=9)
    contrasts = fitted_additive_model(data).contrasts()
    expected = strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=10)
    monkeypatch.setattr(scan, "TILE_BYTES", tile_bytes)
    result = strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=10)
    np.testing.assert_array_equal(result.terms, expected.terms)
    np.testing.assert_allclose(result.log_p, expected.log_p, rtol=1e-9)


def test_a_selective_screen_loses_none_of_the_strongest(monkeypatch):
    data = additive_problem(p=20)
    contrasts = fitted_additive_model(data).contrasts()
    monkeypatch.setattr(scan, "SELECTIVE_FROM", np.inf)
    expected = strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=9)
    monkeypatch.setattr(scan, "SELECTIVE_FROM", 0)
    np.testing.assert_array_equal(
        strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=9).terms,
        expected.terms,
    )


def test_memory_stays_bounded():
    rng = np.random.default_rng(0)
    data = encoded(rng.normal(size=(40, 900)), np.arange(40) % 2)
    contrasts = fitted_additive_model(data).contrasts()
    tracemalloc.start()
    strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # U of all 404,550 pairs would take 52 MB for each of its temporaries.
    assert peak < 100e6


def test_all_terms_are_in_lexicographic_order():
    terms = all_terms(6, 3).tolist()
    assert terms == sorted(terms)
    assert len(terms) == comb(6, 3)
    assert all(a < b < c for a, b, c in terms)


def screened_one_by_one(data, pair, contrasts):
    """Statistic and log p of one pair, written out: columns uncorrelated, one variance."""
    functions, weight = data, data.weight / data.weight.sum()
    (f, low_f, one_f), (g, low_g, one_g) = (
        (functions.phi[a], functions.is_low[a], functions.single[a]) for a in pair
    )
    size = np.outer(f**2 @ weight, g**2 @ weight)
    is_low = np.outer(low_f, low_g) & (size > 0)
    statistic, log_p, counts = [], [], []
    for contrast in contrasts:
        r, v = contrast.residual[:, 0], contrast.share_left * contrast.variance
        U = np.einsum("kn,ln,n->kl", f, g, r)
        trace = np.sum(np.einsum("kn,ln,n->kl", f**2, g**2, v))
        variance = trace / size.sum()
        statistic.append(np.sum(U**2) / trace)
        moments = tuple(np.array([np.sum(size**i)]) for i in (1, 2, 3))
        log_p.append(log_three_moment_tail(np.array([np.sum(U**2) / variance]), moments))
        score = np.sum(U[is_low] ** 2 / size[is_low]) / variance
        log_p.append(log_chi2_tail(np.array([score]), is_low.sum()))
        counts += [1, 1]
        for u, w in zip(one_f, one_g):
            spread = np.sum((u * w) ** 2 * v)
            square = np.sum(u * w * r) ** 2 / spread if spread > 0 else 0.0
            log_p.append(log_chi2_tail(np.array([square]), 1.0))
            counts.append(np.any(u) and np.any(w))
    weights = np.array(counts, dtype=float)[:, None]
    return np.mean(statistic), cauchy_combination(np.array(log_p), weights)[0]


@pytest.mark.parametrize("data", [additive_problem(p=5, n_classes=3), mixed_problem()])
def test_the_screen_is_the_sum_that_it_stands_for(data):
    contrasts = fitted_additive_model(data).contrasts()
    screened = strongest_terms(data, contrasts, every_term(len(data.levels), 2), count=1000)
    expected = [screened_one_by_one(data, pair, contrasts) for pair in screened.terms]
    np.testing.assert_allclose(screened.statistic, [one for one, _ in expected], rtol=1e-9)
    np.testing.assert_allclose(screened.log_p, [log_p for _, log_p in expected], rtol=1e-9)


def test_the_strongest_are_the_first_of_all_in_order():
    rng = np.random.default_rng(0)
    log_p = -rng.permutation(50).astype(float)
    terms = np.array([(a, a + 1) for a in range(50)])
    everything = ScreenedTerms(terms, 2 * log_p, log_p)
    for count in (1, 7, 49, 50, 60):
        strongest = everything.strongest(count)
        order = np.argsort(log_p)[:count]
        np.testing.assert_array_equal(strongest.log_p, log_p[order])
        np.testing.assert_array_equal(strongest.statistic, 2 * log_p[order])
        np.testing.assert_array_equal(strongest.terms, terms[order])


@pytest.mark.parametrize("form", ["kernel or score", "single"])
def test_a_selective_screen_keeps_what_any_form_finds_notable(form, monkeypatch):
    """One form above its limit is enough, whatever the others say."""
    data = additive_problem(n=300, p=6)
    contrasts = fitted_additive_model(data).contrasts()
    everything = strongest_terms(data, contrasts, every_term(6, 2), count=1000)
    monkeypatch.setattr(scan, "SELECTIVE_FROM", 0)
    monkeypatch.setattr(scan, "NOTABLE", 0.0 if form != "single" else np.inf)
    monkeypatch.setattr(scan, "NOTABLE_SINGLE", 0.0 if form == "single" else np.inf)
    kept = strongest_terms(data, contrasts, every_term(6, 2), count=1000)
    np.testing.assert_array_equal(kept.terms, everything.terms)
    monkeypatch.setattr(scan, "NOTABLE", np.inf)
    monkeypatch.setattr(scan, "NOTABLE_SINGLE", np.inf)
    assert len(strongest_terms(data, contrasts, every_term(6, 2), count=1000).terms) == 0
