from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from additive.problems import additive_problem, encoded, mixed_problem, search_for_pairs
from scipy import special

from immigrate.additive.effects import effect_model
from immigrate.additive.families import NUMBERS, against_others, number_outcome
from immigrate.additive.moments import Contrast, Moments
from immigrate.additive.null_model import fitted_on, null_model
from immigrate.additive.residuals import estimated_contrast
from immigrate.additive.ridge import INTERCEPT_PENALTY
from immigrate.additive.sizes import first_order, sizes_of
from immigrate.additive.surfaces import shown_levels, surface
from immigrate.interactions.features import feature_evidence
from immigrate.interactions.findings import detectable_size
from immigrate.interactions.question import TermSet, all_terms, every_term
from immigrate.interactions.statistics import term_results


def xor_problem(n=400, seed=0, strength=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    logit = strength * np.sign(X[:, 0] * X[:, 1]) + X[:, 2]
    return encoded(X, (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int))


def evidence_of(data):
    model = null_model(data)
    return feature_evidence(search_for_pairs(), model)


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


def logit_metric(contrast):
    """Mean square over the classes of what effects are about."""
    return contrast.T @ contrast / len(contrast)


@pytest.mark.parametrize("n_logits", [1, 3, 5])
def test_the_size_of_two_classes_is_that_of_their_logit(n_logits):
    """Classes in pairs: K = 2 softmax logits +-f/2 have the size of f."""
    contrast = against_others(2)
    np.testing.assert_allclose(contrast @ [-0.5, 0.5], [-1, 1])
    np.testing.assert_allclose(np.array([-0.5, 0.5]) @ logit_metric(contrast) @ [-0.5, 0.5], 1.0)
    assert logit_metric(against_others(n_logits)).shape == (n_logits, n_logits)


def test_variances_of_a_number_are_those_of_the_dense_definition():
    rng = np.random.default_rng(0)
    n, m = 60, 7
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, m - 1))])
    weight = rng.integers(1, 4, n).astype(float)
    penalty = rng.uniform(0, 5, m)
    mu, Y = rng.normal(size=(n, 1)), rng.normal(size=(n, 1, 1))
    contrast = estimated_contrast(Z, Y, mu, weight, penalty, NUMBERS)
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    H = np.linalg.inv(Z.T @ (weight[:, None] * Z) + np.diag(penalty))
    cleaning = np.eye(n) - Z @ H @ (Z.T * weight)
    r = cleaning @ (Y[:, 0, 0] - mu[:, 0])
    np.testing.assert_allclose(contrast.residual[:, 0], weight * r, atol=1e-12)
    # What is left of a sample of weight two is what is left of each of two samples.
    copies = np.repeat(np.arange(n), weight.astype(int))
    written_out = np.eye(len(copies)) - Z[copies] @ H @ Z[copies].T
    left = np.diag(written_out @ written_out)[np.unique(copies, return_index=True)[1]]
    np.testing.assert_allclose(contrast.left, left, atol=1e-12)
    omega = r**2 / left
    mean = np.sum(weight * r**2) / np.sum(weight * left)
    np.testing.assert_allclose(
        contrast.variance, weight * np.where(left >= 0.3, omega, mean), atol=1e-12
    )


def test_variances_of_a_number_are_unbiased_where_they_are_equal():
    rng = np.random.default_rng(1)
    Z = np.column_stack([np.ones(80), rng.normal(size=(80, 12))])
    fit = (np.zeros((80, 1)), np.ones(80), np.full(13, 2.0), NUMBERS)
    labels = [rng.normal(size=(80, 1, 1)) for _ in range(400)]
    variances = [estimated_contrast(Z, Y, *fit).variance for Y in labels]
    np.testing.assert_allclose(np.mean(variances, axis=0), 1.0, atol=0.35)
    assert abs(np.mean(variances) - 1) < 0.02


