from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from printed import printed_steps
from problems import problems
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import immigrate
from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_monk1
from immigrate.options import Columns, Descent
from immigrate.persistence import public_estimators

HASTY = Descent(max_iter=1, tol=0)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def with_weights(model, W):
    """The same model with other weights."""
    return replace(model, points=(replace(model.points[0], weights=W),))


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@pytest.fixture(scope="module")
def monk():
    X, y = make_monk1()
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


class TestInvariance:
    """What must not change the answer does not."""

    @quiet
    @settings(max_examples=60)
    @given(problem=problems(max_n=16, max_p=4), random=st.randoms(use_true_random=False))
    def test_feature_order_permutes_the_weights(self, problem, random):
        order = random.sample(range(problem.X.shape[1]), problem.X.shape[1])
        W = self.fit(problem).weight_matrix_
        permuted = self.fit(problem, X=problem.X[:, order]).weight_matrix_
        np.testing.assert_allclose(permuted, W[np.ix_(order, order)], atol=1e-6)

    @quiet
    @settings(max_examples=60)
    @given(problem=problems(max_n=16, max_p=4), random=st.randoms(use_true_random=False))
    def test_sample_order_does_not_matter(self, problem, random):
        order = random.sample(range(len(problem.X)), len(problem.X))
        W = self.fit(problem).weight_matrix_
        permuted = self.fit(
            problem,
            X=problem.X[order],
            y=problem.y[order],
            sample_weight=problem.anchor_weight[order],
        ).weight_matrix_
        np.testing.assert_allclose(permuted, W, atol=1e-6)

    @quiet
    @settings(max_examples=60)
    @given(problem=problems(max_n=16, max_p=4))
    def test_label_names_do_not_matter(self, problem):
        names = np.array(["zebra", "ant", "mole", "cat"])
        W = self.fit(problem).weight_matrix_
        named = self.fit(problem, y=names[problem.y])
        np.testing.assert_allclose(named.weight_matrix_, W, atol=1e-6)
        assert set(named.predict(problem.X)) <= set(names)

    @quiet
    @settings(max_examples=60)
    @given(problem=problems(max_n=30, max_p=4))
    def test_thread_count_does_not_matter(self, problem):
        one, two = self.fit(problem, n_jobs=1), self.fit(problem, n_jobs=2)
        np.testing.assert_array_equal(one.weight_matrix_, two.weight_matrix_)
        np.testing.assert_array_equal(one.predict_proba(problem.X), two.predict_proba(problem.X))

    @staticmethod
    def fit(problem, X=None, y=None, sample_weight=None, **parameters):
        model = ImmigrateClassifier(sigma=problem.sigma, solver=Descent(max_iter=4), **parameters)
        return model.fit(
            problem.X if X is None else X,
            problem.y if y is None else y,
            problem.anchor_weight if sample_weight is None else sample_weight,
        )


class TestPrediction:
    @pytest.mark.parametrize("rule", ["distance", "energy"])
    @pytest.mark.parametrize("loader", [load_iris, load_wine])
    def test_probabilities_sum_to_one_and_agree_with_predict(self, rule, loader):
        X, y = loader(return_X_y=True)
        model = ImmigrateClassifier(rule=rule).fit(StandardScaler().fit_transform(X), y)
        X = StandardScaler().fit_transform(X)
        probability, decision = model.predict_proba(X), model.decision_function(X)
        np.testing.assert_allclose(probability.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
        np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(X))

    def test_binary_decision_is_the_signed_margin(self, monk):
        X, y = monk
        model = ImmigrateClassifier(rule="distance").fit(X, y)
        distance = model.expected_distances(X)
        decision = model.decision_function(X)
        np.testing.assert_array_equal(decision, distance[:, 0] - distance[:, 1])
        np.testing.assert_array_equal(model.predict(X), (decision > 0).astype(int))

    def test_leave_one_out_is_a_refit_free_jackknife(self, monk):
        """At fixed weights, each training sample scored against all the others."""
        X, y = (part[::9] for part in monk)
        raw = ImmigrateClassifier(sigma=0.5, columns=Columns(scale=None))
        model = clone(raw).fit(X, y)
        for i in range(0, len(y), 7):
            others = np.arange(len(y)) != i
            without = clone(raw).fit(X[others], y[others])
            without.model_ = with_weights(without.model_, model.weight_matrix_)
            np.testing.assert_allclose(
                without.expected_distances(X.iloc[[i]])[0],
                model.expected_distances()[i],
                rtol=1e-10,
            )

    def test_float32_stays_close_to_float64(self, wine):
        X, y = wine
        double = ImmigrateClassifier().fit(X, y)
        single = ImmigrateClassifier().fit(X.astype(np.float32), y)
        np.testing.assert_allclose(single.weight_matrix_, double.weight_matrix_, atol=1e-3)


class TestTable:
    def test_every_feature_and_pair_is_listed_with_its_name(self, wine):
        X, y = wine
        model = ImmigrateClassifier().fit(X, y)
        table = model.interactions()
        p = X.shape[1]
        assert len(table) == p * (p + 1) // 2
        assert (table["kind"] == "main").sum() == p
        assert set(table["feature_1"]) == set(X.columns)
        assert table["share"].sum() == pytest.approx(1)
        assert table["share"].is_monotonic_decreasing
        np.testing.assert_array_equal(table["rank"], np.arange(1, len(table) + 1))
        names = list(X.columns)
        for row in table.itertuples():
            a = names.index(row.feature_1)
            assert (row.feature_2 is None) == (row.kind == "main")
            b = a if row.feature_2 is None else names.index(row.feature_2)
            assert row.weight == model.weight_matrix_[a, b]

    def test_top_is_the_head_of_the_whole(self, wine):
        model = ImmigrateClassifier().fit(*wine)
        pd.testing.assert_frame_equal(model.interactions(top=5), model.interactions().head(5))

    def test_importances_are_shares_that_select(self, wine):
        X, y = wine
        model = ImmigrateClassifier().fit(X, y)
        assert model.feature_importances_.sum() == pytest.approx(1)
        assert (model.feature_importances_ >= 0).all()
        selector = SelectFromModel(ImmigrateClassifier(), max_features=3, threshold=-np.inf)
        chosen = selector.fit(X, y).get_feature_names_out()
        expected = X.columns[np.argsort(-model.feature_importances_)[:3]]
        assert set(chosen) == set(expected)


