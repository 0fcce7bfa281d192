"""What InteractionTest finds and reports."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest
from interaction_problems import (
    N_FEATURES,
    additive_data,
    xor_data,
)

from immigrate import InteractionTest
from immigrate.datasets import make_monk1
from immigrate.interactions import findings, search
from immigrate.interactions.adjustments import PValues, benjamini_hochberg
from immigrate.options import WestfallYoung


def test_finds_the_pair_and_nothing_else():
    test = InteractionTest().fit(*xor_data())
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["x0", "x1"]]


def test_strong_main_effects_are_no_interaction():
    X, y = additive_data(n=400)
    assert InteractionTest().fit(X, y).selected_.empty


def test_table_lists_every_pair_in_order_of_evidence():
    table = InteractionTest().fit(*xor_data()).table_
    assert len(table) == N_FEATURES * (N_FEATURES - 1) // 2
    assert table["p_value"].is_monotonic_increasing
    assert table["p_adjusted"].is_monotonic_increasing
    assert table["rank"].tolist() == list(range(1, len(table) + 1))


def test_adjusted_p_is_never_below_the_p_value():
    for adjust in ("holm", "fdr_bh", None):
        table = InteractionTest(adjust=adjust).fit(*xor_data()).table_
        assert (table["p_adjusted"] >= table["p_value"] * (1 - 1e-12)).all()


@pytest.mark.parametrize(("n", "p"), [(200, 60), (2000, 15)])
def test_curves_among_correlates_are_no_interaction(n, p):
    """Additive, but with many columns for the samples, or samples enough to see the tails."""
    n_found = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, p))
        for a in range(1, p):
            X[:, a] = 0.8 * X[:, a - 1] + 0.6 * X[:, a]
        logit = (X[:, p // 12 :: p // 6] ** 2).sum(axis=1)
        y = rng.random(n) < 1 / (1 + np.exp(logit.mean() - logit))
        n_found += len(InteractionTest().fit(X, y).selected_)
    assert n_found <= 1


def test_three_classes_give_one_p_value_per_pair():
    X, y = xor_data(n=300)
    y = np.where(np.random.default_rng(0).random(300) < 0.3, 2, y)
    test = InteractionTest().fit(X, y)
    assert len(test.table_) == 15
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["x0", "x1"]]


def test_a_pair_without_noise_brings_no_others_along():
    """What a penalty leaves of a perfect pair must not be taken for further pairs."""
    X, y = make_monk1()
    found = InteractionTest().fit(X, y).selected_
    assert found[["feature_1", "feature_2"]].values.tolist() == [["head_shape", "body_shape"]]
    n_others = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, size=(400, 6)).astype(float)
        y = (X[:, 0] == X[:, 1]) | (X[:, 2] == 0)
        n_others += len(InteractionTest().fit(X, y).selected_) - 1
    assert n_others <= 1


def test_stepwise_drops_the_shadow_of_a_pair():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    X[:, 2] = 0.7 * X[:, 1] + np.sqrt(0.51) * X[:, 2]
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(400) < 0.15)
    assert len(InteractionTest(stepwise=False).fit(X, y).selected_) > 1
    test = InteractionTest().fit(X, y)
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["x0", "x1"]]


def test_triples_are_found_with_order_three():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 6))
    y = (np.prod(np.sign(X[:, :3]), axis=1) > 0) ^ (rng.random(500) < 0.15)
    assert InteractionTest().fit(X, y).selected_.empty
    selected = InteractionTest(order=3).fit(X, y).selected_
    assert selected.iloc[:, :3].values.tolist() == [["x0", "x1", "x2"]]


@pytest.mark.parametrize("stepwise", [True, False])
def test_the_shadow_of_a_pair_is_no_triple(stepwise):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 6))
    for a in range(1, 6):
        X[:, a] = 0.6 * X[:, a - 1] + 0.8 * X[:, a]
    y = (X[:, 1] * X[:, 2] > 0) ^ (rng.random(400) < 0.1)
    test = InteractionTest(order=3, stepwise=stepwise).fit(X, y)
    assert test.table_["p_adjusted"].min() > 0.01


def test_the_length_of_the_table_does_not_change_what_is_found(monkeypatch):
    X, y = xor_data(n=400, p=8)
    y = np.where(
        np.random.default_rng(1).random(400) < 0.5, (X[:, 4] * X[:, 5] > 0).astype(int), y
    )
    full = InteractionTest().fit(X, y)
    for module in (search, findings):
        monkeypatch.setattr(module, "MOST_LISTED", 1)
    short = InteractionTest().fit(X, y)
    assert len(short.table_) == 1
    assert len(full.selected_) == 2
    pd.testing.assert_frame_equal(full.selected_, short.selected_)


def test_only_exact_p_values_can_be_found():
    """Approximate p-values of rare genotypes can be tiny where no column can be tested."""
    rng = np.random.default_rng(2)
    X = rng.binomial(2, 0.03, (200, 60)).astype(float)
    y = rng.integers(0, 2, 200)
    for stepwise in (True, False):
        test = InteractionTest(screen=5, stepwise=stepwise).fit(X, y)
        table = test.table_
        assert table["is_exact"].tolist() == [True] * 5 + [False] * (len(table) - 5)
        assert table.loc[~table["is_exact"], "p_adjusted"].isna().all()
        assert len(test.selected_) <= table["is_exact"].sum()


def test_stepwise_false_discovery_counts_what_was_found():
    """The second of two equal p-values is adjusted by its rank, not as if it were the first."""
    log_p = np.log([0.004, 0.02])
    alone = benjamini_hochberg(PValues(log_p[1:], n_tests=9, n_found=1))
    both = benjamini_hochberg(PValues(log_p, n_tests=10))
    np.testing.assert_allclose(alone, both[1:])


def test_a_search_that_ends_early_says_so():
    X, y = xor_data(n=60)
    with pytest.warns(UserWarning, match="ended because the null model would outgrow"):
        InteractionTest(adjust=None, alpha=0.5).fit(X, y)


def test_westfall_young_agrees_with_holm_on_clear_cases():
    X, y = xor_data()
    draws = WestfallYoung(n_draws=199, random_state=0)
    test = InteractionTest(adjust=draws).fit(X, y)
    assert test.selected_["p_adjusted"].tolist() == pytest.approx([1 / 200])
    again = InteractionTest(adjust=draws).fit(X, y)
    pd.testing.assert_frame_equal(test.table_, again.table_)


def test_screen_leaves_the_strongest_p_values_exact():
    X, y = xor_data(p=12)
    exact, screened = InteractionTest().fit(X, y), InteractionTest(screen=20).fit(X, y)
    assert screened.table_["is_exact"].sum() == 20
    assert screened.n_tests_ == exact.n_tests_ == 66
    row = ["feature_1", "feature_2", "statistic", "p_value", "p_adjusted"]
    pd.testing.assert_series_equal(screened.table_.loc[0, row], exact.table_.loc[0, row])


def test_many_features_stay_bounded(monkeypatch):
    for module in (search, findings):
        monkeypatch.setattr(module, "MOST_LISTED", 500)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 160))
    y = (X[:, 5] + 0.5 * rng.normal(size=80) > 0).astype(int)
    test = InteractionTest().fit(X, y)
    assert len(test.table_) == 500
    assert test.n_tests_ == 160 * 159 // 2
    assert 5 in test.additive_model_.features
    assert test.selected_.empty


def test_strongest_features_come_in_order_of_their_best_pair():
    test = InteractionTest().fit(*xor_data())
    assert set(test.strongest_features(2)) == {"x0", "x1"}
    assert len(test.strongest_features(100)) == N_FEATURES


def test_summary_says_what_was_found():
    text = InteractionTest().fit(*xor_data()).summary()
    assert "Which act together: 1 of 15 pairs detected" in text
    assert "x0 × x1: adjusted p" in text
    text = InteractionTest().fit(*additive_data()).summary()
    assert "Which act together: none detected" in text


def test_summary_is_of_the_fit_not_of_later_parameters():
    test = InteractionTest().fit(*xor_data())
    before = test.summary()
    assert test.set_params(order=3, adjust=None, stepwise=False).summary() == before


def test_westfall_young_refuses_more_terms_than_it_can_draw():
    X, y = xor_data(n=30, p=700)
    with pytest.raises(ValueError, match="Use adjust='holm'"):
        InteractionTest(adjust="westfall-young").fit(X, y)


def _gametes(name):
    folder = os.environ.get("IMMIGRATE_DATA")
    if not folder:
        pytest.skip("IMMIGRATE_DATA is not set")
    table = pd.read_csv(Path(folder) / f"{name}.csv")
    return table.drop(columns="target"), table["target"]


def test_gametes_pair_comes_first():
    table = InteractionTest().fit(*_gametes("GAMETES_2way_h04")).table_
    assert set(table.loc[0, ["feature_1", "feature_2"]]) == {"P1", "P2"}
    assert table.loc[0, "p_adjusted"] < 1e-6


def test_gametes_triple_comes_first():
    table = InteractionTest(order=3).fit(*_gametes("GAMETES_3way_h02")).table_
    assert set(table.iloc[0, :3]) == {"P1", "P2", "P3"}
    assert table.loc[0, "p_adjusted"] < 1e-6


def test_forty_classes_take_seconds_and_little_memory():
    """A fit took 22 s and 380 MB when the work grew with the cube of the number of classes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 40, 300)
    tracemalloc.start()
    start = process_time()
    test = InteractionTest(outcome="class").fit(X, y)
    seconds, (_, peak) = process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(test.classes_) == 40
    assert seconds < 12
    assert peak < 150e6


def test_verbose_is_one_line_per_stage(capsys):
    X, y = xor_data()
    InteractionTest().fit(X, y)
    assert not capsys.readouterr().out
    InteractionTest(verbose=1, order=3).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("InteractionTest: ") for line in lines)
    assert ["Main effects" in lines[0], "added" in lines[1], "tested" in lines[2]] == [True] * 3
    assert lines[3] == "InteractionTest: 0 triples found."
