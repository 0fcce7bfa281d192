"""Evidence for features against its definition: dense matrices, the feature's columns cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sklearn
from additive.problems import additive_problem, encoded, mixed_problem, search_for_pairs
from oracles.estimated import combined, form_log_p, null_projection

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import term_columns
from immigrate.additive.families import number_outcome
from immigrate.additive.levels import variance_groups
from immigrate.additive.moments import without_untestable
from immigrate.additive.null_model import null_model
from immigrate.additive.p_values import combined_log_p, form_results, low_columns
from immigrate.additive.ridge import INTERCEPT_PENALTY
from immigrate.additive.rows import LazyColumns
from immigrate.interactions.features import LIGHTER, copied_functions, feature_evidence


def number_problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    values = X[:, 0] + 0.2 * X[:, 1] ** 2 + 0.1 * X[:, 2] + rng.normal(size=160)
    data = encoded(X, np.arange(160) % 2, weight=rng.integers(1, 3, 160).astype(float))
    return replace(data, outcome=number_outcome(values, data.weight))


def inverse_of_the_others(model, weight, v, penalty, is_out):
    """H_o: the inverse of the penalised information of the columns that stay, 0 elsewhere."""
    full = model.Z.T @ ((weight * v)[:, None] * model.Z)
    full += np.diag(np.maximum(penalty, INTERCEPT_PENALTY))
    H = np.zeros_like(full)
    stays = np.ix_(~is_out, ~is_out)
    H[stays] = np.linalg.inv(full[stays])
    return full, H


def log_p_without(data, model, contrast, feature):
    """Log p of one feature given the others, for two classes or a number."""
    Z, weight, is_number = model.Z, data.weight, data.outcome.family.is_estimated
    is_out = data.additive_columns(model.features)[2] == feature
    v = np.ones(len(weight)) if is_number else (model.means * (1 - model.means))[:, 0]
    full, _ = inverse_of_the_others(model, weight, v, model.penalty, is_out)
    # One Newton step from the fit takes the columns to 0 and moves the others along.
    beta = model.coefficients[:, 0].copy()
    moved = full[np.ix_(~is_out, is_out)] @ beta[is_out]
    beta[~is_out] += np.linalg.solve(full[np.ix_(~is_out, ~is_out)], moved)
    beta[is_out] = 0.0
    mu = data.outcome.family.means((Z @ beta)[:, None])[:, 0]
    is_evident = model.refit_penalty <= 0.02 * model.penalty
    light = model.refit_penalty * np.where(is_evident, LIGHTER, 1.0)
    _, H = inverse_of_the_others(model, weight, v, light, is_out)
    own = np.ones(len(weight)) if is_number else mu * (1 - mu)
    e = data.outcome.Y[:, 0] - mu
    r = e - own * (Z @ (H @ (Z.T @ (weight * e))))
    C = term_columns(data, np.array([[feature]]))[0]
    cleared = C - ((Z @ H) @ (Z.T @ ((weight * own)[:, None] * C.T))).T
    if is_number:
        return log_p_of_number(data, feature, Z[:, ~is_out], light[~is_out], mu)
    variance = weight * own
    due = contrast.share_left * variance.sum()
    fourth, scale = variance * (1 - 6 * own), np.sqrt(due / np.sum(weight * r**2))
    S, raw = ((A * variance) @ A.T for A in (cleared, C))
    kurtosis = C**4 @ fourth
    U = C @ (weight * r) * scale
    moments = without_untestable(U[None, :, None], S[None], raw[None], kurtosis[None], 0.95)
    forms = form_results(moments, low_columns(data, np.array([[feature]])))
    return combined_log_p([forms])[0, 0]


def log_p_of_number(data, feature, Z, penalty, mu):
    """The definition with the columns of the feature cut; NaN where its tail needs the mixture."""
    copies = np.repeat(np.arange(len(mu)), data.weight.astype(int))
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    R = null_projection(Z[copies], penalty, np.empty((len(copies), 0)))
    C, e = (
        term_columns(data, np.array([[feature]]))[0].T[copies],
        (data.outcome.Y[:, 0] - mu)[copies],
    )
    groups = [variance_groups(data.levels[feature], data.n)[copies]]
    last = C.shape[1] - N_SINGLE
    parts = [(slice(0, last), "kernel"), (slice(0, 2), "score")]
    parts += [(slice(j, j + 1), "single") for j in range(last, last + N_SINGLE)]
    forms = [form_log_p(R, C[:, at], e, groups, kind, 0.95) for at, kind in parts]
    return combined(forms) if min(forms) > np.log(0.01) else np.nan


@pytest.mark.parametrize("problem", [additive_problem, mixed_problem, number_problem])
def test_evidence_given_the_others_is_that_of_the_columns_cut(problem):
    model = null_model(problem())
    data = model.design
    contrasts = model.contrasts()
    evidence = feature_evidence(search_for_pairs(), model)
    expected = [log_p_without(data, model, contrasts[0], a) for a in range(len(data.levels))]
    is_compared = ~np.isnan(expected)
    assert is_compared.any()
    np.testing.assert_allclose(
        evidence.log_p_given_others[is_compared],
        np.array(expected)[is_compared],
        rtol=1e-5,
        atol=1e-9,
    )


def test_names_of_three_classes_do_not_matter_to_the_evidence():
    data = additive_problem(n_classes=3)
    renamed = additive_problem(n_classes=3)
    order = np.array([2, 0, 1])
    renamed = replace(
        renamed,
        outcome=replace(
            renamed.outcome,
            Y=renamed.outcome.Y[:, order],
            strata=np.argsort(order)[renamed.outcome.strata],
        ),
    )
    found = []
    for one in (data, renamed):
        model = null_model(one)
        found.append(feature_evidence(search_for_pairs(), model))
    np.testing.assert_allclose(found[0].log_p, found[1].log_p, rtol=1e-6)
    np.testing.assert_allclose(
        found[0].log_p_given_others, found[1].log_p_given_others, rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("p", [1, 2, 3, 17])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_made_again_and_again_give_the_same_evidence(p, n_classes):
    """One feature is left out at a time in memory, sixteen of them where rows are made."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(150, p))
    y = np.argmax(X[:, :1] * np.arange(n_classes) + rng.gumbel(size=(150, n_classes)), axis=1)
    found = []
    for memory in (1024, 1e-3):
        with sklearn.config_context(working_memory=memory):
            model = null_model(encoded(X, y))
            assert isinstance(model.Z, LazyColumns) == (memory < 1)
            found.append(feature_evidence(search_for_pairs(), model))
    whole, made = found
    np.testing.assert_allclose(made.log_p, whole.log_p, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        made.log_p_given_others, whole.log_p_given_others, rtol=1e-5, atol=1e-8
    )
    np.testing.assert_allclose(made.effects.forms, whole.effects.forms, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(made.effects.gain, whole.effects.gain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("of_copies", "of_others"), [(40.0, 1.0), (1.0, 40.0)])
def test_copies_are_told_by_the_samples_that_weigh_much(of_copies, of_others):
    """Half of the samples have the same value twice, and no other half does."""
    rng = np.random.default_rng(0)
    X, is_same = rng.normal(size=(240, 3)), np.arange(240) % 2 == 0
    X[is_same, 1] = X[is_same, 0]
    weight = np.where(is_same, of_copies, of_others)
    model = null_model(encoded(X, rng.integers(0, 2, 240), weight=weight))
    copied = copied_functions(model.design, model.features)
    assert copied[0].any() == copied[1].any() == (of_copies > of_others)
    assert not copied[2].any()