class TestFit:
    @pytest.mark.parametrize("sigma", [1, 0.5, 0.25, 0.125])
    @pytest.mark.slow
    def test_monk1_is_solved_by_descent(self, monk, sigma):
        assert monk_accuracy(monk, ImmigrateClassifier(sigma=sigma, rule="distance")) >= 0.995

    @pytest.mark.slow
    @quiet
    def test_monk1_is_not_solved_by_full_steps(self, monk):
        """Why descent matters: same cost, same start, same first step."""
        model = ImmigrateClassifier(sigma=0.5, solver="paper", constraint="clip")
        assert monk_accuracy(monk, model) < 0.8

    def test_monk1_cost_rises_under_full_steps_only(self, monk):
        X, y = monk
        with pytest.warns(ConvergenceWarning, match="solver='monotone'"):
            full = ImmigrateClassifier(0.5, solver="paper", constraint="clip").fit(X, y)
        descent = ImmigrateClassifier(0.5).fit(X, y)
        assert np.diff(full.objective_path_).max() > 0.05
        assert np.diff(descent.objective_path_).max() <= 0
        assert descent.objective_path_[-1] < full.objective_path_.min()
        assert descent.converged_
        assert descent.gap_ <= 1e-3

    @pytest.mark.parametrize("constraint", ["psd", "nonnegative", "both"])
    def test_weights_obey_the_constraint(self, wine, constraint):
        W = ImmigrateClassifier(constraint=constraint).fit(*wine).weight_matrix_
        np.testing.assert_allclose(W, W.T, atol=1e-12)
        assert np.linalg.norm(W) == pytest.approx(1)
        if constraint != "nonnegative":
            assert np.linalg.eigvalsh(W).min() > -1e-9
        if constraint != "psd":
            assert W.min() >= 0

    def test_sample_weight_scale_does_not_matter(self, wine):
        X, y = wine
        weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
        one = ImmigrateClassifier().fit(X, y, weight).weight_matrix_
        other = ImmigrateClassifier().fit(X, y, 1e3 * weight).weight_matrix_
        np.testing.assert_allclose(other, one, atol=1e-12)
        assert np.abs(one - ImmigrateClassifier().fit(X, y).weight_matrix_).max() > 1e-3

    def test_pruned_weights_serve_prediction_too(self, wine):
        X, y = wine
        model = ImmigrateClassifier(penalty="prune").fit(X, y)
        W = model.weight_matrix_
        whole = ImmigrateClassifier().fit(X, y).weight_matrix_
        np.testing.assert_array_equal(W != 0, np.abs(whole) >= 1 / X.shape[1])
        assert np.linalg.norm(W) == pytest.approx(1)
        by_hand = clone(model).set_params(penalty=None).fit(X, y)
        by_hand.model_ = with_weights(by_hand.model_, W)
        np.testing.assert_array_equal(model.predict(X), by_hand.predict(X))

    def test_random_start_is_reproducible(self, wine):
        random = Descent(init="random")
        fits = [ImmigrateClassifier(solver=random, random_state=s).fit(*wine) for s in (0, 0, 1)]
        np.testing.assert_array_equal(fits[0].weight_matrix_, fits[1].weight_matrix_)
        assert fits[0].objective_path_[0] != fits[2].objective_path_[0]

    def test_pickle_predicts_the_same(self, wine):
        X, y = wine
        model = ImmigrateClassifier().fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))

    def test_verbose_reports_each_step(self, wine, capsys):
        model = ImmigrateClassifier(verbose=True).fit(*wine)
        assert len(printed_steps(capsys)) == model.n_iter_ + 1

    def test_sample_weight_is_routed(self, wine):
        X, y = wine
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        with config_context(enable_metadata_routing=True):
            scaler = StandardScaler().set_fit_request(sample_weight=False)
            model = ImmigrateClassifier().set_fit_request(sample_weight=True)
            piped = make_pipeline(scaler, model).fit(X, y, sample_weight=weight)
        direct = ImmigrateClassifier().fit(StandardScaler().fit_transform(X), y, weight)
        np.testing.assert_allclose(piped[-1].weight_matrix_, direct.weight_matrix_)


def monk_accuracy(monk, model):
    cv = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)
    X, y = monk
    return cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=cv).mean()


def test_public_names_are_listed_and_loadable():
    for name in immigrate.__all__:
        assert getattr(immigrate, name) is not None
    assert dir(immigrate) == sorted(immigrate.__all__)
    forgotten = set(public_estimators()) - set(immigrate.__all__)
    assert not forgotten, f"import {forgotten} in src/immigrate/__init__.py and list it in __all__"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = immigrate.nonsense


@pytest.mark.parametrize(
    "model",
    [
        ImmigrateClassifier(solver=HASTY),
        ImmigrateClassifierCV(ImmigrateClassifier(solver=HASTY), sigmas=[0.1]),
        immigrate.IM4EClassifier(solver=HASTY),
        immigrate.CubicImmigrateClassifier(solver=HASTY),
    ],
)
def test_warnings_point_at_the_users_line(wine, model):
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(*wine)
    assert caught[0].filename == __file__
