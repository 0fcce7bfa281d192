from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.core.cones import unit
from immigrate.core.couplings import class_probability
from immigrate.datasets import make_xor
from immigrate.margin import choice
from immigrate.margin.choice import (
    TEMPERATURES,
    best_temperature,
    best_temperatures,
    log_probability,
)
from immigrate.margin.model import RULES
from immigrate.persistence import load_model, save_model


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def mixture(wine):
    return ImmigrateClassifierCV(sigmas=[4.0, 1.0, 0.25], combine="mixture").fit(*wine)


def class_scores(model, X, points):
    return model.references.problem().class_scores_many(
        model.references.encoded(X),
        [point.weights for point in points],
        [point.sigma for point in points],
    )


def member_probabilities(model, X):
    """Every member on its own, from the definition."""
    fitted, X = model.model_, X.to_numpy()
    for member in fitted.members:
        point = fitted.points[member.point]
        scores = class_scores(fitted, X, [point])[0]
        score = getattr(scores, RULES[member.rule])
        yield member.share, class_probability(score, point.sigma * member.temperature)


def test_probabilities_are_the_mean_over_members(wine, mixture):
    X, _ = wine
    expected = sum(share * one for share, one in member_probabilities(mixture, X))
    np.testing.assert_allclose(mixture.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    assert expected.argmax(axis=1).tolist() == mixture.predict(X).tolist()
    np.testing.assert_allclose(mixture.decision_function(X), np.log(mixture.predict_proba(X)))


def test_members_are_told_and_shares_sum_to_one(mixture):
    members = mixture.members_
    assert list(members.columns) == ["sigma", "penalty", "rule", "temperature", "share"]
    assert members["share"].sum() == pytest.approx(1)
    assert members["share"].is_monotonic_decreasing
    assert len(members) > 1
    first = members.iloc[0]
    assert (mixture.sigma_, mixture.rule_, mixture.temperature_) == (
        first["sigma"],
        first["rule"],
        first["temperature"],
    )


def test_a_single_model_is_its_only_member(wine):
    model = ImmigrateClassifierCV(sigmas=[4.0, 1.0]).fit(*wine)
    [member] = model.members_.to_dict("records")
    chosen = model.scores_path_.query("is_chosen").iloc[0]
    assert member["share"] == 1
    assert [member[key] for key in ("sigma", "penalty", "rule", "temperature")] == [
        chosen[key] for key in ("sigma", "penalty", "rule", "temperature")
    ]


def test_weight_matrix_is_the_mean_of_the_members(mixture):
    fitted = mixture.model_
    mean = sum(one.share * fitted.points[one.point].weights for one in fitted.members)
    np.testing.assert_allclose(mixture.weight_matrix_, unit(mean))
    assert mixture.interactions()["weight"].abs().max() > 0


def test_left_out_samples_are_likelier_than_under_the_best_member(wine, mixture):
    X, y = wine
    best = ImmigrateClassifierCV(sigmas=[4.0, 1.0, 0.25]).fit(X, y)
    left_out = np.exp(-mixture.model_.scores(None))
    assert log_loss(y, left_out) < -best.scores_path_["selection_score"].max()
    assert (mixture.leave_one_out_predict() == y).mean() > 0.9


@pytest.mark.parametrize("which", ["wine", "xor"])
def test_parts_add_up_to_the_lead_in_probability(wine, which):
    X, y = wine if which == "wine" else make_xor(120, 4, noise=0.1, random_state=0)
    model = ImmigrateClassifierCV(sigmas=[4.0, 1.0, 0.25], combine="mixture").fit(X, y)
    explanation = model.explain(X[:20])
    proba = np.sort(model.predict_proba(X)[:20], axis=1)
    np.testing.assert_allclose(explanation.margin, proba[:, -1] - proba[:, -2], atol=1e-9)
    parts = explanation.values.sum(axis=1)
    np.testing.assert_allclose(parts, explanation.margin, atol=1e-9)
    assert len(model.explain(X[:2]).margin) == 2


def test_expected_distances_are_means_over_members(wine, mixture):
    X, _ = wine
    fitted = mixture.model_
    scores = class_scores(fitted, X.to_numpy(), fitted.points)
    expected = sum(one.share * scores[one.point].distance for one in fitted.members)
    np.testing.assert_allclose(mixture.expected_distances(X), expected)
    assert mixture.expected_distances().shape == (len(X), 3)


@pytest.mark.parametrize("how", ["pickle", "joblib", "model"])
def test_files_predict_the_same(wine, mixture, how, tmp_path):
    X, _ = wine
    file = io.BytesIO()
    if how == "pickle":
        again = pickle.loads(pickle.dumps(mixture))
    elif how == "joblib":
        joblib.dump(mixture, file)
        file.seek(0)
        again = joblib.load(file)
    else:
        save_model(mixture, tmp_path / "model")
        again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), mixture.predict_proba(X))
    assert again.members_.equals(mixture.members_)


