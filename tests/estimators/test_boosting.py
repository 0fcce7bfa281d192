from __future__ import annotations

import pickle

import numpy as np
import pytest
from printed import printed_steps
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_monk1, make_xor
from immigrate.options import Columns, Descent, PaperBoosting, Screen


@pytest.fixture(scope="module")
def binary():
    X, y = make_xor(120, 4, noise=0.15, random_state=0)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@pytest.fixture(params=["samme", "paper"])
def variant(request):
    return request.param


@pytest.mark.parametrize("rule", ["energy", "distance"])
def test_votes_are_what_the_learners_say(binary, variant, rule):
    """The one sweep over all learners against each learner alone."""
    X, y = binary
    model = BoostedImmigrateClassifier(n_estimators=12, variant=variant, rules=[rule]).fit(X, y)
    total = np.zeros((len(y), 2))
    for learner in model.estimators_:
        d = np.abs(X.to_numpy()[:, None] - X.to_numpy()[None])
        q = np.einsum("ija,ab,ijb->ij", d, learner.weights, d)
        boltzmann = np.exp(-q / learner.sigma)
        per_class = np.stack([boltzmann[:, y == c] for c in (0, 1)]).sum(axis=2)
        distance = np.stack([(boltzmann * q)[:, y == c] for c in (0, 1)]).sum(axis=2) / per_class
        weight = per_class if rule == "energy" else np.exp(-distance / learner.sigma)
        share = weight.T ** (1 / model.temperature_)
        share /= share.sum(axis=1, keepdims=True)
        total += learner.vote * (share if variant == "samme" else np.eye(2)[share.argmax(axis=1)])
    expected = total / sum(learner.vote for learner in model.estimators_)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))


def test_rule_is_the_one_with_which_a_single_model_predicts_best():
    chosen = []
    for seed in range(6):
        X, y = make_xor(80, 3, noise=0.3, random_state=seed)
        sigma = (0.1, 2.0)[seed % 2]
        raw = Columns(scale=None)
        right = {
            rule: np.mean(
                ImmigrateClassifier(sigma, rule=rule, columns=raw)
                .fit(X, y)
                .leave_one_out_predict()
                == y
            )
            for rule in ("energy", "distance")
        }
        single = ImmigrateClassifier(solver=Descent(max_iter=5), columns=raw)
        chosen.append(
            BoostedImmigrateClassifier(single, sigmas=[sigma], scoring="accuracy").fit(X, y).rule_
        )
        assert chosen[-1] == max(right, key=right.get)
    assert set(chosen) == {"energy", "distance"}


def test_papers_rule_is_equation_9(binary):
    assert (
        BoostedImmigrateClassifier(n_estimators=2, variant="paper").fit(*binary).rule_
        == "distance"
    )


def test_stages_end_at_the_prediction(binary, variant):
    X, y = binary
    model = BoostedImmigrateClassifier(n_estimators=8, variant=variant).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_)
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y)


def test_ensemble_has_one_weight_matrix(binary, variant):
    X, y = binary
    model = BoostedImmigrateClassifier(n_estimators=8, variant=variant).fit(X, y)
    mean = sum(learner.vote * learner.weights for learner in model.estimators_)
    np.testing.assert_allclose(model.weight_matrix_, mean / np.linalg.norm(mean))
    assert set(model.interactions(top=3)["feature_1"]) <= set(X.columns)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_sample_weights_are_the_first_anchor_weights(binary, variant):
    X, y = binary
    weight = np.random.default_rng(0).uniform(0.2, 1, len(y))
    one = BoostedImmigrateClassifier(n_estimators=5, variant=variant).fit(X, y, weight)
    same = BoostedImmigrateClassifier(n_estimators=5, variant=variant).fit(X, y, 7 * weight)
    plain = BoostedImmigrateClassifier(n_estimators=5, variant=variant).fit(X, y)
    np.testing.assert_allclose(same.weight_matrix_, one.weight_matrix_, atol=1e-10)
    assert np.abs(plain.weight_matrix_ - one.weight_matrix_).max() > 1e-4


def test_threads_do_not_matter_and_seeds_do(binary):
    X, y = binary
    fits = [
        BoostedImmigrateClassifier(
            ImmigrateClassifier(solver=Descent(init="random", max_iter=5), random_state=s),
            n_jobs=j,
        ).fit(X, y)
        for s, j in ((0, 1), (0, 2), (1, 1))
    ]
    np.testing.assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
    np.testing.assert_array_equal(fits[0].weight_matrix_, fits[1].weight_matrix_)
    assert not np.array_equal(fits[0].weight_matrix_, fits[2].weight_matrix_)


def test_perfect_learners_are_kept():
    """MONK-1, which the paper's rule of discarding errors of 0 throws away."""
    X, y = make_monk1()
    model = make_pipeline(StandardScaler(), BoostedImmigrateClassifier())
    assert (
        cross_val_score(model, X, y, cv=StratifiedKFold(3, shuffle=True, random_state=0)).mean()
        == 1
    )


