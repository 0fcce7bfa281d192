"""`interactions()`: evidence before weights."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from immigrate import (
    BoostedImmigrateClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    InteractionTest,
)
from immigrate.datasets import make_monk1, make_xor
from immigrate.options import Screen

PAIR = ["feature_1", "feature_2"]
EVIDENCE = ["p_value", "p_adjusted", "is_found", "size", "size_low", "size_high", "direction"]
COLUMNS = [*PAIR, "kind", *EVIDENCE, "weight", "share", "rank"]


def noise(seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((150, 6)), rng.integers(0, 2, 150)


def fitted_test(X, y, **options):
    return InteractionTest(**options).fit(X, y)


def test_tables_of_noise_show_nothing_but_by_chance():
    tables = [
        ImmigrateClassifier().fit(*noise(seed)).interactions(test=fitted_test(*noise(seed)))
        for seed in range(12)
    ]
    is_naming = [table["is_found"].any() for table in tables]
    # Features and pairs are two families at 5 % each: more than 4 of 12 in 0.4 % of the cases.
    assert np.sum(is_naming) <= 4


@pytest.mark.parametrize(
    "model", [ImmigrateClassifierCV(sigmas=[1.0, 0.5]), BoostedImmigrateClassifier(n_estimators=2)]
)
def test_the_true_pair_comes_first_whatever_its_weight(model):
    table = model.fit(*make_monk1()).interactions(test=fitted_test(*make_monk1()))
    assert list(table.columns) == COLUMNS
    first, second = table.iloc[0], table.iloc[1]
    assert (first["feature_1"], first["feature_2"]) == ("head_shape", "body_shape")
    assert (second["feature_1"], second["feature_2"]) == ("jacket_color", None)
    assert table["is_found"].sum() == 2
    assert first["rank"] > 1


def test_rows_are_those_of_the_test_beside_those_of_the_weights():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[:130, :6], y.iloc[:130].map({0: "Barolo", 1: "Grignolino"})
    model, test = ImmigrateClassifier().fit(X, y), InteractionTest().fit(X, y)
    table = model.interactions(test=test)
    pairs = table[table["kind"] == "pair"].set_index(PAIR)[EVIDENCE]
    expected = test.table_.set_index(PAIR)[EVIDENCE].loc[pairs.index]
    for name in EVIDENCE:
        np.testing.assert_array_equal(pairs[name].to_numpy(), expected[name].to_numpy())
    main = table[table["kind"] == "main"].set_index("feature_1")
    own = test.features_.set_index("feature").loc[main.index]
    np.testing.assert_array_equal(main["p_adjusted"], own["p_adjusted"])
    np.testing.assert_array_equal(main["direction"], own["direction"])
    np.testing.assert_array_equal(main["is_found"], own["p_adjusted"] <= 0.05)
    weight = model.weight_matrix_[np.diag_indices(6)]
    np.testing.assert_array_equal(main["weight"].loc[list(X.columns)], weight)


def test_evidence_is_in_order():
    X, y = make_xor(300, 8, noise=0.1, random_state=0)
    table = ImmigrateClassifier().fit(X, y).interactions(test=fitted_test(X, y))
    assert table["is_found"].is_monotonic_decreasing
    for _, part in table.groupby("is_found"):
        assert part["p_value"].is_monotonic_increasing
    assert sorted(table["rank"]) == list(range(1, 37))
    assert table.sort_values("rank")["share"].is_monotonic_decreasing


def test_swapped_labels_have_equal_sizes_and_opposite_directions():
    X, y = make_xor(400, 5, noise=0.1, random_state=0)
    X["strong"] = np.random.default_rng(0).standard_normal(400)
    y = np.where(np.random.default_rng(1).uniform(size=400) < 0.5, y, X["strong"] > 0).astype(int)
    one, other = (
        ImmigrateClassifier().fit(X, labels).interactions(test=fitted_test(X, labels))
        for labels in (y, 1 - y)
    )
    assert one["is_found"].sum() >= 2
    one, other = (t.set_index(t["feature_1"] + t["feature_2"].fillna("")) for t in (one, other))
    other = other.loc[one.index]
    for name in ("size", "size_low", "size_high", "p_adjusted"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-6, atol=1e-9)
    found = one["is_found"]
    assert (one["direction"] != other["direction"])[found].all()
    assert one["direction"][found].str.startswith("class 1 is more likely").all()


def test_directions_name_the_classes_and_the_levels_of_the_user():
    X, y = make_xor(300, 3, noise=0.05, random_state=0)
    X["a"] = np.where(X["a"] > 0, "yes", "no")
    y = np.where(y, "relapse", "cure")
    direction = (
        ImmigrateClassifier().fit(X, y).interactions(test=fitted_test(X, y))["direction"][0]
    )
    assert direction.startswith("relapse is more likely where")
    assert "a is yes" in direction
    assert "a is no" in direction


@pytest.fixture(scope="module")
def screened():
    X, y = make_xor(300, 12, noise=0.05, random_state=0)
    strong = y[:, None] + 1.2 * np.random.default_rng(0).standard_normal((len(y), 2))
    X[["strong", "stronger"]] = 10 * strong
    return ImmigrateClassifier(screen=Screen(max_features=2)).fit(X, y), fitted_test(X, y)


def test_after_a_screen_the_evidence_is_that_of_the_whole_table(screened):
    model, test = screened
    assert len(model.get_feature_names_out()) == 2
    table = model.interactions(test=test)
    p = test.n_features_in_
    assert len(table) == p * (p + 1) // 2
    expected = test.table_.set_index(PAIR)
    assert len(expected) == p * (p - 1) // 2
    pairs = table[table["kind"] == "pair"].set_index(PAIR).loc[expected.index]
    np.testing.assert_array_equal(pairs["p_adjusted"], expected["p_adjusted"])
    found = table[table["is_found"] & (table["kind"] == "pair")]
    assert found[PAIR].to_numpy().tolist() == [["a", "b"]]


def test_what_did_not_pass_a_screen_has_weight_0_and_the_last_ranks(screened):
    model, test = screened
    table = model.interactions(test=test)
    kept = set(model.get_feature_names_out())
    second = table["feature_2"].fillna(table["feature_1"])
    is_in = table["feature_1"].isin(kept) & second.isin(kept)
    assert is_in.sum() == 3
    assert (table.loc[~is_in, "weight"] == 0).all()
    assert set(table.loc[is_in, "rank"]) == {1, 2, 3}
    assert table["rank"].is_unique
    assert table["share"].sum() == pytest.approx(1)


def test_without_a_test_there_are_weights_alone():
    model = ImmigrateClassifier().fit(*noise(0))
    table = model.interactions()
    assert list(table.columns) == [*PAIR, "kind", "weight", "share", "rank"]
    assert table["rank"].tolist() == list(range(1, 22))


@pytest.mark.parametrize("top", [None, 5])
def test_top_is_the_head_of_the_whole(top):
    model, test = ImmigrateClassifier().fit(*noise(0)), fitted_test(*noise(0))
    for options in ({}, {"test": test}):
        expected = model.interactions(**options).head(top or 21)
        pd.testing.assert_frame_equal(model.interactions(top=top, **options), expected)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (True, "None or a fitted InteractionTest, got True"),
        ("auto", "None or a fitted InteractionTest, got 'auto'"),
        (InteractionTest(), "not fitted; fit it on the same table"),
        (fitted_test(*noise(0), order=3), "order=3; pairs need"),
        (fitted_test(noise(0)[0][:, :4], noise(0)[1]), "without 'x4', a feature of the model"),
    ],
    ids=["flag", "word", "unfitted", "triples", "other table"],
)
def test_a_test_that_says_nothing_of_the_model_is_refused(test, message):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifier().fit(*noise(0)).interactions(test=test)