def test_folds_of_numbers_have_the_same_share_of_each_fifth():
    values = np.random.default_rng(0).normal(size=100)
    outcome = number_outcome(values, np.ones(100))
    assert np.bincount(outcome.strata).tolist() == [20] * 5
    assert outcome.family is NUMBERS
    np.testing.assert_allclose(outcome.Y[:, 0] * outcome.unit + values.mean(), values)


@pytest.mark.parametrize("problem", [additive_problem, mixed_problem])
def test_leaving_a_feature_out_is_close_to_a_fit_without_it(problem):
    model = null_model(problem(n=300))
    data, evidence = model.design, feature_evidence(search_for_pairs(), model)
    for a in range(len(data.levels)):
        others = np.delete(np.arange(len(data.levels)), a)
        without = fitted_on(data, others)
        again = term_results(data, np.array([[a]]), without.contrasts()).log_p[0]
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
        null.append(term_results(drawn, np.array([[0]]), empty.contrasts()).log_p[0])
    share = np.mean(np.array(null) <= observed.log_p[0])
    assert abs(share - np.exp(observed.log_p[0])) < 0.09


def test_a_copy_adds_nothing_to_the_feature_it_copies():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 1] = X[:, 0]
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    evidence = evidence_of(encoded(X, y))
    assert np.exp(evidence.log_p[:2]).max() < 1e-10
    # Nothing is left of either beside the other: there is no p-value.
    assert np.isnan(evidence.log_p_given_others[:2]).all()


def test_a_surface_is_the_contribution_of_the_samples_that_are_there():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 3)).astype(float)
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * (X[:, 0] == X[:, 1])))).astype(int)
    data = encoded(X, y, nominal=[0])
    model = effect_model(data, np.arange(3), [(0, 1)])
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
    model = null_model(data)
    full = effect_model(data, model.features, [(0, 1)]).sizes([(0, 1)])
    step = term_results(data, np.array([[0, 1]]), model.contrasts(), with_effects=True)
    np.testing.assert_allclose(step.effects.sizes().size, full.size, rtol=0.15)


def test_held_out_shares_are_those_of_deviances_by_hand():
    data = xor_problem(n=300)
    null = null_model(data)
    model = effect_model(data, null.features, [(0, 1)])
    share = model.held_out_shares([(0, 1)])[0]
    assert 0.05 < share < 0.5
    assert effect_model(data, null.features, [(2, 3)]).held_out_shares([(2, 3)])[0] < 0.02


def test_more_samples_show_smaller_effects():
    sizes = []
    for n in (100, 400, 1600):
        model = null_model(additive_problem(n=n))
        sizes.append(detectable_size(model.contrasts(), 10, 0.05, 1.0))
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