@pytest.mark.slow
def test_monk1_is_solved():
    X, y = make_monk1()
    model = make_pipeline(StandardScaler(), BoostedImmigrateClassifier())
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    assert cross_val_score(model, X, y, cv=folds).mean() == 1


def test_an_empty_ensemble_is_impossible():
    """Two clouds far apart: every learner is perfect, and Algorithm 3 discards all of them."""
    X = np.concatenate([np.zeros((10, 2)), 50 * np.ones((10, 2))])
    X += np.random.default_rng(0).standard_normal(X.shape)
    y = np.repeat([0, 1], 10)
    with pytest.warns(UserWarning, match="All 5 learners were discarded"):
        paper = BoostedImmigrateClassifier(n_estimators=5, variant="paper").fit(X, y)
    assert len(paper.estimators_) == 1
    assert paper.score(X, y) == 1
    ours = BoostedImmigrateClassifier(n_estimators=5).fit(X, y)
    assert len(ours.estimators_) == 1
    assert np.isfinite(ours.estimators_[0].vote)


def test_wine_always_has_learners():
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X[y < 2]), y[y < 2]
    for train, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = BoostedImmigrateClassifier().fit(X[train], y[train])
        assert len(model.estimators_) >= 1
        assert all(learner.vote > 0 for learner in model.estimators_)


def test_label_noise_does_not_collapse_the_vote():
    """A fifth of the labels flipped: the ensemble stays within a point of one such model."""
    rng = np.random.default_rng(0)
    gain = []
    for seed in range(5):
        X, clean = make_xor(500, 4, random_state=seed)
        y = clean ^ (rng.uniform(size=500) < 0.2)
        train, test = slice(0, 250), slice(250, 500)
        boosted = (
            BoostedImmigrateClassifier(n_estimators=50)
            .fit(X[train], y[train])
            .score(X[test], clean[test])
        )
        one = ImmigrateClassifierCV().fit(X[train], y[train])
        single = one.score(X[test], clean[test])
        gain.append(boosted - single)
    assert np.mean(gain) > -0.01


def test_learners_vote_at_the_temperature_of_a_single_model(binary):
    X, y = binary
    single = ImmigrateClassifier(solver=Descent(tol=1e-2))
    model = BoostedImmigrateClassifier(single, n_estimators=2).fit(X, y)
    path = ImmigrateClassifierCV(single).fit(X, y)
    assert (model.rule_, model.temperature_) == (path.rule_, path.temperature_)
    other = BoostedImmigrateClassifier(single, n_estimators=2, temperatures=(3.0,)).fit(X, y)
    assert other.temperature_ == 3.0
    paper = BoostedImmigrateClassifier(n_estimators=2, variant="paper").fit(X, y)
    assert paper.temperature_ == 1.0


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), BoostedImmigrateClassifier())
    assert cross_val_score(model, X, y, cv=5).mean() > 0.93
    with pytest.raises(ValueError, match="variant='paper' is for two classes and y holds 3"):
        BoostedImmigrateClassifier(variant="paper").fit(X, y)


def test_screened_ensemble_keeps_names():
    X, y = make_xor(150, 200, random_state=0)
    X["strong"] = y + 0.5 * np.random.default_rng(0).standard_normal(len(y))
    screen = Screen("im4e", max_features=5, keep=["a", "b"])
    base = ImmigrateClassifier(screen=screen, solver=Descent(max_iter=5))
    model = BoostedImmigrateClassifier(base, n_estimators=3).fit(X, y)
    assert {"a", "b", "strong"} <= set(model.get_feature_names_out())
    assert model.weight_matrix_.shape[0] == len(model.get_feature_names_out())
    assert model.predict(X).shape == (150,)


def test_pickle_predicts_the_same(binary):
    X, y = binary
    model = BoostedImmigrateClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_verbose_reports_each_round(binary, capsys):
    X, y = binary
    model = BoostedImmigrateClassifier(n_estimators=3, verbose=True).fit(X, y)
    assert len(printed_steps(capsys)) == model.n_iter_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "real"}, r"choose one of \['paper', 'samme'\]"),
        ({"n_estimators": 0}, "n_estimators must be a whole number"),
        ({"sigmas": [-1]}, "sigmas must be a number above 0"),
        ({"sigmas": "large"}, "sigmas='large' is unknown"),
        ({"rules": ["nearest"]}, r"choose one of \['distance', 'energy'\]"),
        ({"rules": "energy"}, r"choose one of \['auto'\]"),
        (
            {"variant": "paper", "rules": ["energy", "distance"]},
            "offers a choice and variant='paper' makes none",
        ),
        ({"variant": PaperBoosting(sigma_max=0)}, "sigma_max must be a number above 0"),
        ({"variant": PaperBoosting(sigma_min=5)}, "sigma falls from the largest"),
        ({"estimator": ImmigrateClassifier(constraint="clip")}, "the paper's full steps"),
        ({"estimator": LogisticRegression()}, "estimator must be an ImmigrateClassifier"),
    ],
)
def test_bad_parameters_say_what_to_do(binary, parameters, message):
    with pytest.raises(ValueError, match=message):
        BoostedImmigrateClassifier(**parameters).fit(*binary)
