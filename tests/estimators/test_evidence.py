"""Features, sizes, directions, covariates, chosen pairs and numbers in `InteractionTest`."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from immigrate import InteractionTest, __version__
from immigrate.datasets import make_monk1, make_xor
from immigrate.outcomes import is_number_outcome

SIZE = ["size", "size_low", "size_high"]


def study(n=400, seed=0, sign=1.0):
    """dose × age acts on relapse, bmi has an effect of its own, and sex and the rest have none."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 4)), columns=["dose", "age", "bmi", "height"])
    X["sex"] = rng.choice(["f", "m"], n)
    logit = 1.3 * sign * X["dose"] * X["age"] - X["bmi"]
    return X, np.where(rng.logistic(size=n) < logit, "relapse", "cured")


def number_study(n=400, seed=0):
    X, _ = study(n, seed)
    rng = np.random.default_rng(seed + 1)
    y = X["dose"] * X["age"] + X["bmi"] + rng.normal(size=n) * np.exp(X["height"] / 3)
    return X, y.rename("crp")


@pytest.fixture(scope="module")
def fitted():
    return InteractionTest().fit(*study())


def test_features_and_pairs_are_told_with_size_and_direction(fitted):
    features = fitted.features_.set_index("feature")
    assert features.index[0] == "bmi"
    assert (features["p_adjusted"] <= 0.05).tolist() == [True, False, False, False, False]
    assert features.loc["bmi", "direction"] == "relapse is more likely where bmi is low"
    assert features["in_pair"].to_dict() == {
        name: name in ("dose", "age") for name in features.index
    }
    pair = fitted.selected_.iloc[0]
    assert (
        pair["direction"] == "relapse is more likely where dose and age are both high or both low"
    )
    assert pair["size_low"] < 1.3 < pair["size_high"]
    assert 0 < pair["deviance_share"] < 0.5


def test_a_found_pair_has_one_row_of_numbers_everywhere(fitted):
    columns = ["feature_1", "feature_2", "p_value", "p_adjusted", *SIZE, "deviance_share"]
    pd.testing.assert_frame_equal(
        fitted.table_.loc[fitted.table_["is_found"], columns], fitted.selected_[columns]
    )
    effect = fitted.effect("dose", "age")
    assert [effect.size, effect.size_low, effect.size_high] == pytest.approx(
        fitted.selected_.loc[0, SIZE].tolist(), rel=1e-9
    )
    assert effect.direction == fitted.selected_.loc[0, "direction"]


def test_later_finds_keep_the_evidence_at_their_entry():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 5))
    logit = 1.5 * np.sign(X[:, 0] * X[:, 1]) + 1.5 * np.sign(X[:, 2] * X[:, 3])
    test = InteractionTest().fit(X, rng.logistic(size=600) < logit)
    assert len(test.selected_) == 2
    assert test.table_["rank"].tolist() == list(range(1, 11))
    assert test.table_["p_adjusted"][:2].tolist() == test.selected_["p_adjusted"].tolist()


def test_swapped_labels_turn_directions_and_leave_sizes():
    X, y = study()
    swapped = np.where(y == "relapse", "cured", "relapse")
    one, other = InteractionTest().fit(X, y), InteractionTest().fit(X, swapped)
    for name in ("selected_", "features_"):
        a, b = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(a[SIZE], b[SIZE], rtol=1e-4, atol=1e-6)
    assert other.selected_.loc[0, "direction"] == (
        "relapse is more likely where dose is high and age low, or the reverse"
    )
    assert other.features_.loc[0, "direction"] == "relapse is more likely where bmi is high"


def test_synergy_and_antagonism_read_differently():
    together = InteractionTest().fit(*study(sign=1.0)).selected_.loc[0, "direction"]
    against = InteractionTest().fit(*study(sign=-1.0)).selected_.loc[0, "direction"]
    assert "both high or both low" in together
    assert "dose is high and age low, or the reverse" in against