def number_problem(n=150, seed=0):
    """A number, one pair and one main effect, noise that grows with another feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    values = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n) * np.exp(X[:, 3] / 3)
    data = encoded(X, np.arange(n) % 2, weight=rng.integers(1, 3, n).astype(float))
    return replace(data, outcome=number_outcome(values, data.weight))


def test_the_covariance_of_class_effects_is_the_sandwich_over_what_is_left():
    """H I H, enlarged by the share of the samples that the fit has used up."""
    for data, n_free in ((xor_problem(150), 1), (additive_problem(n_classes=3), 2)):
        model = effect_model(data, np.arange(3), [(0, 1)])
        mu, Z, weight = (
            data.outcome.family.means(model.Z @ model.coefficients),
            model.Z,
            data.weight,
        )
        n_logits, m = mu.shape[1], Z.shape[1]
        information = np.zeros((n_logits * m, n_logits * m))
        for row, w, share in zip(Z, weight, mu):
            V = np.diag(share) - np.outer(share, share)
            information += w * np.kron(V, np.outer(row, row))
        penalty = np.tile(np.maximum(model.penalty, INTERCEPT_PENALTY), n_logits)
        H = np.linalg.inv(information + np.diag(penalty))
        n_used = np.trace(H @ information) / n_free
        assert n_used < 0.5 * data.n
        expected = H @ information @ H / (1 - n_used / data.n)
        np.testing.assert_allclose(model.covariance, expected, rtol=1e-6, atol=1e-12)


def test_the_covariance_of_number_effects_is_whites_over_what_is_left():
    data = number_problem()
    model = effect_model(data, np.arange(4), [(0, 1)])
    Z, weight = model.Z, data.weight
    penalty = np.maximum(model.penalty, INTERCEPT_PENALTY)
    information = Z.T @ (weight[:, None] * Z)
    H = np.linalg.inv(information + np.diag(penalty))
    e = (data.outcome.Y - Z @ model.coefficients)[:, 0]
    variance = e**2 / np.maximum(1 - np.diag(Z @ H @ Z.T), 0.1)
    expected = H @ (Z.T @ np.diag(weight * variance) @ Z) @ H
    expected /= 1 - np.trace(H @ information) / data.n
    np.testing.assert_allclose(model.covariance, expected, rtol=1e-6, atol=1e-14)


def main_effects_of(model, features):
    """The columns that a feature or pair is cleared of."""
    own = [model.design.main_effect(a).of(slice(None)) for a in features if len(features) > 1]
    return np.vstack([np.ones(len(model.design.weight)), *own]).T


def cleared_columns(model, features):
    """The columns of a feature or term without what its main effects explain of them."""
    own = [owner == features for owner in model.owners]
    columns = model.Z[slice(None)][:, own]
    G, weight = main_effects_of(model, features), model.known(features)
    root = np.sqrt(weight)[:, None]
    slope = np.linalg.lstsq(root * G, root * columns, rcond=None)[0]
    return (columns - G @ slope) * (weight > 0)[:, None]


def test_the_size_of_an_effect_is_that_of_its_values():
    """sqrt of the mean square of what it adds, over as many samples as are left, less tr(MK)."""
    for data in (xor_problem(), additive_problem(n_classes=3), number_problem()):
        model = effect_model(data, np.arange(4), [(0, 1)])
        block = model.block((0, 1))
        left = data.n - block.slope.shape[0]
        spread = np.mean(data.weight @ block.contribution**2 / left)
        cleared = cleared_columns(model, (0, 1))
        metric = np.kron(
            logit_metric(data.outcome.contrast),
            cleared.T @ (data.weight[:, None] * cleared) / left,
        )
        excess = np.trace(metric @ block.covariance)
        found = model.sizes([(0, 1)])
        expected = data.outcome.unit * np.sqrt(max(spread - excess, 0.0))
        np.testing.assert_allclose(found.size, expected, rtol=1e-8)
        assert found.low[0] <= found.size[0] <= found.high[0]


def test_cleared_columns_have_nothing_of_their_main_effects():
    data = number_problem()
    model = effect_model(data, np.arange(4), [(0, 1)])
    for features in ((0, 1), (2,)):
        block, cleared = model.block(features), cleared_columns(model, features)
        G = main_effects_of(model, features)
        np.testing.assert_allclose(G.T @ (data.weight[:, None] * cleared), 0, atol=1e-8)
        left = data.n - G.shape[1]
        products = cleared.T @ (data.weight[:, None] * cleared) / left
        np.testing.assert_allclose(block.mean_products, products, atol=1e-9)
        np.testing.assert_allclose(block.contribution, cleared @ block.coefficients, atol=1e-9)


def test_the_ends_of_an_interval_are_where_the_estimate_becomes_a_surprise():
    """Given s, b'Mb is a scaled noncentral chi2 with the mean and variance of the docstring."""
    q, trace, second, along = (np.array([x]) for x in (0.8, 0.05, 0.001, 0.02))
    found = sizes_of(q, trace, second, along)
    for s, share in ((found.low, 0.975), (found.high, 0.025)):
        g = along / q
        mean, variance = s**2 + trace, 2 * second + 4 * s**2 * g
        scale = (second + 2 * s**2 * g) / (trace + 2 * s**2)
        df, noncentral = trace / scale, s**2 / scale
        np.testing.assert_allclose(scale * (df + noncentral), mean)
        np.testing.assert_allclose(2 * scale**2 * (df + 2 * noncentral), variance)
        assert special.chndtr(q / scale, df, noncentral)[0] == pytest.approx(share, abs=1e-6)
    np.testing.assert_allclose(found.size, np.sqrt(0.75))
    nothing = sizes_of(0 * q, trace, second, 0 * along)
    assert nothing.size == nothing.low == 0
    assert np.isfinite(nothing.high).all()


