"""What comes in (mixed types) and what goes out (selected columns)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from relief_family import selectors
from relief_oracles import table
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import LFE, IRelief, Relief, ReliefF, Simba
from immigrate.options import Descent
from immigrate.table import ColumnWarning

SELECTORS = [*selectors(), Simba(n_starts=2, global_share=0.5, random_state=0)]
ALL = [*SELECTORS, LFE()]
by_name = {"ids": lambda model: type(model).__name__}


@pytest.fixture
def mixed_frame():
    """Text, category, boolean and numeric columns; `text` and `number` tell the classes."""
    X, y, _ = table(0, n=60, p=4, kind="mixed")
    frame = pd.DataFrame(
        {
            "text": np.array(["low", "mid", "high"])[X[:, 0].astype(int)],
            "number": X[:, 1],
            "category": pd.Categorical(X[:, 2].astype(int)),
            "flag": X[:, 3] > 0,
        }
    )
    return frame, y


@pytest.mark.parametrize("model", SELECTORS, **by_name)
class TestSelection:
    def test_so_many_of_the_best(self, model):
        X, y, _ = table(0, p=6)
        model = clone(model).set_params(n_features_to_select=2).fit(X, y)
        best = np.argsort(-model.feature_importances_, kind="stable")[:2]
        assert set(model.get_support(indices=True)) == set(best)
        half = model.set_params(n_features_to_select=0.5)
        assert half.get_support().sum() == 3

    def test_at_least_the_threshold(self, model):
        X, y, _ = table(0, p=6)
        model = clone(model).fit(X, y)
        score = model.feature_importances_
        np.testing.assert_array_equal(model.get_support(), score > 0)
        limit = float(np.median(score))
        np.testing.assert_array_equal(
            model.set_params(threshold=limit).get_support(), score >= limit
        )
        model.set_params(n_features_to_select=1)
        assert model.get_support().sum() == 1

    def test_names_come_back(self, model):
        X, y, _ = table(0)
        frame = pd.DataFrame(X, columns=list("abcde"))
        model = clone(model).set_params(n_features_to_select=2).set_output(transform="pandas")
        out = model.fit(frame, y).transform(frame)
        assert list(out.columns) == list(model.get_feature_names_out())
        pd.testing.assert_frame_equal(out, frame[out.columns])

    def test_text_and_category_columns_are_found(self, model, mixed_frame):
        frame, y = mixed_frame
        model = clone(model).fit(frame, y)
        np.testing.assert_array_equal(model.is_categorical_, [True, False, True, False])
        model.set_params(n_features_to_select=2)
        assert model.transform(frame).shape == (60, 2)

    def test_categories_may_have_any_names(self, model, mixed_frame):
        frame, y = mixed_frame
        renamed = frame.assign(text=frame["text"].map({"low": "z", "mid": "a", "high": "k"}))
        one, other = clone(model).fit(frame, y), clone(model).fit(renamed, y)
        np.testing.assert_allclose(one.feature_importances_, other.feature_importances_)

    def test_a_mask_indices_or_names_say_the_same(self, model):
        X, y, mask = table(0, kind="mixed")
        frame = pd.DataFrame(X, columns=list("abcde"))
        scores = [
            clone(model).set_params(categorical_features=given).fit(frame, y).feature_importances_
            for given in (mask, np.flatnonzero(mask), [-1, 0, 2], ["a", "c", "e"])
        ]
        for score in scores[1:]:
            np.testing.assert_array_equal(score, scores[0])


# Simba draws the order in which it visits samples.
@pytest.mark.parametrize("model", [m for m in selectors() if not isinstance(m, Simba)], **by_name)
def test_order_of_the_samples_does_not_matter(model):
    X, y, mask = table(0, n=60, kind="mixed")
    order = np.random.default_rng(0).permutation(60)
    model = clone(model).set_params(categorical_features=mask)
    one = clone(model).fit(X, y).feature_importances_
    other = clone(model).fit(X[order], y[order]).feature_importances_
    np.testing.assert_allclose(other, one, atol=1e-9)


@pytest.mark.parametrize("model", SELECTORS, **by_name)
def test_units_of_a_feature_do_not_matter(model):
    X, y, _ = table(0)
    one = clone(model).fit(X, y).feature_importances_
    other = clone(model).fit(X * [1e-9, 1, 1e3, 1e150, 7] + 3, y).feature_importances_
    np.testing.assert_allclose(other, one, atol=1e-4)


@pytest.mark.parametrize("model", ALL, **by_name)
class TestFit:
    def result(self, model):
        return model.components_ if isinstance(model, LFE) else model.feature_importances_

    def test_threads_do_not_matter(self, model):
        X, y, _ = table(0, n=300, n_classes=3)
        one, many = (clone(model).set_params(n_jobs=n).fit(X, y) for n in (1, 3))
        np.testing.assert_array_equal(self.result(one), self.result(many))

    def test_scale_of_the_weights_does_not_matter(self, model):
        X, y, _ = table(0)
        weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
        one, other = clone(model).fit(X, y, weight), clone(model).fit(X, y, 1e3 * weight)
        np.testing.assert_allclose(self.result(one), self.result(other), atol=1e-9)
        assert np.abs(self.result(one) - self.result(clone(model).fit(X, y))).max() > 1e-6

    def test_sample_weight_is_routed(self, model):
        X, y, _ = table(0)
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        with config_context(enable_metadata_routing=True):
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            step = clone(model).set_fit_request(sample_weight=True)
            piped = make_pipeline(scaler, step).fit(X, y, sample_weight=weight)
        direct = clone(model).fit(StandardScaler().fit_transform(X), y, weight)
        np.testing.assert_allclose(self.result(piped[-1]), self.result(direct))

    def test_labels_may_have_any_names(self, model):
        X, y, _ = table(0, n_classes=3)
        named = clone(model).fit(X, np.array(["x", "y", "z"])[y])
        np.testing.assert_array_equal(self.result(named), self.result(clone(model).fit(X, y)))

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.filterwarnings("ignore:Column 'x0' .always 0.. constant")
    @pytest.mark.parametrize(
        "stretch", [1e150, 1e-150, np.array([1e-150, 1, 1, 1, 1e150]), np.array([0, 1, 1, 1, 1])]
    )
    def test_odd_tables_give_finite_answers(self, model, stretch):
        X, y, _ = table(0)
        fitted = clone(model).fit(X * stretch, y)
        assert np.isfinite(self.result(fitted)).all()

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_duplicate_rows_and_constant_tables(self, model):
        X, y, _ = table(0, n=8)
        assert np.isfinite(
            self.result(clone(model).fit(np.repeat(X, 4, axis=0), np.repeat(y, 4)))
        ).all()
        with pytest.warns(ColumnWarning, match="constant"):
            constant = clone(model).fit(np.ones((8, 3)), y)
        assert np.isfinite(self.result(constant)).all()


@pytest.mark.parametrize("model", [IRelief(), LFE()], **by_name)
@pytest.mark.filterwarnings("ignore:Columns 'x0' .always 1.")
def test_nothing_to_learn_says_so(model):
    with pytest.warns(ConvergenceWarning, match="carry information about the classes"):
        clone(model).fit(np.ones((6, 3)), np.arange(6) % 2)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Relief(n_features_to_select=9), "n_features_to_select=9, but X has 5 features"),
        (Relief(n_features_to_select=0), "n_features_to_select must be a whole number"),
        (Relief(n_features_to_select=1.5), "n_features_to_select must be a whole number"),
        (Relief(threshold="mean"), "threshold must be a finite number"),
        (Relief(n_anchors=0), "n_anchors must be a whole number"),
        (Relief(metric="cosine"), r"choose one of \['euclidean', 'manhattan'\]"),
        (Relief(scale="std"), r"choose None or one of \['range'\]"),
        (Relief(categorical_features=[7]), "index 7, but X has 5 features"),
        (Relief(categorical_features=[True]), "mask of 1 entries, but X has 5"),
        (Relief(categorical_features=["a"]), "names 'a', but the columns of X are 'x0'"),
        (Relief(categorical_features=[0.5]), "give column names, indices or a mask"),
        (ReliefF(n_neighbors=0), "n_neighbors must be a whole number"),
        (ReliefF(metric=2), "metric=2 is unknown"),
        (Simba(n_starts=0), "n_starts must be a whole number"),
        (Simba(n_rounds=1.5), "n_rounds must be a whole number"),
        (Simba(global_share=1.5), "global_share must be a number from 0 to 1"),
        (Simba(global_share="all"), "global_share must be a number from 0 to 1"),
        (IRelief(sigma=0), "sigma must be a number above 0"),
        (IRelief(solver="newton"), "solver='newton' is unknown"),
        (IRelief(solver=Descent(tol=-1)), "tol must be a number, 0 or more"),
        (LFE(0), "n_components must be a whole number"),
    ],
)
def test_bad_parameters_say_what_to_do(model, message):
    X, y, _ = table(0)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_an_unknown_column_name_is_quoted(mixed_frame):
    frame, y = mixed_frame
    with pytest.raises(ValueError, match="names 'colour', but the columns of X are"):
        ReliefF(categorical_features=["colour"]).fit(frame, y)


def test_a_text_column_left_out_is_named(mixed_frame):
    frame, y = mixed_frame
    with pytest.raises(ValueError, match="Column 'text' holds categories"):
        ReliefF(categorical_features=["category"]).fit(frame, y)


def test_lfe_alone_takes_no_missing_values(mixed_frame):
    frame, y = mixed_frame
    frame.loc[3, "text"] = None
    for model in SELECTORS:
        assert np.isfinite(clone(model).fit(frame, y).feature_importances_).all()
    X, y, _ = table(0)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="'x1' holds NaN in row 3, and LFE takes no missing"):
        LFE().fit(X, y)


@pytest.mark.parametrize("model", SELECTORS, **by_name)
def test_what_is_no_feature_is_never_chosen(model):
    """Its score of 0 is above the negative scores of useless features."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    frame = frame.assign(patient=[f"P{i}" for i in range(40)])
    with pytest.warns(ColumnWarning, match="'patient'"):
        fitted = clone(model).set_params(n_features_to_select=4).fit(frame, np.arange(40) % 2)
    assert fitted.get_feature_names_out().tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("model", SELECTORS, **by_name)
def test_chosen_columns_come_out_as_they_were_given(model, mixed_frame):
    frame, y = mixed_frame
    frame = frame.assign(patient=[f"P{i}" for i in range(len(frame))])
    frame.loc[3, "text"] = None
    with pytest.warns(ColumnWarning, match="'patient' .60 levels in 60 rows"):
        fitted = clone(model).set_params(n_features_to_select=2).fit(frame, y)
    assert fitted.feature_importances_[4] == 0
    names = fitted.get_feature_names_out()
    given = frame[names].astype(object)
    out = pd.DataFrame(fitted.transform(frame), columns=names).astype(object)
    pd.testing.assert_frame_equal(out, given)
    table = fitted.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(table, frame[names])
