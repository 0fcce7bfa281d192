"""Properties of InteractionTest as a user sees them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from immigrate import InteractionTest
from immigrate.inference.adjustment import benjamini_hochberg

N_FEATURES = 6


def xor_data(n=240, p=N_FEATURES, seed=0, accuracy=0.9):
    """XOR of the first two features, some labels wrong, and a main effect of the third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    is_case = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) > accuracy)
    return X, np.where(rng.random(n) < 0.15, X[:, 2] > 0, is_case).astype(int)


def additive_data(n=200, p=N_FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] - X[:, 1] + rng.logistic(size=n) > 0).astype(int)


def p_by_pair(test):
    """p-values keyed by the set of names."""
    names = test.table_.filter(like="feature_").to_numpy()
    return {frozenset(row): p for row, p in zip(names, test.table_["p_value"])}


def assert_same_p_values(first, second, rtol=1e-6):
    a, b = p_by_pair(first), p_by_pair(second)
    assert a.keys() == b.keys()
    np.testing.assert_allclose([a[k] for k in a], [b[k] for k in a], rtol=rtol)


@parametrize_with_checks(
    [InteractionTest(n_draws=19), InteractionTest(adjust="westfall-young", n_draws=19)]
)
def test_follows_the_conventions_of_scikit_learn(estimator, check):
    check(estimator)


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
    for adjust in ("holm", "fdr", None):
        table = InteractionTest(adjust=adjust).fit(*xor_data()).table_
        assert (table["p_adjusted"] >= table["p_value"] * (1 - 1e-12)).all()


@pytest.mark.parametrize("order", [2, 3])
def test_order_of_features_does_not_matter(order):
    X, y = xor_data()
    names = [f"f{j}" for j in range(N_FEATURES)]
    frame = pd.DataFrame(X, columns=names)
    shuffled = frame[["f3", "f0", "f5", "f1", "f4", "f2"]]
    test = InteractionTest(order=order)
    assert_same_p_values(test.fit(frame, y), InteractionTest(order=order).fit(shuffled, y))


def test_order_of_samples_does_not_matter():
    X, y = xor_data()
    order = np.random.default_rng(1).permutation(len(y))
    assert_same_p_values(InteractionTest().fit(X, y), InteractionTest().fit(X[order], y[order]))


def test_order_of_genotypes_does_not_matter():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.binomial(2, 0.4, (150, 6)).astype(float), columns=list("abcdef"))
    y = rng.integers(0, 2, 150)
    assert_same_p_values(
        InteractionTest().fit(frame, y), InteractionTest().fit(frame[list("fbdace")], y)
    )


def test_label_names_do_not_matter():
    X, y = xor_data(n=203, seed=3)
    for labels in (np.array(["b", "a"]), np.array([1, -1]), np.array([False, True])):
        assert_same_p_values(InteractionTest().fit(X, y), InteractionTest().fit(X, labels[y]))


def test_names_of_three_classes_do_not_matter():
    X, y = xor_data(n=181)
    y = np.where(X[:, 3] > 0.8, 2, y)
    renamed = np.array(["m", "a", "z"])[y]
    assert_same_p_values(InteractionTest().fit(X, y), InteractionTest().fit(X, renamed), rtol=1e-4)


def test_scale_and_origin_of_features_do_not_matter():
    X, y = xor_data()
    assert_same_p_values(InteractionTest().fit(X, y), InteractionTest().fit(3 * X - 7, y))


def test_monotone_transforms_of_few_levels_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 5)).astype(float)
    y = rng.integers(0, 2, 200)
    assert_same_p_values(InteractionTest().fit(X, y), InteractionTest().fit(np.exp(X), y))


def test_monotone_transforms_hardly_change_continuous_features():
    """Only the linear column of the additive model sees the values; the rest sees ranks."""
    X, y = xor_data()
    before, after = InteractionTest().fit(X, y), InteractionTest().fit(X**3, y)
    assert after.selected_["feature_2"].tolist() == before.selected_["feature_2"].tolist()


