from __future__ import annotations

import numpy as np
import pytest
from inference.problems import additive_problem, encoded, mixed_problem

from immigrate.inference.additive import fitted_on, null_model
from immigrate.inference.effects import against_others, effect_model, logit_metric, sizes_of
from immigrate.inference.feature_evidence import feature_evidence
from immigrate.inference.links import IDENTITY
from immigrate.inference.outcomes import number_outcome
from immigrate.inference.power import detectable_size
from immigrate.inference.residuals import NumberRefit
from immigrate.inference.ridge import INTERCEPT_PENALTY
from immigrate.inference.surfaces import surface
from immigrate.inference.term_sets import TermSet, all_terms, every_term
from immigrate.inference.term_statistics import term_results


def xor_problem(n=400, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    logit = strength * np.sign(X[:, 0] * X[:, 1]) + X[:, 2]
    return encoded(X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int))


def evidence_of(data):
    data, model = null_model(data)
    return feature_evidence(data, model, model.contrasts(data))


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_intervals_cover_the_size_in_95_percent_of_normal_estimates(size, spread):
    """b is drawn around a known vector; variances of its entries differ by exp(spread)."""
    rng = np.random.default_rng(3)
    k, n_draws = 8, 4000
    variance = 0.02 * np.exp(spread * rng.normal(size=k) / 2)
    centre = size * rng.dirichlet(np.ones(k)) ** 0.5
    b = centre + rng.normal(size=(n_draws, k)) * np.sqrt(variance)
    ones = np.ones(n_draws)
    found = sizes_of(
        np.sum(b**2, axis=1), variance.sum() * ones, np.sum(variance**2) * ones, b**2 @ variance
    )
    covered = np.mean((found.low <= size) & (size <= found.high))
    assert 0.925 < covered < 0.985
    if size > 0.5:
        assert abs(found.size.mean() - size) < 0.03 * size


@pytest.mark.parametrize("n_logits", [1, 3, 5])
def test_the_size_of_two_classes_is_that_of_their_logit(n_logits):
    """Classes in pairs: K = 2 softmax logits +-f/2 have the size of f."""
    contrast = against_others(2)
    np.testing.assert_allclose(contrast @ [-0.5, 0.5], [-1, 1])
    np.testing.assert_allclose(np.array([-0.5, 0.5]) @ logit_metric(2) @ [-0.5, 0.5], 1.0)
    assert logit_metric(n_logits).shape == (n_logits, n_logits)


def test_covariance_of_a_number_is_that_of_the_dense_definition():
    rng = np.random.default_rng(0)
    n, m = 60, 7
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, m - 1))])
    weight = rng.integers(1, 4, n).astype(float)
    penalty = rng.uniform(0, 5, m)
    mu, Y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1, 1))
    contrast = NumberRefit(Z, mu, weight, penalty).contrasts(Y)[0]
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    H = np.linalg.inv(Z.T @ (weight[:, None] * Z) + np.diag(penalty))
    cleaning = np.eye(n) - Z @ H @ (Z.T * weight)
    r = cleaning @ (Y[:, 0, 0] - mu[:, 0])
    np.testing.assert_allclose(contrast.residual[:, 0], weight * r, atol=1e-12)
    omega = contrast.variance / weight
    dense = (np.diag(weight) @ cleaning) @ np.diag(omega / weight) @ (cleaning.T @ np.diag(weight))
    own = np.diag(contrast.variance) - contrast.explained.T @ contrast.explained
    np.testing.assert_allclose(own + contrast.added.T @ contrast.added, dense, atol=1e-10)


def test_variances_of_a_number_are_unbiased_where_they_are_equal():
    rng = np.random.default_rng(1)
    Z = np.column_stack([np.ones(80), rng.normal(size=(80, 12))])
    refit = NumberRefit(Z, np.zeros((80, 1)), np.ones(80), np.full(13, 2.0))
    variances = [refit.contrasts(rng.normal(size=(80, 1, 1)))[0].variance for _ in range(400)]
    np.testing.assert_allclose(np.mean(variances, axis=0), 1.0, atol=0.35)
    assert abs(np.mean(variances) - 1) < 0.02


def test_folds_of_numbers_have_the_same_share_of_each_fifth():
    values = np.random.default_rng(0).normal(size=100)
    outcome = number_outcome(values, np.ones(100))
    assert np.bincount(outcome.strata).tolist() == [20] * 5
    assert outcome.link is IDENTITY
    np.testing.assert_allclose(outcome.Y[:, 0] * outcome.unit + values.mean(), values)


