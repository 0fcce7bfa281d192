"""The foretold duration against its definition: operations over the rate, stage by stage."""

from __future__ import annotations

import pytest
from additive.problems import additive_problem, mixed_problem, search_for_pairs

from immigrate import durations
from immigrate.durations import SearchDuration
from immigrate.interactions import search
from immigrate.interactions.search import predicted_duration

RATE = 1e9


@pytest.fixture(autouse=True)
def known_rate(monkeypatch):
    monkeypatch.setattr(durations, "multiply_rate", lambda: RATE)
    monkeypatch.setattr(durations, "FEWEST_OPERATIONS", 0.0)


def additive_width(data):
    own = sum(data.main_effect(a).of(slice(None)).shape[0] for a in range(len(data.levels)))
    return min(own, data.outcome.Y.shape[0] // 2 + 1)


@pytest.mark.parametrize(
    "data", [additive_problem(), additive_problem(n_classes=3), mixed_problem()]
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exact_tests_are_counted_by_their_products(data, n_jobs):
    """Each term: its k^2 + 2 columns and main effects with themselves and with the null model.

    The null model is fitted in forty passes at a fifth of the rate, tests run twice, at a fifth.
    """
    n, n_logits = data.outcome.Y.shape
    p, m, k = len(data.levels), additive_width(data), data.phi.shape[1]
    found = predicted_duration(search_for_pairs(n_jobs=n_jobs), data)
    rows = k**2 + 2 + 2 * m / p
    exact = 2 * 2 * (p * (p - 1) / 2) * n * rows * (rows + m * n_logits) * n_logits
    assert found.exact == pytest.approx(exact / RATE / 0.2 / n_jobs)
    assert found.fit == pytest.approx(40 * 2 * n * m**2 * n_logits**2 / RATE / 0.2 / n_jobs)
    assert found.scan == 0
    assert found.seconds == pytest.approx(found.fit + found.exact)


@pytest.mark.parametrize(("n_refined", "n_exact"), [(4, 4), (7, 7), (10_000, 10)])
def test_a_scan_visits_all_terms_and_refines_some(n_refined, n_exact):
    data = additive_problem(n_classes=3)
    n, n_logits = data.outcome.Y.shape
    k, p, m = data.phi.shape[1], len(data.levels), additive_width(data)
    found = predicted_duration(search_for_pairs(n_jobs=1, n_refined=n_refined), data)
    assert found.scan == pytest.approx(2 * n * (k**2 + 1 + 4) * 10 * n_logits / RATE / 0.6)
    rows = k**2 + 2 + 2 * m / p
    exact = 4 * n_exact * n * rows * (rows + m * n_logits) * n_logits
    assert found.exact == pytest.approx(exact / RATE / 0.2)


@pytest.mark.parametrize("limit", ["MOST_EXACT_TERMS", "MOST_EXACT_WORK"])
def test_many_terms_are_scanned_and_a_thousandth_refined(monkeypatch, limit):
    data = additive_problem(p=5)
    n, _ = data.outcome.Y.shape
    whole = predicted_duration(search_for_pairs(n_jobs=1), data)
    work = {"MOST_EXACT_TERMS": 10, "MOST_EXACT_WORK": 10 * n * additive_width(data)}[limit]
    monkeypatch.setattr(durations, limit, work)
    assert predicted_duration(search_for_pairs(n_jobs=1), data).scan == 0
    monkeypatch.setattr(durations, limit, work - 1)
    monkeypatch.setattr(search, "FEWEST_REFINED", 2)
    found = predicted_duration(search_for_pairs(n_jobs=1), data)
    assert found.scan > 0
    assert found.exact == pytest.approx(whole.exact * 2 / 10)
    monkeypatch.setattr(search, "REFINED_BELOW", 0.5)
    found = predicted_duration(search_for_pairs(n_jobs=1), data)
    assert found.exact == pytest.approx(whole.exact / 2)


def test_little_work_is_not_measured(monkeypatch):
    data = additive_problem()
    operations = predicted_duration(search_for_pairs(n_jobs=1), data)
    total = (operations.fit + operations.exact) * 0.2 * RATE
    monkeypatch.setattr(durations, "FEWEST_OPERATIONS", total * 1.001)
    assert predicted_duration(search_for_pairs(n_jobs=1), data) == SearchDuration(0.0, 0.0, 0.0)
    monkeypatch.setattr(durations, "FEWEST_OPERATIONS", total * 0.999)
    assert predicted_duration(search_for_pairs(n_jobs=1), data).seconds > 0


def test_nothing_takes_no_time():
    assert SearchDuration().seconds == 0
    assert SearchDuration(fit=1.0).seconds == 1
    assert SearchDuration(scan=2.0).seconds == 2


@pytest.mark.parametrize(
    ("stages", "word"),
    [((3.0, 1.0, 2.0), "rows"), ((1.0, 3.0, 2.0), "pairs="), ((1.0, 2.0, 3.0), "screen=")],
)
def test_advice_is_about_the_longest_stage(stages, word):
    assert SearchDuration(*stages).advice.startswith((word, f"X with fewer {word}"))


def test_the_rate_is_that_of_the_fastest_product(monkeypatch):
    monkeypatch.undo()
    clock = iter([0.0, 2.0, 10.0, 10.5, 20.0, 21.0])
    monkeypatch.setattr(durations.time, "perf_counter", lambda: next(clock))
    assert durations.multiply_rate() == pytest.approx(2 * 384**3 / 0.5)