@pytest.mark.parametrize("screen", [None, 200])
def test_number_of_threads_does_not_matter(screen):
    X, y = xor_data(p=25)
    one = InteractionTest(screen=screen, n_jobs=1).fit(X, y)
    two = InteractionTest(screen=screen, n_jobs=2).fit(X, y)
    pd.testing.assert_frame_equal(one.table_, two.table_, check_exact=True)
    assert len(one.table_) == 300  # more than the terms of one task


@pytest.mark.filterwarnings("ignore:The stepwise search ended")
@pytest.mark.parametrize("n_levels", [3, None])
def test_weights_are_repetitions(n_levels):
    X, y = xor_data(n=120)
    if n_levels:
        X = np.digitize(X, [-0.5, 0.5]).astype(float)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = InteractionTest().fit(X, y, sample_weight=weight)
    repeated = InteractionTest().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_p_values(weighted, repeated)
    assert weighted.additive_model_.strength == repeated.additive_model_.strength


def test_missing_values_leave_the_rest_of_the_evidence():
    X, y = xor_data()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    test = InteractionTest().fit(X, y)
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["x0", "x1"]]


def test_categories_are_used_by_their_levels():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", "grey"], 400)
    size = rng.normal(size=400)
    y = ((np.isin(colour, ["red", "blue"])) ^ (size > 0)) ^ (rng.random(400) < 0.15)
    frame = pd.DataFrame(
        {"size": size, "colour": pd.Categorical(colour), "noise": rng.normal(size=400)}
    )
    by_type = InteractionTest().fit(frame, y)
    assert set(by_type.selected_.iloc[0, :2]) == {"size", "colour"}
    codes = frame.assign(colour=frame["colour"].cat.codes)
    by_name = InteractionTest(categorical_features=["colour"]).fit(codes, y)
    assert_same_p_values(by_type, by_name)