@pytest.mark.parametrize(
    ("joint", "expected"),
    [
        (lambda a, b, f: 2 * np.sign((abs(a) - 0.67) * (abs(b) - 0.67)), "both far from their"),
        (lambda a, b, f: 2 * np.sign(a * (abs(b) - 0.67)), "a is high and b far from its middle"),
        (
            lambda a, b, f: 1.5 * a * np.where(f == "u", 1, -1),
            "a is high and f is u, or a is low",
        ),
    ],
)
def test_words_fit_the_shape(joint, expected):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(800, 2)), columns=["a", "b"])
    X["f"] = rng.choice(["u", "v"], 800)
    y = rng.logistic(size=800) < joint(X["a"], X["b"], X["f"])
    selected = InteractionTest().fit(X, y).selected_
    assert expected in selected.loc[0, "direction"]
    assert selected.loc[0, "direction"].startswith("class True is more likely where")


def test_levels_are_called_by_their_names():
    X, y = make_monk1()
    shape = {1: "round", 2: "square", 3: "octagon"}
    X = X.assign(head_shape=X["head_shape"].map(shape), body_shape=X["body_shape"].map(shape))
    test = InteractionTest().fit(X, y)
    for name in shape.values():
        assert f"head_shape is {name} and body_shape is {name}" in test.selected_["direction"][0]
    effect = test.effect("head_shape", "body_shape")
    assert sorted(effect.axes[0].values) == sorted(shape.values())
    assert effect.counts.tolist() == [[48.0] * 3] * 3


def test_counts_are_the_same_as_repeated_samples():
    X, y = study(200)
    weight = np.random.default_rng(0).integers(1, 4, 200)
    counted = InteractionTest().fit(X, y, sample_weight=weight)
    repeated = InteractionTest().fit(X.loc[X.index.repeat(weight)], np.repeat(y, weight))
    for name in ("features_", "table_", "selected_"):
        a, b = getattr(counted, name), getattr(repeated, name)
        numbers = a.select_dtypes("number").columns
        np.testing.assert_allclose(a[numbers], b[numbers], rtol=1e-5, atol=1e-7, err_msg=name)
    np.testing.assert_allclose(
        counted.effect(0, 1).value, repeated.effect(0, 1).value, rtol=1e-5, atol=1e-7
    )


def test_an_effect_is_turned_with_its_features(fitted):
    one, other = fitted.effect("dose", "age"), fitted.effect("age", 0)
    np.testing.assert_array_equal(one.value, other.value.swapaxes(1, 2))
    np.testing.assert_array_equal(one.counts, other.counts.T)
    assert [axis.name for axis in other.axes] == ["age", "dose"]
    assert one.counts.sum() == 400
    assert np.all(one.low < one.value)
    frame = one.to_frame()
    assert len(frame) == one.value.size
    assert frame.columns.tolist() == ["dose", "age", "class", "value", "low", "high", "count"]


def test_effects_that_cannot_be_shown_are_refused(fitted):
    with pytest.raises(ValueError, match="two different features"):
        fitted.effect("dose", "dose")
    with pytest.raises(ValueError, match="names 'weight', but the columns"):
        fitted.effect("dose", "weight")


def test_three_classes_have_a_surface_each():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    logits = np.column_stack([2 * np.sign(X[:, 0] * X[:, 1]), np.zeros(600), X[:, 2]])
    y = np.array(["a", "b", "c"])[np.argmax(logits + rng.gumbel(size=(600, 3)), axis=1)]
    test = InteractionTest().fit(X, y)
    assert "a is more likely where x0 and x1 are both high" in test.selected_["direction"][0]
    effect = test.effect(0, 1)
    assert effect.classes == ("a", "b", "c")
    np.testing.assert_allclose(effect.value.sum(axis=0), 0, atol=1e-8)


