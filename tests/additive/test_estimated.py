"""Evidence for numbers against its definition, and what must not change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from additive.problems import encoded
from oracles.estimated import combined, form_log_p, group_codes, null_projection
from scipy import stats

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import own_main_effects, term_columns
from immigrate.additive.families import number_outcome
from immigrate.additive.levels import variance_groups
from immigrate.additive.null_model import null_model
from immigrate.additive.p_values import log_f_tail, log_ratio_tail, low_columns
from immigrate.additive.ridge import INTERCEPT_PENALTY
from immigrate.additive.rows import LazyColumns
from immigrate.interactions.statistics import term_results


def number_design(X, y, weight=None, nominal=()):
    data = encoded(X, np.arange(len(y)) % 2, weight=weight, nominal=nominal)
    return replace(data, outcome=number_outcome(np.asarray(y, float), data.weight))


def columns_problem(n=130, seed=0):
    """Numbers, a flag, a genotype and text; unequal noise."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.normal(size=n),
            rng.integers(0, 2, n),
            rng.binomial(2, 0.4, n),
            rng.integers(0, 4, n),
        ]
    ).astype(float)
    y = X[:, 0] + X[:, 2] + 0.8 * X[:, 0] * X[:, 1] + np.exp(0.5 * X[:, 1]) * rng.normal(size=n)
    return X, y, (4,)


def pairs_of(data):
    return np.column_stack(np.triu_indices(len(data.levels), 1))


def by_definition(model, term, is_tail_exact=False):
    """Log p of a pair or feature from its forms, each by matrices of n x n."""
    data, times = model.design, np.repeat(np.arange(len(model.Z)), model.design.weight.astype(int))
    penalty = np.maximum(model.refit_penalty, INTERCEPT_PENALTY)
    terms = np.array([term])
    G = own_main_effects(data, terms)[0].T[times]
    C = term_columns(data, terms)[0].T[times]
    R = null_projection(model.Z[times], penalty, G)
    e = (data.outcome.Y - model.means)[times, 0]
    groups = [variance_groups(data.levels[a], data.n)[times] for a in term]
    low = low_columns(data, terms)[0]
    last = C.shape[1] - N_SINGLE
    df, has_single = np.trace(R @ R), np.any(C[:, last:])
    forms = []
    if df >= 60 or not has_single:
        forms.append(form_log_p(R, C[:, :last], e, groups, "kernel"))
    if df >= 20 or not has_single:
        forms.append(form_log_p(R, C[:, :last][:, low], e, groups, "score"))
    forms += [form_log_p(R, C[:, [j]], e, groups, "single") for j in range(last, C.shape[1])]
    forms = [one for one in forms if not np.isnan(one)]
    return combined(forms), forms


@pytest.mark.parametrize("n", [30, 130])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_evidence_is_that_of_the_definition(n, is_weighted):
    X, y, nominal = columns_problem(n)
    weight = np.random.default_rng(1).integers(1, 3, n).astype(float) if is_weighted else None
    model = null_model(number_design(X, y, weight, nominal))
    data = model.design
    terms = pairs_of(data)
    found = term_results(data, terms, model.contrasts()).log_p
    n_compared = 0
    for term, log_p in zip(terms, found):
        expected, forms = by_definition(model, term)
        # Further out the mixture has a tail of its own, which `log_ratio_tail` is tested for.
        if min(forms) > np.log(0.011):
            np.testing.assert_allclose(log_p, expected, rtol=1e-6, atol=1e-9)
            n_compared += 1
    assert n_compared >= 6


def test_groups_of_variance_are_levels_or_ranges_of_ranks():
    X, y, nominal = columns_problem(200)
    data = number_design(X, y, None, nominal)
    for j, levels in enumerate(data.levels):
        expected = group_codes(X[:, j], 200, j in nominal)
        np.testing.assert_array_equal(variance_groups(levels, 200), expected)


def test_a_missing_value_is_a_group_of_its_own():
    X, y, _ = columns_problem(60)
    X[3, 0] = np.nan
    code = variance_groups(number_design(X, y).levels[0], 60)
    assert np.sum(code == code[3]) == 1


def test_the_order_of_rows_does_not_matter_where_rows_are_equal():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat([0, 1], 30), np.tile([0, 1, 2], 20)]).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=60)
    order = rng.permutation(60)
    p = []
    for rows in (np.arange(60), order):
        model = null_model(number_design(X[rows], y[rows]))
        p.append(term_results(model.design, np.array([[0, 1]]), model.contrasts()).log_p)
    np.testing.assert_allclose(p[0], p[1], rtol=1e-9)


def test_blocks_of_rows_do_not_matter():
    X, y, nominal = columns_problem(700)
    data = number_design(X, y, None, nominal)
    model = null_model(data)
    terms = pairs_of(data)
    whole = term_results(data, terms, model.contrasts(), with_effects=True)
    with sklearn.config_context(working_memory=0.1):
        long = null_model(number_design(X, y, None, nominal))
        assert isinstance(long.Z, LazyColumns)
        parts = term_results(long.design, terms, long.contrasts(), with_effects=True)
    np.testing.assert_allclose(parts.log_p, whole.log_p, rtol=1e-6)
    np.testing.assert_allclose(parts.statistic, whole.statistic, rtol=1e-6)
    np.testing.assert_allclose(parts.effects.forms, whole.effects.forms, rtol=1e-5, atol=1e-9)


def test_a_table_with_nothing_left_has_no_p_value():
    X = np.column_stack([[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1]]).astype(float)
    model = null_model(number_design(X, [1.0, 2, 3, 5, 8, 9]))
    found = term_results(model.design, np.array([[0, 1]]), model.contrasts())
    assert np.isnan(found.log_p).all() or found.log_p[0] > np.log(0.05)


@pytest.mark.parametrize(("df", "residual_df"), [(1, 3), (2.5, 8), (4, 300), (16, 1e5)])
def test_the_tail_of_f_is_finite_however_far_out(df, residual_df):
    x = np.array([0.0, 0.3, 1, 4, 30])
    expected = stats.f.logsf(x, df, residual_df)
    near = expected > -600
    df, residual_df = np.array(df), np.array(residual_df)
    np.testing.assert_allclose(log_f_tail(x, df, residual_df)[near], expected[near], rtol=1e-8)
    far = log_f_tail(np.array([1e10, 1e100, 1e200]), df, residual_df)
    assert np.isfinite(far).all()
    # A power of x: minus half the residual degrees of freedom for each factor of e.
    slope = (far[2] - far[1]) / (100 * np.log(10))
    np.testing.assert_allclose(slope, -residual_df / 2, rtol=1e-6)


def test_the_tail_of_a_ratio_is_that_of_f_for_equal_eigenvalues():
    s, q = np.full((4, 3), 1 / 3), np.array([4.0, 8, 20, 60])
    for f0 in (6.0, 40.0, 1e6):
        found = log_ratio_tail(q, s, np.full(4, f0))
        np.testing.assert_allclose(found, stats.f.logsf(q, 3, f0), rtol=0.02)


def test_the_tail_of_a_ratio_is_that_of_drawn_ratios():
    rng = np.random.default_rng(0)
    s, f0 = np.array([0.5, 0.3, 0.15, 0.05]), 12.0
    ratio = (rng.chisquare(1, (2_000_000, 4)) @ s) / (rng.chisquare(f0, 2_000_000) / f0)
    for q in (4.0, 6.0, 9.0):
        found = np.exp(log_ratio_tail(np.array([q]), s[None], np.array([f0])))[0]
        np.testing.assert_allclose(found, np.mean(ratio > q), rtol=0.06)