def test_order_of_nominal_levels_does_not_matter():
    rng = np.random.default_rng(1)
    codes = rng.choice(5, 300, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    other = rng.normal(size=300)
    y = rng.integers(0, 2, 300)
    renamed = np.array([3, 0, 4, 1, 2])[codes]
    first = InteractionTest(categorical_features=[0]).fit(np.column_stack([codes, other]), y)
    second = InteractionTest(categorical_features=[0]).fit(np.column_stack([renamed, other]), y)
    assert_same_p_values(first, second, rtol=1e-4)


@pytest.mark.parametrize("n_levels", [4, 10])
def test_names_of_equally_common_levels_do_not_matter(n_levels):
    """The contrasts of such levels have no order of their own."""
    rng = np.random.default_rng(0)
    code, z = rng.permutation(np.arange(400) % n_levels), rng.normal(size=(400, 2))
    y = ((code < n_levels / 2) ^ (z[:, 0] > 0)) ^ (rng.random(400) < 0.3)
    first, second = (
        InteractionTest(categorical_features=["c"]).fit(
            pd.DataFrame(z, columns=["z", "w"]).assign(c=names[code]), y
        )
        for names in (np.arange(n_levels), rng.permutation(n_levels))
    )
    assert_same_p_values(first, second)
    assert set(first.selected_.iloc[0, :2]) == {"c", "z"}


def test_rare_levels_with_main_effects_are_no_interaction():
    """Products must not tell levels apart whose main effects the null model cannot hold."""
    rng = np.random.default_rng(0)
    effect = 1.5 * rng.standard_normal(60)
    n_found = 0
    for _ in range(5):
        code = rng.integers(0, 60, 3000)
        other = 0.9 * effect[code] + 0.5 * rng.standard_normal(3000)
        y = effect[code] + rng.logistic(size=3000) > 0
        test = InteractionTest(categorical_features=[0]).fit(np.column_stack([code, other]), y)
        n_found += len(test.selected_)
    assert n_found <= 1


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


def test_the_length_of_the_table_does_not_change_what_is_found():
    X, y = xor_data(n=400, p=8)
    y = np.where(
        np.random.default_rng(1).random(400) < 0.5, (X[:, 4] * X[:, 5] > 0).astype(int), y
    )
    full, short = InteractionTest().fit(X, y), InteractionTest(max_table=1).fit(X, y)
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
    alone = benjamini_hochberg(log_p[1:], n_tests=9, n_found=1)
    both = benjamini_hochberg(log_p, n_tests=10)
    np.testing.assert_allclose(alone, both[1:])


def test_a_search_that_ends_early_says_so():
    X, y = xor_data(n=60)
    with pytest.warns(UserWarning, match="ended because the null model would outgrow"):
        InteractionTest(adjust=None, alpha=0.5).fit(X, y)


def test_objects_that_are_numbers_are_numbers():
    X, y = xor_data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert_same_p_values(
        InteractionTest().fit(frame, y), InteractionTest().fit(frame.astype(object), y)
    )


def test_correlates_of_missing_values_are_no_interaction():
    """Where a feature is missing, its correlates carry its effect; most of these had p < .05."""
    p_values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.sqrt(0.8) * rng.normal(size=(800, 1)) + np.sqrt(0.2) * rng.normal(size=(800, 3))
        y = (rng.logistic(size=800) < 2 * X[:, 0]).astype(int)
        X[rng.random(800) < 0.3, 0] = np.nan
        p_values += p_by_pair(InteractionTest(stepwise=False).fit(X, y)).values()
    # More than 10 of 60 at .05 have probability .0003.
    assert np.sum(np.array(p_values) < 0.05) <= 10


def test_missing_values_of_any_kind_are_missing():
    X, y = xor_data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.loc[::7, "c"] = np.nan
    as_objects = frame.astype(object)
    as_objects.loc[::7, "c"] = pd.NA
    assert_same_p_values(InteractionTest().fit(frame, y), InteractionTest().fit(as_objects, y))


def test_columns_can_be_named_and_numbered():
    X, y = xor_data()
    frame = pd.DataFrame(np.round(X), columns=list("abcdef"))
    mixed = InteractionTest(categorical_features=["a", 1]).fit(frame, y)
    assert_same_p_values(mixed, InteractionTest(categorical_features=["a", "b"]).fit(frame, y))


def test_weights_that_are_no_counts_are_noticed():
    X, y = xor_data()
    with pytest.warns(UserWarning, match="reads weights as counts"):
        InteractionTest().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))


def test_weights_scaled_as_advised_are_accepted(recwarn):
    X, y = additive_data()
    weight = np.exp(1.2 * np.random.default_rng(0).normal(size=len(y)))
    InteractionTest().fit(X, y, sample_weight=weight * weight.sum() / np.sum(weight**2))
    assert not recwarn.list


