"""Penalties on weights: what they do to a fit, for every constraint."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier, ImmigrateClassifierCV
from immigrate.core.cones import norm
from immigrate.datasets import make_monk1
from immigrate.margin.problem import MarginProblem
from immigrate.options import L1, L2, Columns, Descent, Prune

CONSTRAINTS = ("psd", "nonnegative", "both")
constraints = pytest.mark.parametrize("constraint", CONSTRAINTS)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def n_pairs(model):
    return np.count_nonzero(np.triu(model.weight_matrix_, 1))


@constraints
@pytest.mark.parametrize("penalty", [L1(0), L2(0), L1(0, penalise="all")])
def test_strength_0_is_the_plain_fit_to_the_bit(constraint, penalty, wine):
    plain = ImmigrateClassifier(constraint=constraint).fit(*wine)
    free = ImmigrateClassifier(constraint=constraint, penalty=penalty).fit(*wine)
    np.testing.assert_array_equal(free.weight_matrix_, plain.weight_matrix_)
    np.testing.assert_array_equal(free.objective_path_, plain.objective_path_)


@constraints
@pytest.mark.parametrize("penalty", [L1(10.0), L2(10.0)])
@pytest.mark.parametrize("solver", ["monotone", "paper"])
@pytest.mark.filterwarnings("ignore:Stopped after 10 steps")
def test_a_large_strength_leaves_a_diagonal(constraint, penalty, solver, wine):
    model = ImmigrateClassifier(constraint=constraint, penalty=penalty, solver=solver).fit(*wine)
    assert n_pairs(model) == 0
    assert model.weight_matrix_.diagonal().min() >= 0
    assert norm(model.weight_matrix_) == pytest.approx(1)


@constraints
def test_the_cost_never_rises_and_the_gap_closes(constraint, wine):
    for penalty in (L1(0.03), L2(0.3), L1(0.03, penalise="all")):
        model = ImmigrateClassifier(
            constraint=constraint, penalty=penalty, solver=Descent(tol=1e-6)
        )
        model.fit(*wine)
        assert model.converged_
        assert 0 <= model.gap_ + 1e-12 <= 1e-6
        assert np.diff(model.objective_path_).max(initial=0) <= 1e-13
        assert model.penalty_ is model.penalty


@constraints
def test_stronger_penalties_leave_fewer_and_smaller_pairs(constraint, wine):
    strengths = (0, 0.01, 0.03, 0.06, 0.1)
    models = [
        ImmigrateClassifier(constraint=constraint, penalty=L1(s)).fit(*wine) for s in strengths
    ]
    assert np.all(np.diff([n_pairs(model) for model in models]) <= 0)
    sums = [np.abs(np.triu(model.weight_matrix_, 1)).sum() for model in models]
    assert np.all(np.diff(sums) < 0)


@pytest.mark.parametrize("factor", [1e-60, 1e3, 1e60])
def test_a_strength_means_the_same_in_any_unit(factor, wine):
    X, y = wine
    model = ImmigrateClassifier(
        constraint="nonnegative", penalty=L1(0.05), columns=Columns(scale=None)
    )
    one, other = clone(model).fit(X, y), clone(model).fit(factor * X, y)
    np.testing.assert_allclose(other.weight_matrix_, one.weight_matrix_, atol=1e-9)


def test_the_unit_is_the_gradient_at_the_start(wine):
    X, y = wine
    p = X.shape[1]
    problem = MarginProblem(X, y)
    start = np.eye(p) / np.sqrt(p)
    model = ImmigrateClassifier(
        2.0, constraint="nonnegative", penalty=L1(0.01), columns=Columns(scale=None)
    ).fit(X, y)
    W = model.weight_matrix_
    price = 0.01 * norm(problem.evaluate(start, 2.0).gradient)
    expected = problem.evaluate(W, 2.0).cost + price * (W.sum() - np.trace(W))
    assert model.objective_path_[-1] == pytest.approx(expected, rel=1e-10)


def test_levels_of_one_column_are_no_pair():
    """Weights per level: elements between two levels of one feature belong to the feature."""
    X, y = make_monk1()
    model = ImmigrateClassifier(
        0.5,
        constraint="nonnegative",
        penalty=L1(100.0),
        columns=Columns(categorical_features=list(range(6)), nominal="levels"),
    ).fit(X, y)
    encoding, W = model.model_.references.encoding, model.model_.weights
    is_pair = encoding.owner[:, None] != encoding.owner
    assert not W[is_pair].any()
    assert np.count_nonzero(W[~is_pair]) > len(W)
    assert n_pairs(model) == 0


def test_a_price_on_everything_can_leave_nothing(wine):
    model = ImmigrateClassifier(constraint="nonnegative", penalty=L1(10.0, penalise="all"))
    with pytest.warns(ConvergenceWarning, match="lower the strength of the penalty"):
        model.fit(*wine)


@pytest.mark.parametrize("penalty", [L1(0.1), Prune(0.3)])
def test_boosting_has_the_penalty_in_every_round(penalty, wine):
    X, y = wine
    base = ImmigrateClassifier(penalty=penalty, solver=Descent(max_iter=5))
    model = BoostedImmigrateClassifier(base, n_estimators=3, sigmas=[1.0]).fit(X, y)
    for learner in model.estimators_:
        assert np.count_nonzero(learner.weights) < 13 * 13 / 2


def test_penalties_are_chosen_together_with_sigma(wine):
    X, y = wine
    path = ImmigrateClassifierCV(sigmas=[4.0, 1.0], penalties=(None, L1(0.05), "prune")).fit(X, y)
    table = path.scores_path_
    assert set(table["penalty"]) == {"None", "L1()", "Prune()"}
    assert len(table) == 2 * 3 * 2
    chosen = table[table["is_chosen"]].iloc[0]
    assert (chosen["sigma"], chosen["penalty"]) == (path.sigma_, str(path.penalty_))


def test_a_path_with_one_penalty_is_the_single_fit(wine):
    X, y = wine
    base = ImmigrateClassifier(constraint="nonnegative")
    path = ImmigrateClassifierCV(base, sigmas=[1.0], penalties=(L1(0.05),), rules=("energy",))
    single = clone(base).set_params(sigma=1.0, penalty=L1(0.05))
    np.testing.assert_array_equal(path.fit(X, y).weight_matrix_, single.fit(X, y).weight_matrix_)


def test_a_penalty_is_offered_once(wine):
    with pytest.raises(ValueError, match="holds a choice twice"):
        ImmigrateClassifierCV(penalties=("l1", L1())).fit(*wine)