def test_numbers_are_tested_in_their_own_units():
    X, y = number_study()
    test = InteractionTest().fit(X, y)
    assert not hasattr(test, "classes_")
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["dose", "age"]]
    assert "crp is higher where dose and age are both high" in test.selected_["direction"][0]
    scaled = InteractionTest().fit(X, 5 - 3 * y)
    columns = ["p_value", "p_adjusted"]
    np.testing.assert_allclose(scaled.table_[columns], test.table_[columns], rtol=1e-6)
    np.testing.assert_allclose(scaled.table_[SIZE], 3 * test.table_[SIZE], rtol=1e-6, atol=1e-9)
    assert scaled.detectable_size_ == pytest.approx(3 * test.detectable_size_)
    assert "age low, or the reverse" in scaled.selected_["direction"][0]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (["a", "b", "c"], False),
        ([True, False], False),
        ([0, 1, 2, 1], False),
        ([0.0, 1.0], False),
        (np.linspace(0, 1, 50), True),
        (np.arange(50), True),
    ],
)
def test_what_a_label_is_goes_by_its_values(y, expected):
    assert is_number_outcome(y) is expected


@pytest.mark.parametrize("y", [np.repeat(np.arange(15), 4), np.repeat([0.5, 1.5, 2.5], 20)])
def test_a_doubtful_label_is_asked_about(y):
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.raises(ValueError, match="Say which: outcome='class' or outcome='number'"):
        InteractionTest().fit(X, y)
    assert not hasattr(InteractionTest(outcome="number").fit(X, y), "classes_")


def test_what_is_adjusted_for_is_in_the_model_and_in_no_pair():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=["a", "b", "confounder", "d"])
    X["confounder"] = X["a"] * X["b"] + 0.3 * X["confounder"]
    y = rng.logistic(size=400) < 1.5 * X["confounder"]
    without = InteractionTest().fit(X.drop(columns="confounder"), y)
    assert without.selected_[["feature_1", "feature_2"]].values.tolist() == [["a", "b"]]
    test = InteractionTest(adjust_for=["confounder"]).fit(X, y)
    assert test.selected_.empty
    assert test.n_tests_ == 3
    assert 2 in test.additive_model_.features
    assert "confounder" not in test.features_["feature"].tolist()
    assert "adjusted for confounder" in test.summary("methods")
    with pytest.raises(ValueError, match="adjusted for is in no pair"):
        test.effect("a", "confounder")


@pytest.mark.parametrize(
    ("pairs", "n_tests"),
    [
        ("dose", 4),
        (0, 4),
        ([("dose", "age"), ("age", "dose")], 1),
        ((["dose"], ["age", "sex"]), 2),
    ],
)
def test_chosen_pairs_are_those_that_are_counted(pairs, n_tests):
    X, y = study()
    test, full = InteractionTest(pairs=pairs).fit(X, y), InteractionTest().fit(X, y)
    assert test.n_tests_ == n_tests
    assert len(test.table_) == n_tests
    assert test.selected_["feature_2"].tolist() == ["age"]
    p = full.table_["p_value"][0]
    assert test.table_["p_value"][0] == pytest.approx(p, rel=1e-9)
    assert test.table_["p_adjusted"][0] == pytest.approx(n_tests * p, rel=1e-9)


def test_groups_of_many_features_are_screened_like_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 30))
    y = X[:, 3] * X[:, 20] + 0.3 * rng.normal(size=100) > 0
    groups = (list(range(10)), list(range(10, 30)))
    exact = InteractionTest(pairs=groups).fit(X, y)
    screened = InteractionTest(pairs=groups, screen=20).fit(X, y)
    assert screened.n_tests_ == exact.n_tests_ == 200
    assert screened.table_["feature_1"][0] == "x3"
    first = screened.table_["feature_1"].str[1:].astype(int)
    assert (first < 10).all()


