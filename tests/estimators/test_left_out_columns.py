"""Columns that are no features have no part in any classifier; folds may lack levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from mixed_tables import MAKERS, messy_table
from sklearn.base import BaseEstimator

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV, InteractionTest
from immigrate.options import Columns, Screen
from immigrate.table import ColumnWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_classifier = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@pytest.fixture(scope="module")
def messy():
    return messy_table()


class TestLeftOut:
    @every_classifier
    def test_an_identifier_has_no_part(self, make, messy):
        X, y = messy
        code = [f"P{i:03d}" for i in np.random.default_rng(0).permutation(len(X))]
        with pytest.warns(ColumnWarning, match="Column 'code'"):
            model = make().fit(X.assign(code=code), y)
        plain = make().fit(X, y)
        assert model.feature_importances_[-1] == 0
        assert model.n_features_in_ == 6
        np.testing.assert_allclose(
            model.predict_proba(X.assign(code="new")), plain.predict_proba(X), rtol=1e-9
        )

    def test_nobody_can_keep_one(self, messy):
        X, y = messy
        X = X.assign(code=[f"P{i:03d}" for i in range(len(X))])
        model = ImmigrateClassifier(screen=Screen(threshold=0.2, keep=["code", "site"]))
        with pytest.warns(ColumnWarning, match="Column 'code'"):
            names = model.fit(X, y).get_feature_names_out()
        assert "code" not in names
        assert "site" in names

    def test_a_screen_that_weighs_all_alike_keeps_features_only(self, messy):
        X, y = messy
        text = {f"code{k}": [f"{k}{i:03d}" for i in range(len(X))] for k in range(6)}
        X = pd.DataFrame({**text, "dose": X["dose"].fillna(0)})
        even = Screen(EvenImportances(), threshold=2.0)
        with (
            pytest.warns(ColumnWarning, match="Columns 'code0'"),
            pytest.warns(UserWarning, match="No feature's screening weight"),
        ):
            model = ImmigrateClassifier(screen=even).fit(X, y)
        assert list(model.get_feature_names_out()) == ["dose"]

    def test_pairs_are_tested_beside_a_column_that_is_left_out(self, messy):
        X, y = messy
        X = X.drop(columns="grade").assign(code=[f"P{i:03d}" for i in range(len(X))])
        with pytest.warns(ColumnWarning, match="Column 'code'"):
            model = ImmigrateClassifier().fit(X, y)
        with pytest.warns(ColumnWarning, match="Column 'code'"):
            test = InteractionTest().fit(X, y)
        table = model.interactions(test=test)
        pairs = table[table["kind"] == "pair"]
        assert pairs["p_value"].notna().all()
        first = pairs.nsmallest(1, "p_value").iloc[0]
        assert {first["feature_1"], first["feature_2"]} == {"dose", "gene"}


class EvenImportances(BaseEstimator):
    """A screen that sees no difference between columns."""

    def fit(self, X, y):
        self.n_columns = X.shape[1]
        return self

    feature_importances_ = property(lambda self: np.ones(self.n_columns))


class TestFolds:
    def test_levels_that_a_fold_does_not_hold(self):
        rng = np.random.default_rng(1)
        X = pd.DataFrame({"a": rng.normal(size=40), "gene": rng.choice(["u", "v"], 40)})
        X.loc[:4, "gene"] = "rare"
        y = np.arange(40) % 2
        folds = [(np.arange(5, 40), np.arange(5)), (np.arange(20), np.arange(20, 40))]
        for nominal in ("mismatch", "levels", "auto"):
            base = ImmigrateClassifier(columns=Columns(nominal=nominal))
            model = ImmigrateClassifierCV(base, cv=folds, sigmas=[1.0, 0.5]).fit(X, y)
            assert np.isfinite(model.scores_path_["selection_score"]).all()
            assert np.isfinite(model.predict_proba(X)).all()

    def test_a_column_without_a_value_in_a_fold(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(40, 3))
        X[:20, 1] = np.nan
        model = ImmigrateClassifierCV(cv=[(np.arange(20), np.arange(20, 40))], sigmas=[1.0, 2.0])
        model.fit(X, np.arange(40) % 2)
        assert np.isfinite(model.scores_path_["selection_score"]).all()
