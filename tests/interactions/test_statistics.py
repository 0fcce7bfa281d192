from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from additive.problems import additive_problem, encoded, mixed_problem
from oracles.moments import cleared_moments, explained_covariance, raw_covariance
from scipy import stats

from immigrate.additive.design import own_main_effects, phi_products, term_columns
from immigrate.additive.moments import Moments
from immigrate.additive.null_model import fitted_additive_model
from immigrate.additive.p_values import (
    combined_log_p,
    form_results,
    kernel_log_p,
    log_saddlepoint_tail,
    log_three_moment_tail,
    low_columns,
    score_log_p,
)
from immigrate.additive.residuals import Draws
from immigrate.interactions import statistics
from immigrate.interactions.statistics import term_results

PROBLEMS = {
    "continuous": lambda: additive_problem(n=400),
    "mixed types, few cases": mixed_problem,
    "three classes": lambda: additive_problem(n=300, n_classes=3, seed=3),
}


def all_pairs(data):
    return np.array(list(combinations(range(len(data.levels)), 2)))


def test_kernel_statistic_is_a_sum_over_pairs_of_samples():
    """U'U = sum_nj r_n r_j K_a(n, j) K_b(n, j): residual hits and misses, near in both."""
    data = additive_problem(n=60)
    r = fitted_additive_model(data).contrasts()[0].residual[:, 0]
    for a, b in all_pairs(data):
        K_a, K_b = (data.phi[j].T @ data.phi[j] for j in (a, b))
        U = phi_products(data.phi, np.array([[a, b]]))[0] @ r
        np.testing.assert_allclose(U @ U, r @ (K_a * K_b) @ r)


def test_kernel_of_a_feature_is_nearly_the_centred_distance():
    data = additive_problem(n=300)
    u = np.argsort(np.argsort(data.phi[0, 0])) / 300
    distance = -np.abs(u[:, None] - u)
    centred = distance - distance.mean(0) - distance.mean(1)[:, None] + distance.mean()
    kernel = data.phi[0].T @ data.phi[0]
    assert np.corrcoef(kernel.ravel(), centred.ravel())[0, 1] > 0.99


@pytest.mark.parametrize("block_bytes", [1.0, 1e5, 1e9])
def test_block_size_does_not_matter(monkeypatch, block_bytes):
    data = mixed_problem()
    contrasts = fitted_additive_model(data).contrasts(Draws(5, 0))
    expected = term_results(data, all_pairs(data), contrasts)
    monkeypatch.setattr(statistics, "BLOCK_BYTES", block_bytes)
    result = term_results(data, all_pairs(data), contrasts)
    np.testing.assert_allclose(result.log_p, expected.log_p, rtol=1e-9)
    np.testing.assert_allclose(result.smallest_null_log_p, expected.smallest_null_log_p, rtol=1e-9)


def moments_of(data, terms, contrast):
    terms = np.array(terms)
    return cleared_moments(term_columns(data, terms), own_main_effects(data, terms), contrast)


def test_columns_of_a_copied_feature_cannot_be_tested():
    """All products of a genotype with its copy are main effects; those of others are not."""
    data = mixed_problem()
    contrast = fitted_additive_model(data).contrasts()[0]
    is_used = moments_of(data, [[3, 3], [2, 3]], contrast).is_used
    assert not is_used[0].any()
    assert is_used[1].any()


@pytest.mark.parametrize("which", [0, 1])
def test_a_single_form_is_the_score_test_of_its_product(which):
    """r against f(x_a) f(x_b) beside the null model and the main effects of a and b."""
    data = additive_problem(n=300)
    contrast = fitted_additive_model(data).contrasts()[0]
    c = data.single[0, which] * data.single[3, which]
    G = own_main_effects(data, np.array([[0, 3]]))[0]
    A = np.vstack([c, G])[None]
    S = (raw_covariance(A, contrast) - explained_covariance(A, contrast))[0]
    slope = np.linalg.solve(S[1:, 1:], S[1:, 0])
    u, variance = (c - slope @ G) @ contrast.residual[:, 0], S[0, 0] - slope @ S[1:, 0]
    forms = form_results(
        moments_of(data, [[0, 3]], contrast), low_columns(data, np.array([[0, 3]]))
    )
    expected = stats.chi2.logsf(u**2 / variance, 1)
    np.testing.assert_allclose(forms.log_p[2 + which, 0, 0], expected, rtol=1e-3)