def test_effects_of_a_split_come_from_other_samples():
    X, y = study(600)
    test = InteractionTest(split=0.5).fit(X, y)
    source = test._effect_source.table
    assert len(source.values) == 300
    assert np.mean(source.outcome.codes) == pytest.approx(np.mean(y == "relapse"), abs=0.01)
    shuffled = np.random.default_rng(0).permutation(600)
    again = InteractionTest(split=0.5).fit(X.iloc[shuffled], y[shuffled])
    np.testing.assert_allclose(again.selected_[SIZE], test.selected_[SIZE], rtol=1e-6)
    assert "share of 0.5 of the samples" in test.summary("methods")
    assert "also measured it" not in test.summary()


def test_a_split_that_leaves_a_class_alone_is_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ValueError, match="without two samples of every class"):
        InteractionTest(split=0.5).fit(X, np.arange(20) < 2)


def test_repeated_samples_of_one_patient_are_refused():
    X, y = study(40)
    with pytest.raises(ValueError, match="'p1' has 2 of them"):
        InteractionTest().fit(X, y, groups=["p1", "p1", *map(str, range(38))])
    InteractionTest().fit(X, y, groups=np.arange(40))


def test_nothing_found_is_said_with_what_could_have_been():
    rng = np.random.default_rng(3)
    test = InteractionTest().fit(rng.normal(size=(200, 4)), rng.integers(0, 2, 200))
    text = test.summary()
    assert "Which features matter: none detected among 4." in text
    assert "Which act together: none detected among 6 pairs." in text
    assert f"size {test.detectable_size_:.2g} would have been found" in text


def test_noise_names_a_feature_no_more_often_than_it_may():
    """Forty tables; more than six would be beyond the 99.9 % limit of a rate of .05."""
    named = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        test = InteractionTest().fit(rng.normal(size=(100, 5)), rng.integers(0, 2, 100))
        named += "none detected" not in test.summary().splitlines()[0]
    assert named <= 6


def test_the_methods_paragraph_is_that_of_the_fit(fitted):
    text = fitted.summary("methods")
    model = fitted.additive_model_
    for part in (
        f"We tested {fitted.n_tests_} pairs",
        f"immigrate {__version__}",
        f"with {len(model.features)} features",
        f"{100 * model.deviance_explained:.0f} % of the held-out deviance",
        "logistic regression",
        "Holm's method",
        "alpha = 0.05",
        "1 pair entered",
        "10.3390/e22030291",
    ):
        assert part in text
    X, y = number_study(200)
    text = InteractionTest(adjust="fdr_bh", alpha=0.1, stepwise=False).fit(X, y).summary("methods")
    assert "ridge-penalised linear regression" in text
    assert "Benjamini and Hochberg" in text
    assert "alpha = 0.1" in text
    assert "entered" not in text


def test_missing_values_and_constant_columns_have_their_place():
    X, y = study()
    X.loc[::7, "dose"] = np.nan
    X["site"] = "one"
    with pytest.warns(UserWarning, match="site"):
        test = InteractionTest().fit(X, y)
    assert "site" not in test.features_["feature"].tolist()
    effect = test.effect("dose", "age")
    assert effect.counts.sum() == X["dose"].notna().sum()
    assert np.isnan(effect.axes[0].samples).sum() == X["dose"].isna().sum()


