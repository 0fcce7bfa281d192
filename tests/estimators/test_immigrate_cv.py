from __future__ import annotations

import pickle

import numpy as np
import pytest
from printed import printed_steps
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_monk1
from immigrate.margin.choice import CRITERIA, Choices, Selection
from immigrate.margin.sigma import PAPER_GRID, sigma_grid, typical_distance
from immigrate.options import Columns, Prune, Screen
from immigrate.persistence import load_model, save_model

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return StandardScaler().set_output(transform="pandas").fit_transform(X), y


@quiet
@pytest.mark.parametrize("loader", [load_iris, load_wine])
def test_papers_protocol_is_a_plain_grid_search(loader):
    X, y = loader(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    # Folds of the path share units, which those of a grid search know nothing of.
    raw = Columns(scale=None)
    path = ImmigrateClassifierCV(
        ImmigrateClassifier(solver="paper", columns=raw),
        sigmas="paper",
        penalties=(None, "prune"),
        rules=("distance",),
        temperatures=(1.0,),
        scoring="accuracy",
        cv=folds,
    ).fit(X, y)
    grid = GridSearchCV(
        ImmigrateClassifier(solver="paper", rule="distance", columns=raw),
        {"sigma": PAPER_GRID, "penalty": [None, Prune()]},
        cv=folds,
    ).fit(X, y)
    assert path.sigma_ == grid.best_params_["sigma"]
    assert str(path.penalty_) == str(grid.best_params_["penalty"])
    np.testing.assert_array_equal(path.predict_proba(X), grid.predict_proba(X))
    for key in ("mean_test_score", "std_test_score", "rank_test_score", "split3_test_score"):
        np.testing.assert_allclose(path.cv_results_[key], grid.cv_results_[key], rtol=1e-12)


@pytest.mark.parametrize("constraint", ["psd", "nonnegative"])
def test_leave_one_out_choice_is_what_single_fits_say(wine, constraint):
    """Cold single fits at each sigma; warm starts move scores by a sample or two at most."""
    X, y = wine
    base = ImmigrateClassifier(constraint=constraint)
    path = ImmigrateClassifierCV(base, scoring="accuracy").fit(X, y)
    for row in path.scores_path_.itertuples():
        single = ImmigrateClassifier(row.sigma, rule=row.rule, constraint=constraint).fit(X, y)
        accuracy = (single.leave_one_out_predict() == y).mean()
        limit = 0 if constraint == "nonnegative" else 3 / len(y)
        assert abs(accuracy - row.selection_score) <= limit + 1e-12
    assert (
        path.scores_path_["selection_score"].max()
        == path.scores_path_.query("is_chosen")["selection_score"].item()
    )


def test_chosen_model_is_the_fitted_model(wine):
    X, y = wine
    path = ImmigrateClassifierCV(penalties=(None, "prune"), scoring="accuracy").fit(X, y)
    chosen = path.scores_path_.query("is_chosen").iloc[0]
    assert (path.sigma_, str(path.penalty_), path.rule_, path.temperature_) == (
        chosen["sigma"],
        chosen["penalty"],
        chosen["rule"],
        chosen["temperature"],
    )
    # The path stops at a wider gap than the chosen fit: a sample or two may change sides.
    loo = (path.leave_one_out_predict() == y).mean()
    assert loo == pytest.approx(chosen["selection_score"], abs=2 / len(y))
    assert path.gap_ <= 1e-3
    assert np.count_nonzero(np.triu(path.weight_matrix_)) == chosen["n_weights"]
    assert list(path.get_feature_names_out()) == list(X.columns)
    assert len(path.interactions()) == 91


def test_path_is_kept(wine):
    path = ImmigrateClassifierCV(sigmas=[2.0, 0.5, 1.0]).fit(*wine)
    assert path.weights_path_.shape == (3, 13, 13)
    np.testing.assert_allclose(np.linalg.norm(path.weights_path_, axis=(1, 2)), 1)
    assert path.costs_path_.shape == (3,)
    assert list(path.scores_path_["sigma"][:3]) == [2.0, 1.0, 0.5]
    assert set(path.cv_results_["param_sigma"]) == {2.0, 1.0, 0.5}


def right_on(*ranges):
    """1 for samples in these ranges of 100, 0 for the others."""
    samples = np.arange(100)
    return sum(((first <= samples) & (samples < end)).astype(float) for first, end in ranges)


def test_one_standard_error_prefers_large_sigma_then_few_weights():
    choices = Choices([4.0, 2.0, 1.0], [None, prune := Prune()], ["energy"])
    # 70, 82, 84 right, then 70, 83 and 84; those of sigma 2 are wrong on samples of their own.
    best, near = right_on((0, 84)), right_on((10, 92))
    samples = [right_on((0, 70)), near, best, right_on((0, 70)), right_on((9, 92)), best[::-1]]
    selection = Selection.of_samples(choices, [np.array(samples)], temperatures=(1.0,) * 6)
    n_weights = np.array([9, 9, 9, 2, 2, 2])
    assert selection.candidates[selection.best()]["sigma"] == 1.0
    simplest = selection.candidates[selection.simplest(n_weights)]
    assert simplest == {"penalty": prune, "rule": "energy", "sigma": 2.0, "temperature": 1.0}


def test_one_standard_error_is_that_of_the_difference():
    """Candidates of equal score: one is never right where the best is wrong, one often is."""
    choices = Choices([4.0, 2.0, 1.0], [None], ["energy"])
    samples = np.array([right_on((0, 82)), right_on((10, 92)), right_on((0, 84))])
    selection = Selection.of_samples(choices, [samples], temperatures=(1.0,) * 3)
    # .02 behind: the standard errors are .014 and .043, that of the score itself .037.
    np.testing.assert_allclose(
        selection.standard_error_behind,
        [
            np.sqrt((2 - 2**2 / 100) / 99 / 100),
            np.sqrt((18 - 2**2 / 100) / 99 / 100),
            0,
        ],
    )
    assert selection.candidates[selection.simplest(np.array([9, 9, 9]))]["sigma"] == 2.0


@pytest.mark.parametrize(("scoring", "chance"), [("accuracy", 0.56), ("neg_log_loss", -0.69)])
def test_criterion_is_not_performance(scoring, chance):
    """On permuted labels cross-validation is at chance and the selection criterion is not."""
    X, y = load_wine(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    criterion, held_out = [], []
    for seed in range(6):
        shuffled = np.random.default_rng(seed).permutation(y)
        model = make_pipeline(StandardScaler(), ImmigrateClassifierCV(scoring=scoring))
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        score = cross_val_score(model, X, shuffled, cv=folds, scoring=scoring)
        held_out.append(score.mean())
        table = model.fit(X, shuffled)[-1].scores_path_
        criterion.append(table.query("is_chosen")["selection_score"].item())
    assert np.mean(held_out) < chance
    assert np.mean(criterion) > chance + 0.04


def test_the_criterion_is_labelled_as_one(wine):
    path = ImmigrateClassifierCV().fit(*wine)
    assert "selection_score" in path.scores_path_
    assert "not an estimate of performance" in " ".join(ImmigrateClassifierCV.__doc__.split())
    assert repr(path) == "ImmigrateClassifierCV()"


@pytest.mark.parametrize("scoring", sorted(CRITERIA))
def test_criteria_agree_with_scikit_learn(wine, scoring):
    from sklearn.metrics import get_scorer

    X, y = wine
    model = ImmigrateClassifier().fit(X, y)
    mine = CRITERIA[scoring](model.model_.scores(X.to_numpy()), model.sigma_, y.to_numpy())
    assert mine.mean() == pytest.approx(get_scorer(scoring)(model, X, y), rel=1e-9)


def test_auto_sigma_follows_the_units_of_the_table(wine):
    X, y = wine
    raw = ImmigrateClassifier(columns=Columns(scale=None))
    one, other = clone(raw).fit(X, y), clone(raw).fit(1000 * X, y)
    assert other.sigma_ == pytest.approx(1e6 * one.sigma_)
    np.testing.assert_allclose(other.weight_matrix_, one.weight_matrix_, atol=1e-9)
    np.testing.assert_array_equal(other.predict(1000 * X), one.predict(X))


def test_typical_distance_is_the_median_over_all_pairs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    W = np.eye(4) / 2
    d = np.abs(X[:, None] - X[None])[np.triu_indices(60, 1)]
    q = np.einsum("ka,ab,kb->k", d, W, d)
    assert typical_distance(X, W) == pytest.approx(np.median(q))
    dense = np.full((4, 4), 0.25)
    q = np.einsum("ka,ab,kb->k", d, dense, d)
    assert typical_distance(X, dense) == pytest.approx(np.median(q))


def test_typical_distance_of_coinciding_samples_is_not_zero():
    X = np.zeros((20, 2))
    assert typical_distance(X, np.eye(2)) == 1.0
    X[0] = 1.0
    assert typical_distance(X, np.eye(2)) > 0


def test_papers_grid_halves_from_4_until_not_larger_than_a_fifth():
    grid = [4.0]
    while grid[-1] > 0.2:
        grid.append(grid[-1] / 2)
    assert sigma_grid("paper", None, None) == grid


def test_groups_reach_the_splitter(wine):
    X, y = wine
    groups = np.arange(len(y)) % 7
    path = ImmigrateClassifierCV(sigmas=[1.0, 0.5], cv=GroupKFold(7)).fit(X, y, groups=groups)
    assert "split6_test_score" in path.cv_results_


def test_screen_is_inside_the_folds(wine):
    """With a screen chosen on all samples the criterion of pure noise would be optimistic."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 400)), np.arange(60) % 2
    screened = ImmigrateClassifier(screen=Screen("im4e", max_features=10))
    path = ImmigrateClassifierCV(screened, sigmas=[1.0], rules=("energy",), cv=5).fit(X, y)
    assert path.cv_results_["mean_test_score"].item() < 0.7
    assert (path.leave_one_out_predict() == y).mean() > 0.75


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigmas": "log"}, r"sigmas='log' is unknown; choose one of \['auto', 'paper'\]"),
        ({"sigmas": []}, "sigmas must be 'auto', 'paper' or a list"),
        ({"sigmas": 3}, "sigmas must be 'auto', 'paper' or a list"),
        ({"sigmas": [1, -1]}, "sigmas must be a number above 0"),
        ({"penalties": "auto"}, "penalties='auto' is unknown"),
        ({"penalties": []}, "penalties must be a list of choices"),
        ({"penalties": 0.1}, "penalties must be a list of choices"),
        ({"penalties": (None, None)}, "holds a choice twice"),
        ({"penalties": (["l1"],)}, r"penalty must be None, 'l1', .* got \['l1'\]"),
        ({"rules": (["energy"],)}, r"rules=\['energy'\] is unknown"),
        ({"temperatures": ([1.0],)}, r"temperatures must be a number above 0, got \[1.0\]"),
        ({"sigmas": np.array(2.0)}, "sigmas must be 'auto', 'paper' or a list"),
        ({"rules": ["votes"]}, "rules='votes' is unknown"),
        ({"scoring": "roc_auc"}, "scoring='roc_auc' is unknown"),
        ({"temperatures": []}, "temperatures must be a list of choices"),
        ({"temperatures": (1.0, 0.0)}, "temperatures must be a number above 0"),
        ({"combine": "vote"}, "combine='vote' is unknown"),
        ({"combine": "mixture", "one_standard_error": True}, "leave one of the two"),
    ],
)
def test_bad_parameters_say_what_to_do(wine, parameters, message):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifierCV(**parameters).fit(*wine)


def test_a_fold_without_a_class_is_refused():
    X, y = make_monk1()
    y = y.copy()
    y[:2] = 2
    with pytest.raises(ValueError, match="Class 2 has 1 sample"):
        ImmigrateClassifierCV(cv=[(np.arange(1, 432), np.arange(1))]).fit(X, y)


def test_lives_in_pipelines_searches_and_files(wine, tmp_path):
    X, y = wine
    pipe = make_pipeline(StandardScaler(), ImmigrateClassifierCV(sigmas=[2.0, 1.0]))
    assert cross_val_score(pipe, X, y, cv=3, n_jobs=2).mean() > 0.9
    search = GridSearchCV(pipe, {"immigrateclassifiercv__penalties": [(None,), ("prune",)]}, cv=3)
    assert search.fit(X, y).score(X, y) > 0.9
    model = pipe.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_file_predicts_the_same(wine, tmp_path):
    X, y = wine
    model = ImmigrateClassifierCV(sigmas=[2.0, 1.0]).fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_verbose_reports_each_sigma(wine, capsys):
    ImmigrateClassifierCV(sigmas=[2.0, 1.0], verbose=True).fit(*wine)
    assert len(printed_steps(capsys)) == 2


def test_auto_sigma_does_not_depend_on_the_order_of_rows_with_tied_sums():
    X, _ = make_monk1()
    X = X.to_numpy()
    order = np.random.default_rng(0).permutation(len(X))
    assert typical_distance(X[order], np.eye(6)) == typical_distance(X, np.eye(6))


@pytest.mark.parametrize("n_values", [2, 3, 0])
def test_sigma_does_not_depend_on_the_order_of_columns_among_ties(n_values):
    """Tables of few values are full of rows with one sum; numbers with many have none."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        shape = (150, 5)
        X = rng.integers(0, n_values, shape) if n_values else rng.normal(size=shape)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        one = typical_distance(X, np.eye(5))
        for _ in range(3):
            order, rows = rng.permutation(5), rng.permutation(150)
            assert typical_distance(X[rows][:, order], np.eye(5)) == pytest.approx(one, rel=1e-9)


def test_the_automatic_width_is_an_eighth_of_the_median_distance():
    """The number that docs/measurements/choosing-sigma.md measures and names."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.arange(30) % 2
    raw = Columns(scale=None)
    model = ImmigrateClassifier(columns=raw).fit(X, y)
    pairs = X[:, None] - X[None]
    q = (pairs**2).sum(axis=2)[~np.eye(30, dtype=bool)] / np.sqrt(4)
    assert model.sigma_ == pytest.approx(np.median(q) / 8)
    path = ImmigrateClassifierCV(ImmigrateClassifier(columns=raw)).fit(X, y)
    grid = path.scores_path_["sigma"].unique()
    np.testing.assert_allclose(np.sort(grid), np.median(q) / 2.0 ** np.arange(5, -1, -1))


def test_sigma_does_not_depend_on_the_order_of_rows_where_all_sums_are_equal():
    rng = np.random.default_rng(0)
    X = rng.permuted(np.tile([0.0, 1.0, 3.0, 7.0], (200, 1)), axis=1)
    X[:, 2] *= 1 + 1e-3 * np.arange(200) / 200
    X[:, 0] += 11 - X.sum(axis=1)
    W = np.diag([1.0, 2.0, 3.0, 4.0])
    one = typical_distance(X, W)
    for _ in range(5):
        assert typical_distance(X[rng.permutation(200)], W) == pytest.approx(one, rel=1e-9)


@pytest.mark.parametrize("n", [40, 64, 65, 300, 513, 900])
def test_the_typical_distance_is_near_the_median_at_any_size(n):
    rng = np.random.default_rng(n)
    X, root = rng.normal(size=(n, 3)), rng.uniform(size=(3, 3))
    for W in (np.diag([1.0, 0.5, 0.2]), root @ root.T):
        d = np.abs(X[:, None] - X)[~np.eye(n, dtype=bool)]
        q = np.einsum("na,ab,nb->n", d, W, d)
        tolerance = 1e-12 if n <= 64 else 0.1
        assert typical_distance(X, W) == pytest.approx(np.median(q), rel=tolerance)


def test_where_most_samples_coincide_the_mean_distance_counts():
    X = np.zeros((40, 2))
    X[:5] = 3.0
    d = np.abs(X[:, None] - X)[~np.eye(40, dtype=bool)]
    assert typical_distance(X, np.eye(2)) == pytest.approx(np.mean(np.sum(d**2, axis=1)))
    assert typical_distance(np.zeros((4, 2)), np.eye(2)) == 1.0
