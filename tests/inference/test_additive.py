from __future__ import annotations

import numpy as np
from inference.problems import additive_problem, encoded

from immigrate.inference.additive import fitted_additive_model, with_term
from immigrate.inference.search import Effort, searched_terms


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
    search = searched_terms(data, model, 2, Effort())
    assert search.terms[0].tolist() == [0, 1]
    grown = searched_terms(data, with_term(model, data, (0, 1)), 2, Effort())
    pair = np.all(grown.terms == [0, 1], axis=1)
    assert np.exp(grown.log_p[pair][0]) > 0.01


def test_per_pair_error_rate_is_near_its_level():
    """A quick look; benchmarks/detection has the careful one."""
    shares = []
    for seed in range(25):
        data = additive_problem(n=150, p=6, seed=seed)
        search = searched_terms(data, fitted_additive_model(data), 2, Effort())
        shares.append(np.mean(search.log_p < np.log(0.05)))
    assert 0.01 < np.mean(shares) < 0.09
