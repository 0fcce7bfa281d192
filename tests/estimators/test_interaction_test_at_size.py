"""Long tests: threads, limits of the scan, what is said beforehand and meanwhile, Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from additive.problems import encoded

from immigrate import InteractionTest, durations
from immigrate.additive import rows
from immigrate.additive.null_model import fitted_additive_model
from immigrate.estimators import interaction_test
from immigrate.interactions import scan, scan_tiles
from immigrate.interactions.question import every_term
from immigrate.interactions.scan import strongest_terms
from immigrate.progress import Run


def wide_problem(n=60, p=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[:, ::3] = rng.integers(0, 3, (n, len(range(0, p, 3))))
    return X, (X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("count", [7, 300])
def test_limits_of_the_scan_lose_none_of_the_strongest(monkeypatch, count):
    monkeypatch.setattr(scan, "LARGEST_TILE_SIDE", 16)
    data = encoded(*wide_problem())
    contrasts, among = fitted_additive_model(data).contrasts(), every_term(150, 2)
    everything = strongest_terms(data, contrasts, among, among.n_terms)
    found = strongest_terms(data, contrasts, among, count)
    np.testing.assert_array_equal(found.terms, everything.terms[:count])
    np.testing.assert_array_equal(found.log_p, everything.log_p[:count])


def test_limits_leave_most_terms_without_a_p_value(monkeypatch):
    """Or the test above would show nothing."""
    monkeypatch.setattr(scan, "LARGEST_TILE_SIDE", 16)
    n_computed = []
    plain = scan_tiles.TileNull.results

    def counted(self, forms, index, order):
        n_computed.append(len(index[0]))
        return plain(self, forms, index, order)

    monkeypatch.setattr(scan_tiles.TileNull, "results", counted)
    data, among = encoded(*wide_problem()), every_term(150, 2)
    strongest_terms(data, fitted_additive_model(data).contrasts(), among, 7)
    assert sum(n_computed) < 0.3 * among.n_terms


def test_rows_of_a_tile_can_come_in_blocks(monkeypatch):
    data, among = encoded(*wide_problem(n=300, p=30)), every_term(30, 2)
    contrasts = fitted_additive_model(data).contrasts()
    expected = strongest_terms(data, contrasts, among, 50)
    monkeypatch.setattr(scan, "SIDE_BYTES", 1.0)
    monkeypatch.setattr(scan, "FEWEST_ROWS", 70)
    found = strongest_terms(data, contrasts, among, 50)
    np.testing.assert_array_equal(found.terms, expected.terms)
    np.testing.assert_allclose(found.log_p, expected.log_p, rtol=1e-9)


def test_threads_do_not_change_the_scan(monkeypatch):
    monkeypatch.setattr(scan, "LARGEST_TILE_SIDE", 16)
    data, among = encoded(*wide_problem()), every_term(150, 2)
    contrasts = fitted_additive_model(data).contrasts()
    one, three = (strongest_terms(data, contrasts, among, 40, Run(n)) for n in (1, 3))
    np.testing.assert_array_equal(one.terms, three.terms)
    np.testing.assert_array_equal(one.log_p, three.log_p)


def test_a_long_test_is_foretold(monkeypatch, capsys):
    monkeypatch.setattr(durations, "FEWEST_OPERATIONS", 0.0)
    monkeypatch.setattr(durations, "multiply_rate", lambda: 1e5)
    monkeypatch.setattr(interaction_test, "LITTLE_WORK", 0)
    InteractionTest().fit(*wide_problem(p=8))
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "InteractionTest: about " in told
    assert "n_jobs" in told


def test_a_short_test_is_silent(capsys):
    InteractionTest().fit(*wide_problem(p=8))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("stage", "parameter"), [("scan", "pairs="), ("exact", "screen="), ("fit", "rows")]
)
def test_the_advice_names_what_makes_it_short(stage, parameter):
    assert parameter in durations.SearchDuration(**{stage: 100.0}).advice


def test_what_takes_minutes_is_announced(capsys):
    durations.announce("It", 130.0, "wait")
    assert capsys.readouterr().err == "It: about 2 min; wait.\n"


def test_a_long_stage_shows_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(rows.Run, "__init__", _impatient(rows.Run.__init__))
    monkeypatch.setattr(scan, "LARGEST_TILE_SIDE", 16)
    InteractionTest(screen=5, verbose=1, stepwise=False).fit(*wide_problem())
    said = capsys.readouterr().out
    assert "screen of 11,175 terms, 100 %" in said


def _impatient(init):
    def made(self, n_jobs=None, write=None, seconds_between=0.0):
        init(self, n_jobs, write, 0.0)

    return made


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_scan(n_jobs):
    """The time is not asserted beyond what a whole scan would take."""
    X, y = wide_problem(n=300, p=2500)

    def interrupt():
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    test = InteractionTest(n_jobs=n_jobs)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        test.fit(X, y)
    assert not hasattr(test, "table_")
