"""What InteractionTest makes of its input: what must not matter, what counts, what is refused."""

from __future__ import annotations

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from interaction_problems import (
    N_FEATURES,
    additive_data,
    assert_same_p_values,
    p_by_pair,
    xor_data,
)

from immigrate import InteractionTest
from immigrate.datasets import make_xor
from immigrate.options import WestfallYoung
from immigrate.table import ColumnWarning


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


@pytest.mark.parametrize("choice", [None, ["size"]])
def test_text_that_is_not_chosen_is_an_error_that_names_it(choice):
    frame = pd.DataFrame({"size": np.arange(40.0), "colour": ["red", "blue"] * 20})
    with pytest.raises(ValueError, match="'colour' holds categories, but categorical_features"):
        InteractionTest(categorical_features=choice).fit(frame, np.arange(40) % 3 == 0)


def test_without_categorical_features_codes_are_numbers():
    X, y = xor_data()
    X[:, 0] = np.digitize(X[:, 0], [-1, -0.5, 0, 0.5, 1, 1.5, 2])
    by_dtype = InteractionTest().fit(X, y)
    assert_same_p_values(by_dtype, InteractionTest(categorical_features=None).fit(X, y))
    nominal = InteractionTest(categorical_features=[0]).fit(X, y)
    assert not np.allclose(nominal.table_["p_value"], by_dtype.table_["p_value"])


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


def test_constant_columns_form_no_pairs():
    X, y = xor_data()
    X[:, 4] = 1.0
    with pytest.warns(ColumnWarning, match="'x4' \\(always 1\\): constant"):
        test = InteractionTest().fit(X, y)
    assert test.n_tests_ == 10
    assert test.additive_model_.features.tolist() == [0, 1, 2, 3, 5]
    assert "x4" not in test.table_[["feature_1", "feature_2"]].to_numpy()


def test_all_columns_constant_gives_an_empty_table():
    with pytest.warns(ColumnWarning, match="'x0' \\(always 1\\), 'x1'"):
        test = InteractionTest().fit(np.ones((20, 3)), np.arange(20) % 2)
    assert test.table_.empty
    assert test.selected_.empty


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"adjust": "fdr"}, "'holm', 'bonferroni', 'fdr_bh', .*; got 'fdr'"),
        ({"adjust": []}, "'holm', 'bonferroni', .* or WestfallYoung"),
        ({"order": 4}, "2, 3"),
        ({"order": 2.0}, "2, 3"),
        ({"order": np.array([2, 3])}, "2, 3"),
        ({"alpha": 0}, "between 0 and 1"),
        ({"screen": 0}, "whole number"),
        ({"adjust": WestfallYoung(n_draws=2.5)}, "whole number"),
        ({"outcome": "numbers"}, "'auto', 'class', 'number'"),
        ({"split": 1.5}, "split"),
        ({"pairs": 0.5}, "one feature, a list of pairs, or two lists"),
        ({"pairs": [("x0", "x0")]}, "with itself"),
        ({"pairs": "x1", "order": 3}, "all triples are tested"),
        ({"pairs": [("x0", "x1")], "adjust_for": ["x1"]}, "in adjust_for and in pairs"),
        ({"adjust_for": ["nobody"]}, "names 'nobody', but the columns"),
        ({"stepwise": "no"}, "True or False"),
        ({"categorical_features": ["nobody"]}, "names 'nobody', but the columns"),
        ({"categorical_features": [True]}, "mask of 1 entries, but X has 6 features"),
        ({"categorical_features": "dtype"}, "'dtype' is not understood"),
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
    with pytest.raises(ValueError, match="Every class of the target has one sample"):
        InteractionTest().fit(X[:2], [0, 1])
    frame = pd.DataFrame(X).add_prefix("f")
    days = pd.date_range("2020", periods=40)
    for dates in (days, days.to_period("M")):
        with pytest.raises(ValueError, match="'day' holds dates"):
            InteractionTest().fit(frame.assign(day=dates), y)
    with pytest.raises(TypeError, match="'f0' holds a list in row 0"):
        InteractionTest().fit(frame.assign(f0=[[1], [2]] * 20), y)
    with pytest.raises(ValueError, match="whole number"):
        InteractionTest().fit(X, y).strongest_features(-1)


@pytest.mark.parametrize("n_features", [1, 2])
def test_nominal_columns_of_rare_levels_alone_are_no_error(n_features):
    """None of their levels is common enough for a function of its own in the first look."""
    rng = np.random.default_rng(0)
    levels = [f"L{k % 12}" for k in range(60)]
    X = pd.DataFrame({"site": levels, "other": rng.permutation(levels)})
    # An identifier is left out.
    X = X.assign(other=[f"p{k}" for k in range(60)]) if n_features == 1 else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        test = InteractionTest().fit(X, np.arange(60) % 2)
    assert len(test.features_) == n_features
    assert test.features_["p_value"].between(0, 1).all()


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
@pytest.mark.parametrize("screen", [None, 4])
def test_backends_of_joblib_do_not_matter(backend, screen):
    """Threads share what is found, whatever kind of worker the user asks joblib for."""
    X, y = make_xor(150, 6, noise=0.1, random_state=0)
    alone = InteractionTest(screen=screen).fit(X, y)
    with joblib.parallel_config(backend, n_jobs=2):
        together = InteractionTest(screen=screen).fit(X, y)
    pd.testing.assert_frame_equal(together.table_, alone.table_)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], r"groups has the shape \(2,\) for 40 samples"),
        ([None, *range(39)], r"groups is missing \(NaN\) in 1 of 40 samples, first in row 0"),
        (["a", "a", *range(38)], "groups has 39 members for 40 samples; 'a' has 2 of them"),
    ],
)
def test_groups_that_say_too_little_or_that_samples_repeat(groups, message):
    X, y = make_xor(40, 3, random_state=0)
    with pytest.raises(ValueError, match=message):
        InteractionTest().fit(X, y, groups=groups)
    InteractionTest().fit(X, y, groups=["a", *range(39)])
