from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.optimize import minimize

from paper.methods.logistic import maximum_likelihood
from paper.methods.soda import ExtendedBIC, SodaClassifier, design, greedy_path


def brute_log_likelihood(Z, y):
    def cost(b):
        eta = Z @ b
        return np.logaddexp(0, eta).sum() - y @ eta

    def slope(b):
        return Z.T @ (1 / (1 + np.exp(-Z @ b)) - y)

    return -minimize(cost, np.zeros(Z.shape[1]), jac=slope, method="BFGS", tol=1e-9).fun


def brute_ebic(X, y, terms, gam):
    n, p = X.shape
    columns = [np.ones(n)] + [np.prod([X[:, j] for j in term], axis=0) for term in terms]
    value = brute_log_likelihood(np.column_stack(columns), y)
    return -2 * value + len(terms) * np.log(n) + 2 * gam * len(terms) * np.log(p)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 4))
    eta = X[:, 0] + 1.5 * X[:, 1] * X[:, 2]
    return X, (rng.random(150) < 1 / (1 + np.exp(-eta))).astype(float)


def test_newton_finds_the_maximum(problem):
    X, y = problem
    Z = design(X, [(0,), (1,), (1, 2), (3, 3)])
    assert maximum_likelihood(Z, y)[1] == pytest.approx(brute_log_likelihood(Z, y), abs=1e-5)


def test_separated_classes_have_likelihood_one():
    x = np.r_[np.linspace(-2, -1, 20), np.linspace(1, 2, 20)]
    Z = np.column_stack([np.ones(40), x])
    assert maximum_likelihood(Z, (x > 0).astype(float))[1] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("gam", [0.0, 0.5, 1.0])
def test_each_stage_takes_the_best_step_by_brute_force(problem, gam):
    X, y = problem
    p = X.shape[1]
    criterion = ExtendedBIC(X, y, gam)

    def best_or_none(options, now):
        scored = [(brute_ebic(X, y, sorted(o), gam), sorted(o)) for o in options]
        value, best = min(scored)
        return (value, best) if value < now else None

    terms, value = frozenset(), brute_ebic(X, y, [], gam)
    while step := best_or_none([terms | {(j,)} for j in range(p) if (j,) not in terms], value):
        value, terms = step[0], frozenset(step[1])
    path = greedy_path(
        frozenset(), lambda t: [t | {(j,)} for j in range(p) if (j,) not in t], criterion
    )
    assert path[-1] == terms
    assert criterion(terms) == pytest.approx(value, abs=1e-4)

    model = SodaClassifier(gam).fit(X, y)
    for before, after in zip(model.path_, model.path_[1:]):
        value, best = best_or_none([before - {t} for t in before], np.inf)
        assert frozenset(best) == after
        assert criterion(after) == pytest.approx(value, abs=1e-4)
    last = model.path_[-1]
    assert best_or_none([last - {t} for t in last], criterion(last) - 1e-6) is None


def test_a_pure_interaction_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 1] * X[:, 3] > 0).astype(int)
    model = SodaClassifier(0.5, n_forced=5).fit(X, y)
    assert (1, 3) in model.terms_
    assert model.score(X, y) > 0.95


def test_squares_of_binary_columns_are_left_out(problem):
    X, y = problem
    X = np.column_stack([X, X[:, 0] > 0])
    model = SodaClassifier(0.0, n_forced=5).fit(X, y)
    assert (4, 4) not in model.path_[0]
    pairs = combinations_with_replacement(range(5), 2)
    assert {pair for pair in pairs if pair != (4, 4)} <= model.path_[0]