def test_a_fitted_test_survives_a_pickle(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.summary() == fitted.summary()
    np.testing.assert_array_equal(again.effect(0, 1).value, fitted.effect(0, 1).value)


@pytest.mark.parametrize("with_gaps", [False, True])
def test_words_call_flags_and_ordered_levels_by_their_names(with_gaps):
    rng = np.random.default_rng(0)
    smoker, stage = rng.random(300) < 0.5, rng.integers(0, 3, 300)
    y = np.where(rng.random(300) < np.where(smoker == (stage > 0), 0.9, 0.1), "ill", "well")
    grades = pd.Categorical.from_codes(stage, ["early", "middle", "late"], ordered=True)
    table = pd.DataFrame({"smoker": smoker, "stage": grades, "x": rng.normal(size=300)})
    if with_gaps:
        table["smoker"] = table["smoker"].astype(object).where(rng.random(300) < 0.9)
    direction = InteractionTest().fit(table, y).selected_.loc[0, "direction"]
    assert "smoker is True" in direction
    assert "smoker is False" in direction
    assert "stage is early" in direction


def test_a_confounder_does_not_turn_the_words_round():
    """dose helps; those who are ill get more of it."""
    rng = np.random.default_rng(0)
    severity = rng.normal(size=400)
    X = pd.DataFrame({"severity": severity, "dose": severity + 0.6 * rng.normal(size=400)})
    y = np.where(rng.logistic(size=400) < 4 * severity - 2 * X["dose"], "ill", "cured")
    assert y[X["dose"] > 1].tolist().count("ill") > y[X["dose"] < -1].tolist().count("ill")
    adjusted = InteractionTest(adjust_for=["severity"]).fit(X, y).features_.iloc[0]
    assert adjusted["p_adjusted"] < 0.001
    assert adjusted["direction"] == "ill is more likely where dose is low"


def test_what_is_shown_given_the_others_only_has_its_direction_there():
    """dose is as high among the ill as among the cured: severity hides its effect."""
    rng = np.random.default_rng(1)
    severity = rng.normal(size=400)
    X = pd.DataFrame({"severity": severity, "dose": 0.7 * severity + 0.7 * rng.normal(size=400)})
    y = np.where(rng.logistic(size=400) < 2 * severity - 1.4 * X["dose"], "ill", "cured")
    features = InteractionTest().fit(X, y).features_.set_index("feature")
    dose = features.loc["dose"]
    assert dose["p_adjusted"] > 0.05 > 0.001 > dose["p_given_others_adjusted"]
    assert dose["direction"] == "ill is more likely where dose is low, given the others"
    assert features.loc["severity", "direction"] == "ill is more likely where severity is high"


def test_features_named_like_the_columns_of_an_effect_do_not_replace_them():
    X, y = make_xor(120, 2, noise=0.1, random_state=0)
    plain = InteractionTest().fit(X, y).effect("a", "b").to_frame()
    named = InteractionTest().fit(X.set_axis(["class", "value"], axis=1), y)
    frame = named.effect("class", "value").to_frame()
    assert list(frame)[:4] == ["feature_1", "feature_2", "class", "value"]
    np.testing.assert_array_equal(frame["feature_1"], plain["a"])
    np.testing.assert_array_equal(frame["value"], plain["value"])


def test_a_typing_error_is_named_and_hides_nothing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    y = X["a"] + 0.9 * X["a"] * X["b"] + rng.normal(size=100)
    clean = InteractionTest().fit(X, y)
    assert clean.notes_ == []
    y[17] = 500.0
    with pytest.warns(UserWarning, match=r"One value of the target, 500, lies \d+ standard dev"):
        test = InteractionTest().fit(X, y)
    assert test.selected_[["feature_1", "feature_2"]].values.tolist() == [["a", "b"]]
    assert test.notes_[0] in test.summary()


def test_what_cannot_be_tested_is_counted_and_named():
    X = pd.DataFrame(
        {"site": list("aabbcc"), "batch": list("xyxyxy"), "dose": [1.0, 2, 4, 8, 9, 7]}
    )
    test = InteractionTest(outcome="number").fit(X, [1.0, 2, 3, 5, 8, 9])
    untested = test.table_["p_value"].isna()
    assert untested.any()
    assert test.n_tests_ == (~untested).sum()
    assert test.table_.loc[untested, "p_adjusted"].isna().all()
    assert not test.table_.loc[untested, "is_found"].any()
    assert f"{untested.sum()} of 3 pairs could not be tested" in " ".join(test.notes_)
    assert (test.table_["p_value"].dropna() < 1).all()
