from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from immigrate import (
    BoostedImmigrateClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    ImmigrateSelector,
    InteractionTest,
)
from immigrate.datasets import make_xor
from immigrate.margin.screen import in_strong_pairs
from immigrate.options import Prune, Screen
from immigrate.table import ColumnWarning, read_weighted_table


def xor_and_main_effects(seed, n=400, p=8):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, p)), columns=[f"gene_{j}" for j in range(p)])
    logit = 3 * np.sign(X["gene_0"] * X["gene_1"]) + X["gene_2"] + X["gene_3"]
    return X, (rng.uniform(size=n) < 1 / (1 + np.exp(-logit))).astype(int)


def test_found_pairs_lift_a_linear_model():
    """XOR and main effects: at least ten points over plain logistic regression, three seeds."""
    for seed in range(3):
        X, y = xor_and_main_effects(seed)
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        plain = make_pipeline(StandardScaler(), LogisticRegression())
        paired = make_pipeline(
            StandardScaler(), ImmigrateSelector(pairs=True, test=True), LogisticRegression()
        )
        gain = (
            cross_val_score(paired, X, y, cv=folds).mean()
            - cross_val_score(plain, X, y, cv=folds).mean()
        )
        assert gain >= 0.10


def test_columns_and_names_belong_together():
    X, y = xor_and_main_effects(0)
    selector = ImmigrateSelector(n_features_to_select=3, pairs=True, test=True)
    selector.set_output(transform="pandas").fit(X, y)
    out = selector.transform(X)
    assert "gene_0 × gene_1" in out
    assert {"gene_0", "gene_1"} <= set(out)
    centred = X - X.mean()
    for name in out:
        if " × " in name:
            a, b = name.split(" × ")
            np.testing.assert_allclose(out[name], centred[a] * centred[b])
        else:
            np.testing.assert_allclose(out[name], X[name])
    assert list(out) == list(selector.get_feature_names_out())


@pytest.mark.parametrize(
    "estimator",
    [
        ImmigrateClassifier(),
        ImmigrateClassifierCV(sigmas=[1.0, 0.5]),
        BoostedImmigrateClassifier(n_estimators=3),
    ],
)
def test_pairs_by_weight(estimator):
    X, y = xor_and_main_effects(1)
    selector = ImmigrateSelector(estimator, n_features_to_select=2, pairs=True, n_pairs=4)
    assert selector.fit(X, y).transform(X).shape == (400, 6)
    table = selector.estimator_.interactions()
    heaviest = table[table["kind"] == "pair"].iloc[0]
    assert list(X.columns[selector.pairs_[0]]) == [heaviest["feature_1"], heaviest["feature_2"]]


def test_features_only():
    X, y = xor_and_main_effects(0)
    selector = ImmigrateSelector(threshold=0.1).fit(X, y)
    np.testing.assert_array_equal(selector.get_support(), selector.feature_importances_ >= 0.1)
    back = selector.inverse_transform(selector.transform(X))
    np.testing.assert_array_equal(back != 0, np.tile(selector.get_support(), (400, 1)))
    half = ImmigrateSelector(n_features_to_select=0.5).fit(X, y)
    assert half.get_support().sum() == 4
    with pytest.raises(AttributeError, match="inverse_transform") as caught:
        ImmigrateSelector(pairs=True).fit(X, y).inverse_transform(X)
    assert "cannot be turned back" in str(caught.value.__cause__)


def test_weights_and_p_values_in_one_table():
    X, y = xor_and_main_effects(0)
    model, test = ImmigrateClassifier().fit(X, y), InteractionTest(adjust="fdr_bh").fit(X, y)
    table, weights = model.interactions(test=test), model.interactions()
    pd.testing.assert_frame_equal(
        table.sort_values("rank").reset_index(drop=True)[weights.columns], weights
    )
    assert table["p_value"].notna().all()
    pair = table[table["is_found"] & (table["kind"] == "pair")].iloc[0]
    assert {pair["feature_1"], pair["feature_2"]} == {"gene_0", "gene_1"}
    merged = test.table_.merge(table, on=["feature_1", "feature_2"])
    np.testing.assert_array_equal(merged["p_value_x"], merged["p_value_y"])


def test_pair_screen_keeps_a_pair_without_main_effects():
    """With room for a single feature beside it, only the pair screen can keep both."""
    X, y = make_xor(200, 100, random_state=0)
    by_feature = ImmigrateClassifier(screen=Screen("im4e", max_features=1)).fit(X, y)
    by_pair = ImmigrateClassifier(screen=Screen("pairs", max_features=1)).fit(X, y)
    assert len(by_feature.get_feature_names_out()) == 1
    assert {"a", "b"} <= set(by_pair.get_feature_names_out())
    assert len(by_pair.get_feature_names_out()) <= 21


