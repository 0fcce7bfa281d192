import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from paper.methods.hiernet import HierNetClassifierCV
from paper.methods.hiernet_solver import (
    HierarchicalLasso,
    _excess,
    _multiplier,
    _shrunken_rows,
    largest_lambda,
)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    eta = 1.5 * X[:, 0] - X[:, 1] + 2 * X[:, 0] * X[:, 1]
    return X, (rng.random(120) < expit(eta)).astype(int)


def gradients(X, y, model):
    """Of the mean loss with respect to intercept, main effects and pairs, by their definition."""
    residual = (expit(model.log_odds(X)) - y) / len(y)
    products = X[:, :, None] * X[:, None, :] - model.product_means
    return residual.sum(), residual @ X, np.einsum("i,ijk->jk", residual, products) / 2


@pytest.mark.parametrize("share", [0.8, 0.3, 0.05])
def test_karush_kuhn_tucker_conditions(problem, share):
    X, y = problem
    lam = share * largest_lambda(X, y)
    model = HierarchicalLasso(X, y, tol=1e-14, max_iter=20000).solution(lam)
    at_intercept, main, pair = gradients(X, y, model)
    tol = 1e-5
    assert abs(at_intercept) < tol
    size, slack = np.abs(model.pairs).sum(axis=1), 1e-8
    assert np.all(size <= model.positive + model.negative + slack)
    for j in range(X.shape[1]):
        used = model.pairs[j] != 0
        # The multiplier of row j, from a stationary coefficient if there is one.
        if used.any():
            a = (np.abs(pair[j][used]) - lam / 2).mean()
        elif model.positive[j] + model.negative[j] > 0:
            a = 0.0
        else:
            a = max(0.0, np.abs(pair[j]).max() - lam / 2)
        assert -tol <= a <= lam + tol
        for b, slope in ((model.positive[j], main[j]), (model.negative[j], -main[j])):
            stationary = slope + lam - a
            assert abs(stationary) < tol if b > 0 else stationary > -tol
        stationary = pair[j] + (lam / 2 + a) * np.sign(model.pairs[j])
        assert np.all(np.abs(stationary[used]) < tol)
        assert np.all(np.abs(pair[j][~used]) <= lam / 2 + a + tol)
        assert abs(a * (size[j] - model.positive[j] - model.negative[j])) < tol


def test_the_path_starts_where_the_first_coefficient_appears(problem):
    X, y = problem
    largest = largest_lambda(X, y)
    above = HierarchicalLasso(X, y).solution(1.001 * largest)
    below = HierarchicalLasso(X, y, tol=1e-12).solution(0.98 * largest)
    assert not above.positive.any()
    assert not above.pairs.any()
    assert below.positive.any() or below.negative.any()


def test_the_proximal_step_minimises_its_objective():
    rng = np.random.default_rng(1)
    p, step, lam = 3, 0.7, 0.4
    target = np.r_[0.3, rng.normal(size=2 * p + p * p)]
    ours = _shrunken_rows(target, p, step, lam)

    def cost(v):  # pairs split into positive and negative parts: smooth, with bounds
        b, plus, minus = v[: 2 * p], v[2 * p : 2 * p + p * p], v[2 * p + p * p :]
        distance = ((b - target[1 : 1 + 2 * p]) ** 2).sum()
        distance += ((plus - minus - target[1 + 2 * p :]) ** 2).sum()
        return distance / (2 * step) + lam * b.sum() + lam / 2 * (plus + minus).sum()

    def room(v):
        size = (v[2 * p : 2 * p + p * p] + v[2 * p + p * p :]).reshape(p, p).sum(axis=1)
        return v[:p] + v[p : 2 * p] - size

    start = np.full(2 * p + 2 * p * p, 0.1)
    best = minimize(
        cost,
        start,
        method="SLSQP",
        bounds=[(0, None)] * len(start),
        constraints={"type": "ineq", "fun": room},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    pairs = ours[1 + 2 * p :]
    mine = np.r_[ours[1 : 1 + 2 * p], np.maximum(pairs, 0), np.maximum(-pairs, 0)]
    assert cost(mine) <= best.fun + 1e-8
    assert room(mine).min() > -1e-10


def test_the_multiplier_closes_the_constraint():
    rng = np.random.default_rng(2)
    for _ in range(200):
        row = rng.normal(size=8) * rng.choice([0.1, 1, 10])
        positive, negative = np.abs(rng.normal(size=2))
        a = _multiplier(positive, negative, row, 0.5, 0.3)
        excess = _excess(positive, negative, row, 0.5, 0.3, a)
        assert excess <= 1e-9
        assert a == 0 or abs(excess) < 1e-9


def test_hierarchy_holds_and_the_pair_is_found(problem):
    X, y = problem
    model = HierNetClassifierCV(random_state=0).fit(X, y).model_
    effect = np.abs(model.pairs + model.pairs.T)
    assert np.unravel_index(effect.argmax(), effect.shape) in {(0, 1), (1, 0)}
    for j, k in np.argwhere(effect > 1e-8):
        assert model.positive[[j, k]].sum() + model.negative[[j, k]].sum() > 0


def test_it_predicts_the_interaction():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    model = HierNetClassifierCV(random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.9
