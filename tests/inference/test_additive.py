from __future__ import annotations

import numpy as np
import pytest
from inference.problems import additive_problem, encoded, pair_search

from immigrate.inference.additive import fitted_additive_model, null_model, with_term


def test_noise_gets_the_strongest_penalty():
    rng = np.random.default_rng(2)
    model = fitted_additive_model(encoded(rng.normal(size=(200, 4)), rng.integers(0, 2, 200)))
    assert model.strength >= 100
    assert model.deviance_explained < 0.05


def test_main_effects_are_found_on_held_out_samples():
    model = fitted_additive_model(additive_problem(n=400))
    assert model.deviance_explained > 0.1


def test_with_many_features_the_strong_ones_enter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 300))
    y = (2 * X[:, 7] - 2 * X[:, 40] + rng.logistic(size=150) > 0).astype(int)
    model = fitted_additive_model(encoded(X, y))
    assert {7, 40} <= set(model.features.tolist())
    assert model.Z.shape[1] < 150


def test_a_found_pair_is_explained_by_the_grown_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    data = encoded(X, (X[:, 0] * X[:, 1] > 0).astype(int))
    model = fitted_additive_model(data)
    search = pair_search(data, model)
    assert search.terms[0].tolist() == [0, 1]
    grown = pair_search(data, with_term(model, data, (0, 1)))
    pair = np.all(grown.terms == [0, 1], axis=1)
    assert np.exp(grown.log_p[pair][0]) > 0.01


def test_per_pair_error_rate_is_near_its_level():
    """A quick look; benchmarks/detection has the careful one."""
    shares = []
    for seed in range(25):
        data = additive_problem(n=150, p=6, seed=seed)
        search = pair_search(data, fitted_additive_model(data))
        shares.append(np.mean(search.log_p < np.log(0.05)))
    assert 0.01 < np.mean(shares) < 0.09


def close_correlates(rng, n):
    """Two features that are nearly the same."""
    X = rng.normal(size=(n, 2))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(0.19) * X[:, 1]
    return X


def arbitrary_codes(rng, n):
    """Ten codes that are not declared nominal, and a measurement that depends on them."""
    code = rng.integers(0, 10, n)
    return np.column_stack([code, 2 * rng.normal(size=10)[code] + rng.normal(size=n)])


ROUGH_EFFECTS = {
    "square": (close_correlates, lambda x, rng: 1.5 * x**2 - 1.5),
    "wave": (close_correlates, lambda x, rng: 3 * np.cos(2 * x)),
    "step": (close_correlates, lambda x, rng: 4 * (x > 1.28) - 0.4),
    "codes": (arbitrary_codes, lambda x, rng: 1.5 * rng.normal(size=10)[x.astype(int)]),
}


@pytest.mark.parametrize("effect", ROUGH_EFFECTS)
def test_rough_main_effects_of_correlates_do_not_look_like_pairs(effect):
    """Where the null model cannot follow them, half to nearly all of these p are below .05."""
    features, logit = ROUGH_EFFECTS[effect]
    log_p = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = features(rng, 600)
        y = rng.random(600) < 1 / (1 + np.exp(-logit(X[:, 0], rng)))
        data, model = null_model(encoded(X, y.astype(int)))
        log_p.append(pair_search(data, model).log_p[0])
    # More than 6 of 40 below .05 have probability .003.
    assert np.sum(np.array(log_p) < np.log(0.05)) <= 6


def test_only_features_that_need_it_get_the_rough_basis():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    logit = 3 * np.cos(4 * X[:, 1]) + X[:, 2] + X[:, 3] ** 2 - 1
    data, _ = null_model(encoded(X, (rng.logistic(size=600) < logit).astype(int)))
    assert data.rough == {1}


def test_the_square_of_a_sum_is_not_the_product_of_its_parts():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 6))
        X[:, 2] = (X[:, 0] + X[:, 1] + 0.3 * X[:, 2]) / np.sqrt(2.09)
        y = rng.logistic(size=400) < X[:, 2] ** 2 - 1
        data, model = null_model(encoded(X, y.astype(int)))
        n_found += pair_search(data, model).log_p[0] < np.log(0.05 / 15)
    # More than 4 of 20 at .05 have probability .003.
    assert n_found <= 4