@pytest.mark.parametrize("problem", [additive_problem, mixed_problem])
def test_leaving_a_feature_out_is_close_to_a_fit_without_it(problem):
    data, model = null_model(problem(n=300))
    evidence = feature_evidence(data, model, model.contrasts(data))
    for a in range(len(data.levels)):
        others = np.delete(np.arange(len(data.levels)), a)
        without = fitted_on(data, others)
        again = term_results(data, np.array([[a]]), without.contrasts(data)).log_p[0]
        p, expected = np.exp(evidence.log_p_given_others[a]), np.exp(again)
        # The strength of the penalty is chosen anew in the fit without it.
        assert abs(p - expected) < 0.1 or max(p, expected) < 1e-3


def test_a_feature_on_its_own_is_tested_against_the_class_shares():
    """An oracle by permuting the labels, which is valid where nothing else is in the model."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    observed = evidence_of(encoded(X, y))
    null = []
    for _ in range(300):
        drawn = encoded(X, rng.permutation(y))
        empty = fitted_on(drawn, np.array([], dtype=int))
        null.append(term_results(drawn, np.array([[0]]), empty.contrasts(drawn)).log_p[0])
    share = np.mean(np.array(null) <= observed.log_p[0])
    assert abs(share - np.exp(observed.log_p[0])) < 0.09


def test_a_copy_adds_nothing_to_the_feature_it_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0]
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    evidence = evidence_of(encoded(X, y))
    assert np.exp(evidence.log_p[:2]).max() < 1e-10
    assert np.exp(evidence.log_p_given_others[:2]).min() > 0.01


def test_a_surface_is_the_contribution_of_the_samples_that_are_there():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 3)).astype(float)
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * (X[:, 0] == X[:, 1])))).astype(int)
    data = encoded(X, y, nominal=[0])
    model = effect_model(data, np.arange(3), [(0, 1)], 1.0)
    drawn, block = surface(model, (0, 1)), model.block((0, 1))
    cells = drawn.value[0][data.levels[0].code, data.levels[1].code]
    np.testing.assert_allclose(cells, block.contribution[:, 0], atol=1e-10)
    counts = np.zeros((4, 4))
    np.add.at(counts, (data.levels[0].code, data.levels[1].code), 1)
    np.testing.assert_array_equal(drawn.counts, counts)
    # Main effects are taken out: nothing is left along either feature.
    for a in (0, 1):
        dummies = np.eye(4)[data.levels[a].code]
        np.testing.assert_allclose(dummies.T @ block.contribution[:, 0], 0, atol=1e-8)


def test_sizes_to_first_order_are_near_those_of_the_model_where_effects_are_small():
    data = xor_problem(n=2000, strength=0.3)
    _, model = null_model(data)
    full = effect_model(data, model.features, [(0, 1)], model.strength).sizes([(0, 1)])
    step = term_results(data, np.array([[0, 1]]), model.contrasts(data), with_effects=True)
    np.testing.assert_allclose(step.effects.sizes().size, full.size, rtol=0.15)


def test_held_out_shares_are_those_of_deviances_by_hand():
    data = xor_problem(n=300)
    _, null = null_model(data)
    model = effect_model(data, null.features, [(0, 1)], null.strength)
    share = model.held_out_shares([(0, 1)])[0]
    assert 0.05 < share < 0.5
    assert (
        effect_model(data, null.features, [(2, 3)], null.strength).held_out_shares([(2, 3)])[0]
        < 0.02
    )


def test_more_samples_show_smaller_effects():
    sizes = []
    for n in (100, 400, 1600):
        data, model = null_model(additive_problem(n=n))
        sizes.append(detectable_size(model.contrasts(data), 10, 0.05, 1.0))
    assert sizes[0] > 1.5 * sizes[1] > 2 * sizes[2]


@pytest.mark.parametrize("seed", range(5))
def test_sets_of_pairs_count_and_list_what_they_hold(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.random((2, 9)) < 0.5
    among = TermSet(2, left, right)
    expected = [
        (a, b)
        for a, b in all_terms(9, 2).tolist()
        if (left[a] and right[b]) or (left[b] and right[a])
    ]
    assert [tuple(pair) for pair in among.terms().tolist()] == expected
    assert among.n_terms == len(expected)


def test_every_term_leaves_out_what_is_not_tested():
    among = every_term(5, 2, np.array([0, 2, 4]))
    assert among.terms().tolist() == [[0, 2], [0, 4], [2, 4]]
    assert among.n_terms == 3