@pytest.mark.parametrize(("count", "n_kept"), [(1.0, 8), (0.99, 8), (0.5, 4), (1, 1), (8, 8)])
def test_a_float_is_a_share_and_a_whole_number_a_count(count, n_kept):
    X, y = xor_and_main_effects(0)
    assert ImmigrateSelector(n_features_to_select=count).fit(X, y).get_support().sum() == n_kept


def test_any_classifier_with_importances_weighs_and_names_reach_it():
    X, y = xor_and_main_effects(0)
    forest = RandomForestClassifier(10, random_state=0)
    assert ImmigrateSelector(forest, n_features_to_select=3).fit(X, y).get_support().sum() == 3
    kept = ImmigrateClassifier(screen=Screen(max_features=1, keep=["gene_7"]))
    assert ImmigrateSelector(kept).fit(X, y).estimator_.get_support()[7]


def test_no_pairs_from_a_test_of_triples():
    X, y = xor_and_main_effects(0)
    with pytest.raises(ValueError, match="order=3; pairs need"):
        ImmigrateSelector(test=InteractionTest(order=3)).fit(X, y)


def test_nothing_selected_is_said():
    X, y = xor_and_main_effects(0)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert ImmigrateSelector(threshold=2.0).fit(X, y).transform(X).shape == (400, 0)


