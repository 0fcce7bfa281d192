from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import IM4EClassifier, ImmigrateClassifier, durations
from immigrate.datasets import make_xor
from immigrate.kernels.compiling import log_once
from immigrate.margin import path
from immigrate.margin.screen import N_BEST, named_features, passes
from immigrate.options import Descent, Screen

SIGNALS = ["gene7", "gene23", "gene61"]


@pytest.fixture(scope="module")
def genes():
    """60 samples, 80 genes, three of which tell the classes apart."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, "tumour", "normal")
    X = pd.DataFrame(rng.standard_normal((60, 80))).rename(columns="gene{}".format)
    X[SIGNALS] += 2.0 * (y == "tumour")[:, None]
    return X, y


@pytest.fixture(scope="module")
def model(genes):
    return ImmigrateClassifier(screen="im4e").fit(*genes)


class TestNames:
    """A DataFrame goes in; the names of its columns come out, wherever features are named."""

    def test_names_out_are_those_of_the_mask(self, genes, model):
        X, _ = genes
        kept = list(model.get_feature_names_out())
        assert set(SIGNALS) <= set(kept)
        assert len(kept) < len(X.columns)
        assert kept == list(X.columns[model.get_support()])
        np.testing.assert_array_equal(
            model.get_support(indices=True), np.flatnonzero(model.get_support())
        )

    def test_interactions_name_the_originals(self, model):
        table = model.interactions()
        kept = list(model.get_feature_names_out())
        assert len(table) == len(kept) * (len(kept) + 1) // 2
        assert set(table["feature_1"]) == set(kept)
        for row in table.head(20).itertuples():
            a, b = kept.index(row.feature_1), kept.index(row.feature_2 or row.feature_1)
            assert row.weight == model.weight_matrix_[a, b]

    def test_importances_are_of_all_features(self, genes, model):
        X, _ = genes
        importance = pd.Series(model.feature_importances_, X.columns)
        assert importance.sum() == pytest.approx(1)
        assert (importance[~model.get_support()] == 0).all()
        assert set(importance.nlargest(3).index) == set(SIGNALS)

    def test_select_from_model(self, genes):
        selector = SelectFromModel(
            ImmigrateClassifier(screen="im4e"), max_features=3, threshold=-np.inf
        )
        assert set(selector.fit(*genes).get_feature_names_out()) == set(SIGNALS)

    def test_names_pass_through_the_documented_pipeline(self, genes):
        X, y = genes
        X = X.mask(np.random.default_rng(1).uniform(size=X.shape) < 0.05)
        pipeline = make_pipeline(
            SimpleImputer(), StandardScaler(), ImmigrateClassifier(screen="im4e")
        ).set_output(transform="pandas")
        assert set(SIGNALS) <= set(pipeline.fit(X, y)[-1].get_feature_names_out())
        assert cross_val_score(pipeline, X, y).mean() > 0.9

    def test_without_names_features_are_numbered(self, genes):
        X, y = genes
        numbered = ImmigrateClassifier(screen="im4e").fit(X.to_numpy(), y)
        assert {"x7", "x23", "x61"} <= set(numbered.get_feature_names_out())

    def test_without_a_screen_all_names_stay(self, genes):
        X, y = genes
        whole = ImmigrateClassifier().fit(X[X.columns[:8]], y)
        assert list(whole.get_feature_names_out()) == list(X.columns[:8])
        assert whole.get_support().all()


class TestModel:
    def test_it_is_the_model_of_the_kept_features(self, genes, model):
        """Fitted by hand on those columns, from the same start, it is the same model."""
        X, y = genes
        kept = model.get_support()
        start = np.diag(IM4EClassifier().fit(X, y).feature_weights_[kept])
        by_hand = ImmigrateClassifier(solver=Descent(init=start)).fit(X.loc[:, kept], y)
        np.testing.assert_allclose(model.weight_matrix_, by_hand.weight_matrix_, atol=1e-9)
        np.testing.assert_allclose(
            model.predict_proba(X), by_hand.predict_proba(X.loc[:, kept]), atol=1e-9
        )

    def test_pickle_holds_the_kept_features_only(self, genes, model):
        X, _ = genes
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.model_.references.table.shape == (len(X), model.get_support().sum())

    def test_other_feature_count_at_predict(self, genes, model):
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(genes[0].iloc[:, model.get_support()])

    def test_a_refit_without_screen_forgets_the_mask(self, genes):
        X, y = genes
        model = ImmigrateClassifier(screen="im4e").fit(X, y)
        model.set_params(screen=None).fit(X[SIGNALS], y)
        assert list(model.get_feature_names_out()) == SIGNALS

    def test_an_initial_matrix_covers_all_features(self, genes):
        X, y = genes
        screen = Screen("im4e", max_features=4)
        model = ImmigrateClassifier(screen=screen, solver=Descent(init=np.eye(80))).fit(X, y)
        same = ImmigrateClassifier(screen=screen, solver=Descent(init="identity")).fit(X, y)
        np.testing.assert_array_equal(model.weight_matrix_, same.weight_matrix_)

    def test_im4e_start_is_a_diagonal_of_its_weights(self, genes):
        X, y = (genes[0].iloc[:, :30], genes[1])
        start = np.diag(IM4EClassifier().fit(X, y).feature_weights_)
        named = ImmigrateClassifier(solver=Descent(init="im4e")).fit(X, y)
        given = ImmigrateClassifier(solver=Descent(init=start)).fit(X, y)
        np.testing.assert_allclose(named.weight_matrix_, given.weight_matrix_, atol=1e-9)


class TestScreens:
    @pytest.mark.parametrize(
        "screen",
        [
            RandomForestClassifier(random_state=0),
            LogisticRegression(C=0.1),
            IM4EClassifier(sigma=0.2),
        ],
        ids=["importances", "coefficients", "im4e"],
    )
    def test_any_estimator_that_weighs_features(self, genes, screen):
        model = ImmigrateClassifier(screen=Screen(screen)).fit(*genes)
        assert set(SIGNALS) <= set(model.get_feature_names_out())
        assert model.screen_importances_.sum() == pytest.approx(1)
        assert not hasattr(screen, "classes_"), "the caller's estimator is cloned, not fitted"

    def test_an_estimator_goes_into_a_screen(self, genes):
        with pytest.raises(TypeError, match=r"goes into one: screen=Screen\(estimator\)"):
            ImmigrateClassifier(screen=LogisticRegression()).fit(*genes)

    def test_an_estimator_that_does_not_is_refused(self, genes):
        with pytest.raises(ValueError, match="neither feature_importances_ nor coef_"):
            ImmigrateClassifier(screen=Screen(KNeighborsClassifier())).fit(*genes)

    def test_sample_weights_reach_the_screen(self, genes):
        X, y = genes
        weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
        model = ImmigrateClassifier(screen="im4e").fit(X, y, weight)
        expected = IM4EClassifier().fit(X, y, weight).feature_weights_
        np.testing.assert_allclose(model.screen_importances_, expected)

    def test_limit_is_twice_the_average(self, model):
        np.testing.assert_array_equal(model.get_support(), model.screen_importances_ >= 2 / 80)

    def test_maximum_keeps_the_strongest(self, genes, model):
        few = ImmigrateClassifier(screen=Screen("im4e", max_features=2)).fit(*genes)
        strongest = np.argsort(-model.screen_importances_)[:2]
        assert set(few.get_support(indices=True)) == set(strongest)

    def test_named_features_stay_beyond_the_maximum(self, genes):
        screen = Screen("im4e", max_features=3, keep=["gene0", -1])
        model = ImmigrateClassifier(screen=screen).fit(*genes)
        assert set(model.get_feature_names_out()) == {"gene0", "gene79", *SIGNALS}

    def test_nothing_passes(self, genes):
        with pytest.warns(UserWarning, match=r"No feature's screening weight is 0\.9 or more"):
            model = ImmigrateClassifier(screen=Screen(threshold=0.9)).fit(*genes)
        assert model.get_support().sum() == N_BEST
        assert set(SIGNALS) <= set(model.get_feature_names_out())

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            (
                {"screen": "relief"},
                r"screen='relief' is unknown; choose one of \['im4e', 'pairs'\]",
            ),
            ({"screen": Screen("relief")}, "by='relief' is unknown"),
            ({"screen": Screen(threshold=-1)}, "threshold must be a number, 0 or more"),
            ({"screen": Screen(threshold="low")}, "threshold must be a number, 0 or more"),
            ({"screen": Screen(max_features=0)}, "max_features must be a whole number"),
            ({"screen": Screen(keep=["gen0"])}, "'gen0', which is not a column"),
            ({"screen": Screen(keep=np.ones(80, bool))}, "names or indices of features"),
            ({"screen": Screen(keep=[1.5])}, "names or indices of features"),
            ({"screen": Screen(keep=[80])}, "feature 80, but X has 80 features"),
            ({"screen": "im4e", "solver": Descent(init=np.eye(3))}, "X has 80 features"),
            (
                {"screen": "im4e", "solver": Descent(init=np.diag(np.arange(80) == 0))},
                "init is all zero among",
            ),
        ],
    )
    def test_bad_parameters_say_what_to_do(self, genes, parameters, message):
        with pytest.raises(ValueError, match=message):
            ImmigrateClassifier(**parameters).fit(*genes)


class TestMasks:
    def test_ties_go_to_the_first(self):
        mask = passes(np.array([0.1, 0.3, 0.3, 0.3]), 0.2, 2)
        np.testing.assert_array_equal(mask, [False, True, True, False])

    def test_fewer_features_than_the_best_few(self):
        with pytest.warns(UserWarning, match="the best 2 stay"):
            assert passes(np.array([0.5, 0.5]), 1.0).all()

    def test_a_single_name_is_not_read_letter_by_letter(self):
        names = np.array(["ab", "a", "b"], dtype=object)
        np.testing.assert_array_equal(named_features("ab", names, 3), [True, False, False])

    def test_names_need_named_columns(self):
        with pytest.raises(ValueError, match="without column names"):
            named_features(["ab"], None, 3)


def test_a_wide_table_without_a_screen_is_told_what_to_do_before_it_waits(monkeypatch, caplog):
    for module in (durations, path):
        monkeypatch.setattr(module, "FEWEST_FEATURES_ANNOUNCED", 6)
    log_once.cache_clear()
    X, y = make_xor(n_samples=60, n_features=6, random_state=0)
    ImmigrateClassifier().fit(X, y)
    (record,) = caplog.records
    assert "6 features make 21 weights" in record.message
    assert re.search(r"about \d+ (s|min|h)\. screen='im4e'", record.message)
    caplog.clear()
    log_once.cache_clear()
    ImmigrateClassifier(screen=Screen(max_features=3)).fit(X, y)
    assert not caplog.records