@pytest.mark.parametrize("blank", [np.nan, None])
def test_a_flag_of_one_value_or_missing_has_its_main_effect(blank):
    """The label follows the flag, which is the XOR of two features: no pair acts beyond it."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 600))
    is_set = (a * b > 0) ^ (rng.random(600) < 0.1)
    y = (rng.logistic(size=600) < 3 * (is_set - 0.5)).astype(int)
    flag = np.where(is_set, "yes", None) if blank is None else np.where(is_set, 1.0, blank)
    test = InteractionTest().fit(pd.DataFrame({"a": a, "b": b, "flag": flag}), y)
    as_numbers = InteractionTest().fit(pd.DataFrame({"a": a, "b": b, "flag": is_set}), y)
    assert test.selected_.empty
    assert test.n_tests_ == as_numbers.n_tests_ == 3
    if blank is not None:
        assert_same_p_values(test, as_numbers)


def test_westfall_young_agrees_with_holm_on_clear_cases():
    X, y = xor_data()
    test = InteractionTest(adjust="westfall-young", n_draws=199, random_state=0).fit(X, y)
    assert test.selected_["p_adjusted"].tolist() == pytest.approx([1 / 200])
    again = InteractionTest(adjust="westfall-young", n_draws=199, random_state=0).fit(X, y)
    pd.testing.assert_frame_equal(test.table_, again.table_)


def test_screen_leaves_the_strongest_p_values_exact():
    X, y = xor_data(p=12)
    exact, screened = InteractionTest().fit(X, y), InteractionTest(screen=20).fit(X, y)
    assert screened.table_["is_exact"].sum() == 20
    assert screened.n_tests_ == exact.n_tests_ == 66
    row = ["feature_1", "feature_2", "statistic", "p_value", "p_adjusted"]
    pd.testing.assert_series_equal(screened.table_.loc[0, row], exact.table_.loc[0, row])


def test_many_features_stay_bounded():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 400))
    y = (X[:, 5] + 0.5 * rng.normal(size=80) > 0).astype(int)
    test = InteractionTest(max_table=1000).fit(X, y)
    assert len(test.table_) == 1000
    assert test.n_tests_ == 400 * 399 // 2
    assert 5 in test.additive_model_.features
    assert test.selected_.empty


def test_strongest_features_come_in_order_of_their_best_pair():
    test = InteractionTest().fit(*xor_data())
    assert set(test.strongest_features(2)) == {"x0", "x1"}
    assert len(test.strongest_features(100)) == N_FEATURES


def test_constant_columns_form_no_pairs():
    X, y = xor_data()
    X[:, 4] = 1.0
    test = InteractionTest().fit(X, y)
    assert test.n_tests_ == 10
    assert test.additive_model_.features.tolist() == [0, 1, 2, 3, 5]
    assert "x4" not in test.table_[["feature_1", "feature_2"]].to_numpy()


def test_all_columns_constant_gives_an_empty_table():
    test = InteractionTest().fit(np.ones((20, 3)), np.arange(20) % 2)
    assert test.table_.empty
    assert test.selected_.empty


def test_summary_says_what_was_found():
    text = InteractionTest().fit(*xor_data()).summary()
    assert "15 pairs of 6 features" in text
    assert "x0 x x1" in text
    assert "No pair departs" in InteractionTest().fit(*additive_data()).summary()


def test_summary_is_of_the_fit_not_of_later_parameters():
    test = InteractionTest().fit(*xor_data())
    before = test.summary()
    assert test.set_params(order=3, adjust=None, stepwise=False).summary() == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"adjust": "bonferroni"}, "'holm', 'westfall-young', 'fdr', None"),
        ({"order": 4}, "2, 3"),
        ({"order": 2.0}, "2, 3"),
        ({"order": np.array([2, 3])}, "2, 3"),
        ({"alpha": 0}, "between 0 and 1"),
        ({"screen": 0}, "whole number"),
        ({"n_draws": 2.5}, "whole number"),
        ({"stepwise": "no"}, "True or False"),
        ({"categorical_features": ["nobody"]}, "neither a feature name"),
        ({"categorical_features": [True]}, "1 entries for 6 features"),
    ],
)
def test_wrong_options_say_what_is_right(parameters, message):
    with pytest.raises(ValueError, match=message):
        InteractionTest(**parameters).fit(*xor_data(n=40))


def test_wrong_data_say_what_is_right():
    X, y = xor_data(n=40)
    with pytest.raises(ValueError, match="one class"):
        InteractionTest().fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="n_features=1"):
        InteractionTest().fit(X[:, :1], y)
    with pytest.raises(ValueError, match="inf"):
        InteractionTest().fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        InteractionTest().fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(ValueError, match="Every class of y has one sample"):
        InteractionTest().fit(X[:2], [0, 1])
    frame = pd.DataFrame(X).add_prefix("f")
    days = pd.date_range("2020", periods=40)
    for dates in (days, days.to_period("M")):
        with pytest.raises(ValueError, match="'day' holds dates"):
            InteractionTest().fit(frame.assign(day=dates), y)
    with pytest.raises(ValueError, match="'f0' holds neither numbers nor names"):
        InteractionTest().fit(frame.assign(f0=[[1], [2]] * 20), y)
    with pytest.raises(ValueError, match="whole number"):
        InteractionTest().fit(X, y).strongest_features(-1)


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