def test_one_step_of_newton_is_that_of_a_weak_ridge():
    """B = (S + P)^-1 U and K = (S + P)^-1 S (S + P)^-1, in units of the curvature."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 5))
    S, U, penalty = root @ root.T, rng.normal(size=3), np.array([0.3, 0.4, 0.5])
    moments = Moments(U[None, :, None], S[None], S[None], np.zeros((1, 3)))
    nothing = np.empty((0, 40))
    variance = rng.uniform(0.1, 0.3, 40)
    contrast = Contrast(nothing.T, variance, share_left=1.0, dispersion=1.0)
    found = first_order([moments], penalty[None], [contrast])
    inverse = np.linalg.inv(S + np.diag(penalty))
    b, K, M = inverse @ U, inverse @ S @ inverse, S / variance.sum()
    expected = [b @ M @ b, np.trace(M @ K), np.trace(M @ K @ M @ K), b @ M @ K @ M @ b]
    np.testing.assert_allclose(found.forms[:, 0], expected, rtol=1e-10)
    gain = 2 * U @ b - b @ S @ b - 2 * np.trace(inverse @ S)
    np.testing.assert_allclose(found.gain, gain, rtol=1e-10)
    three = first_order([moments] * 3, penalty[None], [contrast] * 3)
    np.testing.assert_allclose(three.forms, found.forms)
    np.testing.assert_allclose(three.gain, 3 * found.gain * 2 / 3)


def test_numbers_drawn_from_the_null_have_its_means_and_variances():
    model = null_model(number_problem())
    data = model.design
    own, rng = model.contrasts()[0], np.random.default_rng(0)
    drawn = NUMBERS.drawn(model.means, data.weight, own.variance, 4000, rng)
    assert drawn.shape == (len(data.weight), 1, 4000)
    deviation = drawn[:, 0] - model.means
    np.testing.assert_allclose(deviation**2, np.tile((own.variance / data.weight)[:, None], 4000))
    assert abs(np.mean(np.sign(deviation))) < 0.01


def test_points_of_a_surface_lie_between_the_second_and_the_98th_percentile():
    data = xor_problem(400)
    places = shown_levels(data.levels[0])
    assert len(places) == 25
    ranks = (places + 0.5) / 400
    np.testing.assert_allclose(ranks, np.linspace(0.02, 0.98, 25), atol=1 / 400)
    few = encoded(np.arange(40.0)[:, None] % 4, np.arange(40) % 2).levels[0]
    np.testing.assert_array_equal(shown_levels(few), np.arange(4))


def test_the_error_of_a_surface_is_that_of_its_columns():
    """At the samples themselves: sqrt of diag(C K C') for the log-odds of two classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 3)).astype(float)
    X[::9, 0] = np.nan
    y = (rng.random(300) < 1 / (1 + np.exp(-2 * (X[:, 0] == X[:, 1])))).astype(int)
    data = encoded(X, y)
    model = effect_model(data, np.arange(3), [(0, 1)])
    drawn, block = surface(model, (0, 1)), model.block((0, 1))
    is_known = data.levels[0].code >= 0
    cells = data.levels[0].code[is_known], data.levels[1].code[is_known]
    cleared = cleared_columns(model, (0, 1))
    error = np.sqrt(np.einsum("nk,kl,nl->n", cleared, block.covariance, cleared))
    np.testing.assert_allclose(drawn.standard_error[0][cells], error[is_known], atol=1e-10)
    counts = np.zeros((4, 4))
    np.add.at(counts, cells, 1)
    np.testing.assert_array_equal(drawn.counts, counts)
