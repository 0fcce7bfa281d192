"""The path over strengths: where it begins, what it chooses, and that warm starts cost nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.datasets import make_xor
from immigrate.margin.problem import MarginProblem
from immigrate.options import L1, L2, Descent, PenaltyPath

NONNEGATIVE = ImmigrateClassifier(constraint="nonnegative")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def n_pairs(weights):
    return np.count_nonzero(np.triu(weights, 1), axis=(1, 2))


@pytest.mark.parametrize("penalty", ["l1", "l2", L1(penalise="pairs")])
@pytest.mark.parametrize("constraint", ["nonnegative", "psd"])
def test_the_path_runs_from_no_pairs_to_all(penalty, constraint, wine):
    path = ImmigrateClassifierCV(
        ImmigrateClassifier(constraint=constraint),
        sigmas=[2.0, 0.5],
        penalties=PenaltyPath(penalty, n_strengths=6, smallest=0.1),
    ).fit(*wine)
    assert path.weights_by_strength_.shape == (7, 13, 13)
    assert n_pairs(path.weights_by_strength_)[0] == 0
    assert n_pairs(path.weights_by_strength_)[-1] > 70
    assert path.strengths_[-1] == 0
    assert np.all(np.diff(path.strengths_) < 0)
    assert path.strengths_[-2] == pytest.approx(0.1 * path.strengths_[0], rel=1e-3)


def test_the_first_pair_enters_just_below_the_largest_strength(wine):
    """At one sigma the largest strength is the smallest without a pair."""
    path = ImmigrateClassifierCV(NONNEGATIVE, sigmas=[1.0], penalties="path").fit(*wine)
    counts = {
        factor: np.count_nonzero(
            np.triu(
                ImmigrateClassifier(
                    1.0,
                    constraint="nonnegative",
                    penalty=L1(factor * path.strengths_[0]),
                    solver=Descent(tol=1e-8, max_iter=1000),
                )
                .fit(*wine)
                .weight_matrix_,
                1,
            )
        )
        for factor in (1.05, 0.9)
    }
    assert counts[1.05] == 0
    assert counts[0.9] > 0


def test_warm_starts_end_where_cold_ones_do(wine):
    solver = Descent(tol=1e-7, max_iter=1000)
    base = ImmigrateClassifier(constraint="nonnegative", solver=solver)
    penalties = PenaltyPath(n_strengths=5)
    path = ImmigrateClassifierCV(base, sigmas=[1.0], penalties=penalties).fit(*wine)
    for strength, weights in zip(path.strengths_[:-1], path.weights_by_strength_):
        cold = ImmigrateClassifier(
            1.0, constraint="nonnegative", solver=solver, penalty=L1(strength)
        ).fit(*wine)
        np.testing.assert_allclose(weights, cold.weight_matrix_, atol=2e-3)


@pytest.mark.parametrize("constraint", ["nonnegative", "psd"])
def test_the_chosen_fit_is_finished_to_the_users_tolerance(constraint, wine):
    base = ImmigrateClassifier(constraint=constraint, solver=Descent(tol=1e-6))
    penalties = PenaltyPath(n_strengths=4, smallest=0.2)
    path = ImmigrateClassifierCV(base, sigmas=[1.0], penalties=penalties).fit(*wine)
    assert path.converged_
    assert path.gap_ <= 1e-6


@pytest.mark.parametrize("constraint", ["nonnegative", "psd"])
def test_the_pass_at_the_start_is_taken_once(constraint, wine, monkeypatch):
    """It gives the unit of strengths, and every cold fit of its sigma begins with it."""
    seen, plain = [], MarginProblem.evaluate

    def recorded(self, W, sigma, **options):
        if np.array_equal(W, np.eye(13) / np.sqrt(13)):
            seen.append(sigma)
        return plain(self, W, sigma, **options)

    monkeypatch.setattr(MarginProblem, "evaluate", recorded)
    base = ImmigrateClassifier(constraint=constraint)
    penalties = PenaltyPath(n_strengths=3)
    ImmigrateClassifierCV(base, sigmas=[2.0, 1.0, 0.5], penalties=penalties).fit(*wine)
    assert sorted(seen) == [0.5, 1.0, 2.0]
    seen.clear()
    ImmigrateClassifier(1.0, constraint=constraint, penalty=L1(0.1)).fit(*wine)
    assert seen == [1.0]


def test_one_standard_error_takes_the_sparsest(wine):
    path = ImmigrateClassifierCV(NONNEGATIVE, penalties="path", one_standard_error=True)
    table = path.fit(*wine).scores_path_
    best = table.loc[table["selection_score"].idxmax()]
    near = table[table["selection_score"] >= best["selection_score"] - best["standard_error"]]
    assert table.loc[table["is_chosen"], "n_weights"].iloc[0] == near["n_weights"].min()
    chosen = near[near["n_weights"] == near["n_weights"].min()]
    assert path.sigma_ == chosen["sigma"].max()


@pytest.mark.parametrize("cv", [3, None])
def test_the_true_pair_of_an_xor_stays(cv):
    X, y = make_xor(random_state=0)
    penalties = PenaltyPath(n_strengths=6)
    path = ImmigrateClassifierCV(NONNEGATIVE, penalties=penalties, cv=cv).fit(X, y)
    assert path.weights_by_strength_.shape[0] == 7
    assert len(path.cv_results_["params"]) == 7 * 6 * 2


def test_a_table_without_pairs_has_no_strengths(wine):
    X, y = wine
    path = ImmigrateClassifierCV(NONNEGATIVE, sigmas=[1.0], penalties="path").fit(X[:, :1], y)
    assert list(path.strengths_) == [0]
    assert path.penalty_ is None


@pytest.mark.parametrize(
    ("penalties", "message"),
    [
        ("paths", "penalties='paths' is unknown"),
        (PenaltyPath("prune"), "has no strength"),
        (PenaltyPath(n_strengths=0), "n_strengths must be a whole number"),
        (PenaltyPath(smallest=1.0), "smallest must be a number between 0 and 1"),
        (PenaltyPath(3), "penalty must be None"),
        (PenaltyPath(L2(0.1), n_strengths=2.5), "n_strengths must be a whole number"),
    ],
)
def test_what_makes_no_path_is_refused(penalties, message, wine):
    with pytest.raises(ValueError, match=message):
        ImmigrateClassifierCV(penalties=penalties).fit(*wine)


def test_a_refit_without_a_path_of_strengths_leaves_none_behind():
    X, y = make_xor(60, 3, random_state=0)
    model = ImmigrateClassifierCV(sigmas=[1.0], penalties=PenaltyPath(n_strengths=3)).fit(X, y)
    assert len(model.strengths_) == len(model.weights_by_strength_) == 4
    model.set_params(penalties=(None,)).fit(X, y)
    assert not hasattr(model, "strengths_")
    assert not hasattr(model, "weights_by_strength_")