def test_own_main_effects_leave_no_trace():
    """Adding a function of a or b to the residuals changes nothing in U of the pair."""
    data = additive_problem(n=300)
    contrast = fitted_additive_model(data).contrasts()[0]
    G = own_main_effects(data, np.array([[0, 3]]))[0]
    F, v = contrast.explained.F, contrast.variance
    shift = (G * v - (G @ F.T) @ F).sum(axis=0)
    moved = replace(contrast, residual=contrast.residual + shift[:, None])
    base, other = (moments_of(data, [[0, 3]], one).U for one in (contrast, moved))
    raw = np.matmul(term_columns(data, np.array([[0, 3]])), shift)
    assert np.abs(raw).max() > 0.1
    np.testing.assert_allclose(base, other, atol=1e-3)


def test_a_form_without_columns_does_not_count():
    """Genotypes have no single functions: their p-value is that of kernel and score alone."""
    data, terms = mixed_problem(), np.array([[2, 3], [0, 1]])
    contrast = fitted_additive_model(data).contrasts()[0]
    forms = form_results(moments_of(data, terms, contrast), low_columns(data, terms))
    np.testing.assert_array_equal(forms.weight[:, :, 0], [[1, 1], [1, 1], [0, 1], [0, 1]])


def test_few_samples_widen_the_variance_of_the_statistic():
    """A gamma distribution of the mean of a chi2 and a variance larger by the kurtosis."""
    S, kurtosis, q = np.array([[[2.0]]]), np.array([[0.6]]), np.array([1.0, 9, 30])
    U = np.sqrt(q)[None, None]
    df = 2 / (2 + 0.6)
    expected = stats.gamma.logsf(q / 2, df / 2, scale=2 / df)
    np.testing.assert_allclose(score_log_p(U, S, S, kurtosis)[0], expected, rtol=1e-9)
    # The kernel takes the same share in its own body and tail.
    normal, few = (kernel_log_p(U, S, k)[0] for k in (0 * kurtosis, kurtosis))
    chi2 = stats.chi2.logsf(q / 2, 1)
    np.testing.assert_allclose((few - normal)[1:], (expected - chi2)[1:], rtol=0.02)


def test_a_column_that_one_sample_decides_is_not_tested():
    data = mixed_problem()
    contrast = fitted_additive_model(data).contrasts()[0]
    C = np.zeros((1, 2, len(data.weight)))
    C[0, 0, np.argmin(contrast.variance)] = 1.0
    C[0, 1] = np.random.default_rng(5).normal(size=len(data.weight))
    G = own_main_effects(data, np.array([[0, 1]]))
    np.testing.assert_array_equal(cleared_moments(C, G, contrast).is_used, [[False, True]])