def test_folds_can_decide_about_the_shares(wine):
    X, y = wine
    model = ImmigrateClassifierCV(sigmas=[4.0, 1.0], combine="mixture", cv=3).fit(X, y)
    assert model.score(X, y) > 0.95
    assert "split2_test_score" in model.cv_results_


@pytest.mark.parametrize("references", [60, "all"])
def test_a_mixture_can_keep_prototypes(wine, references):
    X, y = wine
    base = ImmigrateClassifier(references=references, random_state=0)
    model = ImmigrateClassifierCV(base, sigmas=[4.0, 1.0], combine="mixture").fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(model.model_.references.codes) <= (60 if references == 60 else len(y))


def test_the_temperature_is_the_likeliest_one():
    rng = np.random.default_rng(0)
    margin = rng.normal(size=4000)
    score = np.stack([margin, np.zeros(4000)], axis=1)
    y = (rng.uniform(size=4000) < 1 / (1 + np.exp(-margin / 0.5))).astype(int)
    assert best_temperature([(score, y)], 1.0, TEMPERATURES) == 0.5
    assert best_temperature([(score, y), (score, y)], 2.0, TEMPERATURES) == 0.25


def test_of_temperatures_that_fit_alike_the_first_is_taken():
    score = np.zeros((10, 2))
    assert best_temperature([(score, np.arange(10) % 2)], 1.0, TEMPERATURES) == TEMPERATURES[0]


@pytest.mark.parametrize("block", [1, 7, 45, 10_000])
def test_candidates_judged_together_have_the_temperatures_of_each_alone(block, monkeypatch):
    rng = np.random.default_rng(0)
    splits = [(list(rng.gamma(1.0, size=(5, n, 3))), rng.integers(0, 3, n)) for n in (20, 31)]
    for scores, y in splits:
        for score in scores:
            score[np.arange(len(y)), y] -= 0.5
    sigmas = np.array([0.1, 0.3, 1.0, 3.0, 10.0])
    alone = [
        best_temperature([(scores[i], y) for scores, y in splits], sigma, TEMPERATURES)
        for i, sigma in enumerate(sigmas)
    ]
    monkeypatch.setattr(choice, "BLOCK", block)
    assert best_temperatures(splits, sigmas, TEMPERATURES).tolist() == alone
    assert len(set(alone)) > 2


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss"])
def test_each_candidate_has_the_temperature_that_fits_it(wine, scoring):
    X, y = wine
    model = ImmigrateClassifierCV(
        ImmigrateClassifier(constraint="nonnegative"), sigmas=[4.0, 1.0], scoring=scoring
    ).fit(X, y)
    for row in model.scores_path_.itertuples():
        single = ImmigrateClassifier(row.sigma, rule=row.rule, constraint="nonnegative").fit(X, y)
        score = single.model_.scores(None)
        likelihood = [
            log_probability(score, row.sigma * heat, y.to_numpy()).mean() for heat in TEMPERATURES
        ]
        assert row.temperature == TEMPERATURES[int(np.argmax(likelihood))]
        if scoring == "neg_log_loss":
            assert row.selection_score == pytest.approx(max(likelihood), rel=1e-9)


def test_a_temperature_changes_probabilities_and_no_class(wine):
    X, y = wine
    cold, warm = (
        ImmigrateClassifierCV(sigmas=[1.0], rules=("energy",), temperatures=(heat,)).fit(X, y)
        for heat in (0.5, 2.0)
    )
    np.testing.assert_array_equal(cold.predict(X), warm.predict(X))
    np.testing.assert_array_equal(cold.decision_function(X), warm.decision_function(X))
    assert cold.predict_proba(X).max(axis=1).mean() > warm.predict_proba(X).max(axis=1).mean()
    score = cold.model_.scores(X.to_numpy())
    np.testing.assert_allclose(cold.predict_proba(X), class_probability(score, 0.5))
