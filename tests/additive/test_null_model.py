from __future__ import annotations

import numpy as np
import pytest
from additive.problems import additive_problem, encoded, pair_search
from scipy import stats

from immigrate.additive.null_model import (
    evident_features,
    fitted_additive_model,
    fitted_on,
    main_effect_log_p,
    null_model,
    rough_features,
    with_term,
)
from immigrate.additive.ridge import folds_of, held_out_deviance


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
    grown = pair_search(data, with_term(model, (0, 1)))
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
        model = null_model(encoded(X, y.astype(int)))
        data = model.design
        log_p.append(pair_search(data, model).log_p[0])
    # More than 6 of 40 below .05 have probability .003.
    assert np.sum(np.array(log_p) < np.log(0.05)) <= 6


def test_only_features_that_need_it_get_the_rough_basis():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    logit = 3 * np.cos(4 * X[:, 1]) + X[:, 2] + X[:, 3] ** 2 - 1
    model = null_model(encoded(X, (rng.logistic(size=600) < logit).astype(int)))
    assert model.design.rough == {1}


def test_the_square_of_a_sum_is_not_the_product_of_its_parts():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 6))
        X[:, 2] = (X[:, 0] + X[:, 1] + 0.3 * X[:, 2]) / np.sqrt(2.09)
        y = rng.logistic(size=400) < X[:, 2] ** 2 - 1
        model = null_model(encoded(X, y.astype(int)))
        data = model.design
        n_found += pair_search(data, model).log_p[0] < np.log(0.05 / 15)
    # More than 4 of 20 at .05 have probability .003.
    assert n_found <= 4


def test_main_effects_of_noise_have_uniform_p_values():
    """For two classes; for more, which only decides what enters, they need not be."""
    rng = np.random.default_rng(0)
    for n_classes in (2, 3):
        X, weight = rng.normal(size=(150, 400)), rng.integers(1, 4, 150).astype(float)
        data = encoded(X, rng.integers(0, n_classes, 150))
        p = np.exp(main_effect_log_p(data, np.ones(150)))
        assert n_classes > 2 or stats.kstest(p, "uniform").pvalue > 1e-3
        repeated = encoded(
            np.repeat(X[:, :5], weight.astype(int), axis=0),
            np.repeat(data.outcome.strata, weight.astype(int)),
        )
        own = encoded(X[:, :5], data.outcome.strata, weight)
        np.testing.assert_allclose(
            main_effect_log_p(own, weight),
            main_effect_log_p(repeated, repeated.weight),
            rtol=1e-9,
        )


def test_evident_features_are_few_by_chance():
    """A p below .01, and of hundreds of features below .15 over their number."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    for p, limit in ((5, 0.01), (300, 0.15 / 300)):
        X = rng.normal(size=(200, p)) + 0.25 * y[:, None]
        data = encoded(X, y)
        log_p = main_effect_log_p(data, data.weight)
        np.testing.assert_array_equal(
            evident_features(data), np.flatnonzero(np.exp(log_p) < limit)
        )
        assert 0 < len(evident_features(data)) < p


def test_an_effect_that_is_rough_for_two_of_three_classes_is_rough():
    """The third class has the same share everywhere."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 3))
    logits = np.full((600, 3), np.log(2 * np.cosh(1.5)))
    logits[:, 0] = 1.5 * np.sign(np.sin(12 * np.pi * X[:, 1]))
    logits[:, 1] = -logits[:, 0]
    y = np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)
    data = encoded(X, y)
    assert 1 in rough_features(fitted_additive_model(data))


def test_the_held_out_deviance_is_that_of_fits_without_the_fold():
    """By hand, with scikit-learn's fits: five folds, each predicted by the other four."""
    from sklearn.linear_model import LogisticRegression

    data = additive_problem(n=120, p=3)
    Z, penalty, owner = data.additive_columns(np.arange(2))
    assert owner.tolist() == [-1] + [0] * 6 + [1] * 6
    assert penalty[0] == 0
    np.testing.assert_array_equal(Z[:, 0], 1.0)
    in_fold, y = folds_of(data), data.outcome.strata
    total = 0.0
    for held_out in in_fold.T.astype(bool):
        scaled = Z[:, 1:] / np.sqrt(penalty[1:])
        model = LogisticRegression(C=1 / 3, tol=1e-10, max_iter=10_000)
        model.fit(scaled[~held_out], y[~held_out])
        share = model.predict_proba(scaled[held_out])
        total -= 2 * np.log(share[np.arange(held_out.sum()), y[held_out]]).sum()
    assert held_out_deviance(data, Z, 3 * penalty, in_fold) == pytest.approx(total, rel=1e-2)


def test_the_strength_is_that_of_the_smallest_held_out_deviance():
    data = additive_problem(n=200, p=3)
    model = fitted_on(data, np.arange(3))
    Z, penalty, _ = data.additive_columns(np.arange(3))
    deviances = {
        strength: held_out_deviance(data, Z, strength * penalty, folds_of(data)) / data.n
        for strength in (400.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
    }
    assert model.strength == min(deviances, key=deviances.get)
    assert model.deviance == pytest.approx(deviances[model.strength], rel=1e-3)
    np.testing.assert_allclose(model.penalty, model.strength * penalty)
    empty = fitted_on(data, np.array([], dtype=int))
    assert empty.deviance == pytest.approx(model.intercept_deviance, rel=1e-3)
    share = data.outcome.Y.mean()
    entropy = -2 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert model.intercept_deviance == pytest.approx(entropy, rel=0.03)
    expected = 1 - model.deviance / model.intercept_deviance
    assert model.deviance_explained == pytest.approx(expected)
    # The refit has a fifth of the penalty, and a hundredth for features that clearly act.
    shares = set((model.refit_penalty[1:] / model.penalty[1:]).round(9))
    assert shares == {0.2, 0.01}


def test_a_found_pair_has_columns_of_its_own_in_the_model():
    data = additive_problem(n=200, p=3)
    model = fitted_on(data, np.arange(3))
    grown = with_term(model, (0, 1))
    n_new = grown.Z.shape[1] - model.Z.shape[1]
    assert n_new == 18
    np.testing.assert_allclose(grown.penalty[-n_new:], 0.3)
    np.testing.assert_allclose(grown.refit_penalty[-n_new:], 0.06)
    np.testing.assert_array_equal(grown.Z[:, :-n_new], model.Z)
    assert grown.terms == ((0, 1),)
    e = data.outcome.Y - grown.means
    gradient = grown.Z.T @ (data.weight[:, None] * e) - grown.penalty[:, None] * grown.coefficients
    assert np.abs(gradient[1:]).max() < 1e-2