def drawn_log_p(data, terms, n_draws, batch=5_000):
    """The log p of every term (t, n_draws) on labels drawn from the fitted null model."""
    model = fitted_additive_model(data)
    batches, is_low = [], low_columns(data, terms)
    for seed in range(-(-n_draws // batch)):
        forms = []
        for contrast in model.contrasts(Draws(batch, seed)):
            drawn = replace(contrast, residual=contrast.residual[:, 1:])
            forms.append(form_results(moments_of(data, terms, drawn), is_low))
        batches.append(combined_log_p(forms))
    return np.concatenate(batches, axis=1)[:, :n_draws]


def assert_levels_hold(log_p, levels, slack):
    """Each share of p-values below a level is that level, within Monte-Carlo error and slack."""
    for level in levels:
        share = np.mean(log_p <= np.log(level), axis=1)
        error = 3.5 * np.sqrt(level / log_p.shape[1])
        assert np.all(np.abs(share - level) <= error + slack * level), (level, share)


@pytest.mark.parametrize("name", PROBLEMS)
def test_p_values_are_those_of_labels_drawn_from_the_null(name):
    data = PROBLEMS[name]()
    log_p = drawn_log_p(data, all_pairs(data)[:4], 5_000)
    assert_levels_hold(log_p, [0.3, 0.05, 0.01], slack=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_p_values_hold_down_to_one_in_ten_thousand(name):
    data = PROBLEMS[name]()
    log_p = drawn_log_p(data, all_pairs(data), 100_000)
    assert_levels_hold(log_p, [0.3, 0.05, 0.01, 1e-3, 1e-4], slack=0.25)


def test_a_direction_that_main_effects_explain_does_not_count():
    """Neither column is explained alone, but of their sum nearly nothing is left."""
    raw = np.eye(2)[None]
    S = np.array([[[0.5, -0.499], [-0.499, 0.5]]])
    U = np.array([[[1.0], [1.0]]])  # along the sum: U'S^-1 U = 2000
    np.testing.assert_allclose(score_log_p(U, S, raw), stats.chi2.logsf(0, 1), atol=1e-9)
    other = np.array([[[1.0], [-1.0]]])
    np.testing.assert_allclose(score_log_p(other, S, raw), stats.chi2.logsf(2 / 0.999, 1))


def test_columns_that_repeat_each_other_count_once():
    """Without anything cleared, two equal columns are one degree of freedom."""
    S = np.ones((1, 2, 2))
    U = np.array([[[1.5], [1.5]]])
    np.testing.assert_allclose(score_log_p(U, S, S), stats.chi2.logsf(1.5**2, 1))


def test_a_wide_feature_does_not_change_the_pairs_of_the_others():
    """Pairs are padded to the widest of their block, and wide ones are kept apart."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(240, 2)), rng.integers(0, 60, 240), rng.choice(3, 240)])
    data = encoded(X, rng.integers(0, 2, 240), nominal=[2, 3])
    contrasts = fitted_additive_model(data).contrasts()
    terms = np.array(list(combinations(range(4), 2)))
    together = term_results(data, terms, contrasts)
    for i, term in enumerate(terms):
        alone = term_results(data, term[None], contrasts)
        np.testing.assert_allclose(alone.log_p[0], together.log_p[i], rtol=1e-8)
        np.testing.assert_allclose(alone.statistic[0], together.statistic[i], rtol=1e-8)


def test_a_score_without_directions_does_not_count():
    """A p-value of 1 in its place would veto the evidence of the other forms."""
    S = 0.005 * np.eye(6)[None]
    moments = Moments(np.full((1, 6, 1), 0.3), S, np.eye(6)[None], np.zeros((1, 6)))
    forms = form_results(moments, np.ones((1, 4), dtype=bool))
    assert forms.log_p[1, 0, 0] == 0
    assert forms.weight[1, 0, 0] == 0


def drawn_moments(n_terms=3, k=4, n_sets=5, seed=0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n_terms, k, 9))
    S = np.matmul(root, root.transpose(0, 2, 1))
    U = 3 * rng.normal(size=(n_terms, k, n_sets))
    return Moments(U, S, 1.1 * S, np.zeros((n_terms, k)))


def test_the_score_is_the_chi2_of_its_own_columns():
    """U'S^-1 U over the columns that each term names, whatever the others are."""
    moments = drawn_moments(k=4 + 2)
    is_low = np.array([[1, 1, 0, 1], [1, 0, 0, 0], [0, 1, 1, 0]], dtype=bool)
    forms = form_results(moments, is_low)
    for term, own in enumerate(is_low):
        U, S = moments.U[term, :4][own], moments.S[term][:4, :4][np.ix_(own, own)]
        expected = stats.chi2.logsf(np.sum(U * np.linalg.solve(S, U), axis=0), own.sum())
        np.testing.assert_allclose(forms.log_p[1, term], expected, rtol=1e-8)
        for single in (4, 5):
            square = moments.U[term, single] ** 2 / moments.S[term, single, single]
            expected = stats.chi2.logsf(square, 1)
            np.testing.assert_allclose(forms.log_p[single - 2, term], expected, rtol=1e-8)
    np.testing.assert_array_equal(forms.weight, 1.0)
    triple = form_results(moments)
    expected = np.sum(moments.U[0] * np.linalg.solve(moments.S[0], moments.U[0]), axis=0)
    np.testing.assert_allclose(triple.log_p[0, 0], stats.chi2.logsf(expected, 6), rtol=1e-8)


def test_the_kernel_form_is_a_mixture_by_the_eigenvalues_of_its_covariance():
    """Three moments where p is above .01, the saddlepoint below."""
    moments = drawn_moments(n_terms=4, n_sets=60)
    found = kernel_log_p(moments.U * np.linspace(0.2, 3, 60), moments.S)
    q = np.sum((moments.U * np.linspace(0.2, 3, 60)) ** 2, axis=1)
    for term, S in enumerate(moments.S):
        eigenvalues = np.linalg.eigvalsh(S)
        powers = tuple(np.sum(eigenvalues**i) for i in (1, 2, 3))
        body = log_three_moment_tail(q[term], powers)
        is_far = body < np.log(0.01)
        rows = np.tile(eigenvalues, (is_far.sum(), 1))
        body[is_far] = log_saddlepoint_tail(q[term, is_far], rows)
        np.testing.assert_allclose(found[term], body, rtol=1e-8)
    assert (found < np.log(0.01)).any()
    assert (found > np.log(0.01)).any()


def test_the_statistic_is_the_kernel_form_over_its_mean():
    data = additive_problem(n=200, n_classes=3)
    contrasts = fitted_additive_model(data).contrasts()
    terms = all_pairs(data)
    found = term_results(data, terms, contrasts).statistic
    expected = np.zeros(len(terms))
    for contrast in contrasts:
        one = moments_of(data, terms, contrast)
        trace = np.einsum("bkk->b", one.S[:, :16, :16])
        expected += np.sum(one.U[:, :16, 0] ** 2, axis=1) / trace / len(contrasts)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