def test_weights_reach_screen_test_and_means():
    """Samples of weight 0 carry the pair; without them there is none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = rng.integers(0, 2, 300)
    y[150:] = (X[150:, 5] * X[150:, 7] > 0).astype(int)
    weight = np.repeat([1.0, 0.0], 150)
    test = ImmigrateSelector(test=True).fit(X, y, sample_weight=weight).test_
    assert test.table_["p_value"].min() > 1e-4
    assert ImmigrateSelector(test=True).fit(X, y).test_.table_["p_value"].min() < 1e-8
    is_in_pair = in_strong_pairs(read_weighted_table(ImmigrateClassifier(), X, y, weight))
    expected = in_strong_pairs(read_weighted_table(ImmigrateClassifier(), X[:150], y[:150]))
    np.testing.assert_array_equal(is_in_pair, expected)

    shifted = np.where(weight[:, None] > 0, X, X + 100)
    selector = ImmigrateSelector(pairs=True, n_pairs=1).fit(shifted, y, sample_weight=weight)
    (a, b), centred = selector.pairs_[0], X - X[:150].mean(axis=0)
    np.testing.assert_allclose(selector.transform(X)[:, -1], centred[:, a] * centred[:, b])


def test_classifiers_without_importances_or_weights_can_weigh():
    X, y = make_xor(100, 4, noise=0.1, random_state=0)
    linear = ImmigrateSelector(LogisticRegression(), n_features_to_select=2).fit(X, y)
    assert linear.get_support().sum() == 2
    discriminant = ImmigrateSelector(LinearDiscriminantAnalysis(), n_features_to_select=1)
    assert discriminant.fit(X, y, sample_weight=np.ones(100)).get_support().sum() == 1


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (ImmigrateSelector(KNeighborsClassifier()), "neither feature_importances_ nor coef_"),
        (ImmigrateSelector(LogisticRegression(), pairs=True), r"needs .* interactions\(\)"),
        (ImmigrateSelector(test="yes"), "must be True, False, None or an InteractionTest"),
    ],
)
def test_what_cannot_choose_is_refused(selector, message):
    X, y = make_xor(60, 4, random_state=0)
    with pytest.raises(ValueError, match=message):
        selector.fit(X, y)


def named_xor(names):
    X, y = make_xor(200, len(names), noise=0.1, random_state=0)
    return X.set_axis(names, axis=1), y


@pytest.mark.parametrize("names", [["a", "b", "c", "a × b"], ["a", "b × c", "a × b", "c"]])
def test_products_that_share_a_name_are_refused(names):
    X, y = named_xor(names)
    with pytest.raises(ValueError, match="Rename the columns of X"):
        ImmigrateSelector(n_features_to_select=4, pairs=True, n_pairs=6).fit(X, y)


def test_pairs_without_weight_are_no_columns():
    X, y = make_xor(120, 4, noise=0.1, random_state=0)
    selector = ImmigrateSelector(ImmigrateClassifier(penalty=Prune(0.9)), pairs=True).fit(X, y)
    table = selector.estimator_.interactions()
    is_used = (table["kind"] == "pair") & (table["weight"] != 0)
    assert len(selector.pairs_) == min(5, is_used.sum())


def test_categories_reach_the_test():
    X, y = make_xor(200, 3, noise=0.1, random_state=0)
    X["site"] = pd.Categorical(np.arange(200) % 4)
    selector = ImmigrateSelector(pairs=True, test=True).fit(X, y)
    pd.testing.assert_frame_equal(selector.test_.table_, InteractionTest().fit(X, y).table_)


def test_one_feature_has_no_pairs():
    X, _ = make_xor(100, 2, random_state=0)
    one, y = X[["a"]], X["a"] > 0
    selector = ImmigrateSelector(pairs=True, test=True).fit(one, y)
    assert selector.get_feature_names_out().tolist() == ["a"]


def test_switches_must_be_switches():
    X, y = make_xor(60, 3, random_state=0)
    with pytest.raises(ValueError, match="pairs must be True or False"):
        ImmigrateSelector(pairs="no").fit(X, y)
    assert not hasattr(ImmigrateSelector(test=np.False_).fit(X, y), "test_")


def patients(n=300, seed=0):
    """A nominal and a numeric column that act together, gaps, flags and an identifier."""
    rng = np.random.default_rng(seed)
    gene = rng.choice(["AA", "AG", "GG"], n)
    dose = rng.normal(size=n)
    y = ((gene == "GG") ^ (dose > 0)) ^ (rng.random(n) < 0.05)
    table = pd.DataFrame(
        {
            "gene": gene,
            "dose": dose,
            "age": rng.normal(size=n),
            "smoker": rng.random(n) < 0.4,
            "patient": [f"P{i}" for i in range(n)],
        }
    )
    table.loc[::20, "age"] = np.nan
    return table, np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def on_patients():
    X, y = patients()
    with pytest.warns(ColumnWarning, match="'patient'") as caught:
        selector = ImmigrateSelector(n_features_to_select=2, pairs=True, test=True).fit(X, y)
    assert len(caught) == 1
    return selector, X


def test_the_estimator_and_the_test_see_one_reading(on_patients):
    selector, _ = on_patients
    own = selector.estimator_.column_reader_
    assert own.kinds[:3] == selector.column_reader_.kinds[:3]
    assert own.levels == (*selector.column_reader_.levels[:4], ())
    np.testing.assert_array_equal(own.is_used, selector.column_reader_.is_used)
    assert "patient" not in selector.test_.table_[["feature_1", "feature_2"]].to_numpy()
    assert selector.feature_importances_[4] == 0


def test_a_nominal_member_gives_a_product_per_level_but_the_first(on_patients):
    selector, X = on_patients
    assert {*X.columns[selector.pairs_[0]]} == {"gene", "dose"}
    assert selector.get_feature_names_out().tolist() == [
        "gene",
        "dose",
        "gene=AG × dose",
        "gene=GG × dose",
    ]
    out = selector.transform(X)
    assert out.dtype == object
    assert out[:, 0].tolist() == X["gene"].tolist()
    centred = X["dose"] - X["dose"].mean()
    for column, level in enumerate(["AG", "GG"], start=2):
        is_level = X["gene"] == level
        expected = (is_level - is_level.mean()) * centred
        np.testing.assert_allclose(out[:, column].astype(float), expected, atol=1e-14)


def test_a_frame_keeps_its_types_and_its_rows(on_patients):
    selector, X = on_patients
    out = clone(selector).set_output(transform="pandas")
    with pytest.warns(ColumnWarning):
        out.fit(*patients())
    new = X.iloc[5:9].copy()
    new.loc[6, "gene"], new.loc[7, "gene"] = None, "TT"
    table = out.transform(new)
    pd.testing.assert_frame_equal(table[["gene", "dose"]], new[["gene", "dose"]])
    assert list(table) == list(out.get_feature_names_out())
    # A missing level has no product; an unseen one is none of the known levels.
    assert table.loc[6, ["gene=AG × dose", "gene=GG × dose"]].isna().all()
    share = (X["gene"] == "GG").mean()
    expected = -share * (new.loc[7, "dose"] - X["dose"].mean())
    assert table.loc[7, "gene=GG × dose"] == pytest.approx(expected)


def test_a_frame_of_names_can_feed_a_linear_model():
    X, y = patients()
    X = X.drop(columns=["patient", "age"])
    selector = ImmigrateSelector(pairs=True, test=True).set_output(transform="pandas")
    encoder = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    model = make_pipeline(selector, encoder, LogisticRegression())
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8


def test_listed_columns_are_nominal_for_the_estimator_and_the_test():
    X, y = patients()
    codes = X.drop(columns="patient").assign(gene=X["gene"].map({"AA": 0, "AG": 1, "GG": 2}))
    selector = ImmigrateSelector(categorical_features=["gene"], pairs=True, test=True)
    selector.fit(codes, y)
    assert selector.estimator_.column_reader_.is_nominal.tolist() == [True, False, False, False]
    assert "gene=2 × dose" in selector.get_feature_names_out()
    assert selector.transform(codes).dtype == object
