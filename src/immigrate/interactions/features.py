"""Does a feature matter: on its own, and given the others?

On its own: its functions against the residuals of a model that holds only the features that are
adjusted for. Given the others: against the residuals of the additive model without this feature.
That model is not fitted again for every feature. With a the columns of the feature and o all other
columns, its coefficients and residuals follow from the full model,

    b_o - H_oa H_aa^-1 b_a,   r = e - V Z_o H_o Z_o' e,   H_o = H_oo - H_oa H_aa^-1 H_ao,

with H the inverse of the penalised information of all columns, which is computed once. Means and
variances are those of the model without the feature: with those of the full one, which follows the
labels more closely, p-values were too small. A feature that is not in the model is tested against
its residuals as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.cleared import Cleared, OnRows
from immigrate.additive.design import Design, term_columns, term_squares
from immigrate.additive.estimated import (
    estimated_evidence,
    estimated_moments,
    forms_of,
    spreads_of,
)
from immigrate.additive.moments import Contrast, Moments, known, without_untestable
from immigrate.additive.newton import information_matrix, penalised_inverse
from immigrate.additive.null_model import (
    ARRAYS_TOGETHER,
    EVIDENT_SHARE_IN_REFIT,
    NullModel,
    fitted_on,
)
from immigrate.additive.p_values import FormResult, combined_log_p, form_results, low_columns
from immigrate.additive.residuals import LARGEST_SCALE, shares_left
from immigrate.additive.rows import (
    LazyColumns,
    Rows,
    block_sum,
    kept_numbers,
    row_sum,
    transposed_product,
)
from immigrate.additive.sizes import FirstOrder, column_penalty, first_order
from immigrate.arrays import Array, Codes, Mask
from immigrate.interactions.adjustments import Adjustment, PValues
from immigrate.interactions.search import Search
from immigrate.interactions.statistics import blocks, term_results

# Of a feature with a copy in the table nothing must be left once the copy is in the model: what a
# light penalty leaves of an evident effect was enough to be found.
LIGHTER, MOST_EXPLAINED = 0.1, 0.95
# Features that are left out in one pass over rows.
FEATURES_TOGETHER = 16
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class FeatureEvidence:
    """Evidence for each tested feature.

    Attributes
    ----------
    features : ndarray of shape (f,)
    log_p, log_p_given_others : ndarray of shape (f,)
    effects : FirstOrder
        Of each feature, given the others.
    log_p_adjusted, log_p_given_others_adjusted : ndarray of shape (f,)
    is_shown_alone, is_shown : ndarray of shape (f,)
        Whose effect is shown on its own; and on its own or given the others.
    contrasts : list of Contrast
        Residuals of the null model.
    """

    features: Codes
    log_p: Array
    log_p_given_others: Array
    effects: FirstOrder
    log_p_adjusted: Array
    log_p_given_others_adjusted: Array
    is_shown_alone: Mask
    is_shown: Mask
    contrasts: Sequence[Contrast]


def feature_evidence(search: Search, model: NullModel) -> FeatureEvidence:
    """Every feature that terms are made of, on its own and given the others."""
    design, contrasts = model.design, model.contrasts()
    terms = design.tested[:, None]
    empty = fitted_on(design, np.array(sorted(design.adjusted), dtype=np.intp))
    alone = term_results(design, terms, empty.contrasts()).log_p
    result = term_results(design, terms, contrasts, with_effects=True)
    given, effects = result.log_p, result.effects
    is_in = np.isin(design.tested, model.features)
    if is_in.any():
        own = terms[is_in]
        forms, moments = evidence_without(model, contrasts, own)
        given[is_in] = combined_log_p(forms)[:, 0]
        penalty = column_penalty(design, own, term_squares(design, own) / design.n)
        step = first_order(moments, penalty, contrasts)
        effects.forms[:, is_in], effects.gain[is_in] = step.forms, step.gain
    adjustment = search.adjustment.for_features or search.adjustment
    adjusted = (_adjusted(adjustment, alone), _adjusted(adjustment, given))
    is_alone, is_given = adjusted[0] <= np.log(search.alpha), adjusted[1] <= np.log(search.alpha)
    shown = (is_alone, is_alone | is_given)
    return FeatureEvidence(design.tested, alone, given, effects, *adjusted, *shown, contrasts)


def _adjusted(adjustment: Adjustment, log_p: Array) -> Array:
    """Adjusted p-values of the features that could be tested, NaN for the others."""
    is_known, adjusted = ~np.isnan(log_p), np.full(len(log_p), np.nan)
    adjusted[is_known] = adjustment.log_adjusted(PValues(log_p[is_known]))
    return adjusted


def evidence_without(
    model: NullModel, contrasts: Sequence[Contrast], terms: Codes
) -> tuple[list[FormResult], list[Moments]]:
    """Forms and moments of the functions of features of the model, each left out by itself."""
    design, features = model.design, terms[:, 0]
    family, n_logits = design.outcome.family, len(contrasts)
    information = information_matrix(model.Z, model.means, design.weight, family)
    inverse = penalised_inverse(information, model.penalty)
    # Columns have one of two shares of the penalty; twice the smaller one tells them apart
    # whatever is rounded.
    is_light = model.refit_penalty <= 2 * EVIDENT_SHARE_IN_REFIT * model.penalty
    refit_penalty = np.where(is_light, LIGHTER, 1.0) * model.refit_penalty
    refit_inverse = penalised_inverse(information, refit_penalty)
    # Rows that are made for every sum are made for several features at a time.
    n_together = FEATURES_TOGETHER if isinstance(model.Z, LazyColumns) else 1
    starts = range(0, len(features), n_together)
    groups = [
        models_without(model, features[start : start + n_together], inverse, refit_inverse)
        for start in starts
    ]
    # What another feature has as well is its own, however rough; the model may not follow it.
    is_copied = copied_functions(design, model.features)
    is_copied = is_copied[np.searchsorted(model.features, features)]
    is_low = low_columns(design, terms)
    if family.is_estimated:
        some = [one for group in groups for one in group]
        return estimated_without(model, some, (refit_inverse, information), is_copied, is_low)
    sums = [_sums_without(model, n_logits, some, refit_inverse) for some in groups]
    every = [np.concatenate(parts) for parts in zip(*sums)]
    moments = []
    for c, contrast in enumerate(known(contrasts)):
        U, raw, S, kurtosis, variance, square = (part[c::n_logits] for part in every)
        # Residuals of an over-fitted model are too small, as in `additive.residuals`.
        due = contrast.share_left * variance
        scale = due / np.maximum(square, TINY)
        U = U * np.sqrt(scale)[:, None]
        is_out = is_copied | (scale > LARGEST_SCALE)[:, None]
        kurtosis = np.where(is_out, np.inf, kurtosis)
        moments.append(without_untestable(U[:, :, None], S, raw, kurtosis, MOST_EXPLAINED))
    return [form_results(one, is_low) for one in moments], moments


def estimated_without(
    model: NullModel,
    without: list[Without],
    refit: tuple[Array, Array],
    is_copied: Mask,
    is_low: Mask,
) -> tuple[list[FormResult], list[Moments]]:
    """The same for a number, whose variances are taken from the residuals; `refit` is H and I."""
    design, (H, information) = model.design, refit
    left = shares_left(model.Z, H, information)
    n_numbers = ARRAYS_TOGETHER * is_low.shape[1] * len(design.weight)
    forms, moments = [], []
    for some in blocks(len(without), n_numbers, kept_numbers()):
        parts = [cleared_without(model, one, H, information, left) for one in without[some]]
        cleared = joined(parts, is_copied[some], not isinstance(model.Z, LazyColumns))
        spreads = spreads_of(
            design.variance_groups, np.array([[one.feature] for one in without[some]])
        )
        own = forms_of(cleared, is_low[some], N_SINGLE)
        forms.append(estimated_evidence(cleared, own, spreads))
        moments.append(estimated_moments(cleared))
    together = FormResult(*(np.concatenate(part, axis=1) for part in zip(*forms)))
    each = zip(*((one.U, one.S, one.raw, one.kurtosis) for one in moments))
    U, S, raw, kurtosis = (np.concatenate(own) for own in each)
    return [together], [Moments(U, S, raw, kurtosis)]


def joined(parts: list[Cleared], is_excluded: Mask, is_short: bool) -> Cleared:
    """The features of several models as terms beside each other."""

    def on(rows: Rows) -> OnRows:
        return OnRows(*(np.concatenate(own) for own in zip(*(one.on(rows) for one in parts))))

    U, inner, squared, raw = (
        np.concatenate([getattr(one, name) for one in parts])
        for name in ("U", "inner", "squared", "raw")
    )
    weight, run = parts[0].weight, parts[0].run
    return Cleared(on, U, inner, squared, raw, weight, run, is_short, MOST_EXPLAINED, is_excluded)


def cleared_without(
    model: NullModel, one: Without, H: Array, information: Array, left: Array
) -> Cleared:
    """Functions of a feature, cleared of the columns of all others.

    What the feature itself takes out of samples is given back: R_o = R + P A P'W with P = Z H_a
    and A = H_aa^-1, so that what is left of a sample follows from what the whole model leaves.
    """
    design, Z, weight, is_out = model.design, model.Z, model.design.weight, one.is_out
    A = np.linalg.inv(H[np.ix_(is_out, is_out)])
    own = H[:, is_out]
    own_R, own_size = own - H @ (information @ own), own.T @ information @ own

    def functions(rows: Rows) -> Array:
        return term_columns(design, np.array([[one.feature]]), rows)[0]

    def sums(rows: slice, block: Array) -> tuple[Array, ...]:
        C = functions(rows) * weight[rows]
        return C @ block, C @ functions(rows).T, C @ one.r[rows]

    X, raw, U = block_sum(Z, sums)
    once = solved_without(H, X.T, is_out)
    twice = once + solved_without(H, X.T - information @ once, is_out)

    def on(rows: Rows) -> OnRows:
        C, block = functions(rows), Z[rows]
        P = block @ own
        PA = P @ A
        given_back = np.sum(PA * (2 * (block @ own_R) + PA @ own_size), axis=1)
        cleared, again = ((C - (block @ x).T)[None] for x in (once, twice))
        return OnRows(cleared, again, one.r[rows].T, (left[rows] + given_back)[None])

    inner, squared = (raw - X @ coefficients for coefficients in (once, twice))
    sizes = (U[None], inner[None], squared[None], raw[None])
    return Cleared(on, *sizes, weight, design.run, False)


@dataclass(frozen=True)
class Without:
    """The additive model without one feature: its means, and residuals cleared of the others."""

    feature: int
    is_out: Mask  # (n_logits * m,)
    mu: Array  # (n, n_logits)
    r: Array  # (n, n_logits)


def models_without(
    model: NullModel, features: Codes, inverse: Array, refit_inverse: Array
) -> list[Without]:
    """The models without one of the features each; r = e - V Z_o H_o Z_o' e.

    The inverses are H with the penalty of the fit, and with that of the refit.
    """
    design, Z, Y = model.design, model.Z, model.design.outcome.Y
    family, (m, n_logits), n = design.outcome.family, model.coefficients.shape, len(features)
    outs = [np.tile(model.owner == a, n_logits) for a in features]
    flat = model.coefficients.T.ravel()
    # About what a fit with these coefficients held at 0 would give: one Newton step.
    held = np.array([held_at_zero(inverse, flat, is_out) for is_out in outs])
    means = [family.means(own) for own in np.split(Z @ held.reshape(-1, m).T, n, axis=1)]
    errors = np.column_stack([Y - mu for mu in means])
    gradients = transposed_product(Z, design.weight[:, None] * errors).T.reshape(n, -1)
    steps = np.array([solved_without(refit_inverse, *own) for own in zip(gradients, outs)])
    moved = np.split(Z @ steps.reshape(-1, m).T, n, axis=1)
    return [
        Without(a, is_out, mu, Y - mu - family.moved(mu, step[:, :, None])[:, :, 0])
        for a, is_out, mu, step in zip(features.tolist(), outs, means, moved)
    ]


def _sums_without(
    model: NullModel, n_logits: int, without: list[Without], inverse: Array
) -> tuple[Array, ...]:
    """Sums over rows, for every model and logit in turn.

    C r, the covariance of C alone and cleared of what the other features explain of it, fourth
    cumulants, and what residuals should and do vary.
    """
    design, family = model.design, model.design.outcome.family
    m = model.Z.shape[1]
    cases = [(one, c) for one in without for c in range(n_logits)]

    def functions(one: Without, rows: slice) -> Array:
        return term_columns(design, np.array([[one.feature]]), rows)[0]

    def outer_products(rows: slice, Z: Array) -> tuple[Array, ...]:
        """B = Z'VC, the blocks of all logits below each other."""
        weight, found = design.weight[rows], []
        for one, c in cases:
            C, mu = functions(one, rows), one.mu[rows]
            VC = [family.spread(mu, weight, d, c, C.T) for d in range(n_logits)]
            found.append(np.vstack([Z.T @ columns for columns in VC]))
        return tuple(found)

    B = block_sum(model.Z, outer_products)
    # X = H_o Z'VC: what the others explain of the functions.
    X = [solved_without(inverse, b, one.is_out) for b, (one, _) in zip(B, cases)]

    def sums(rows: slice, Z: Array) -> tuple[Array, ...]:
        weight, found = design.weight[rows], []
        for (one, c), x in zip(cases, X):
            C, mu, r = functions(one, rows), one.mu[rows], one.r[rows, c]
            # (n, n_logits, k): the functions belong to logit c, their projections to all.
            cleared = -np.matmul(Z, x.reshape(n_logits, m, -1)).transpose(1, 0, 2)
            cleared[:, c] += C.T
            moved = family.moved(mu, cleared)
            variance, fourth_cumulant = family.cumulants(mu, weight, c)
            S = np.tensordot(weight[:, None, None] * cleared, moved, ((0, 1), (0, 1)))
            raw, size = (C * variance) @ C.T, (np.sum(variance), weight @ r**2)
            found.append((C @ (weight * r), raw, S, C**4 @ fourth_cumulant, *size))
        return tuple(np.array(parts) for parts in zip(*found))

    return block_sum(model.Z, sums)


def copied_functions(design: Design, features: Codes) -> Mask:
    """Which functions of each of the features another one of them has as well: (f, k)."""
    weight, n = design.weight, len(features)
    n_columns = n * (design.is_low.shape[1] + N_SINGLE)

    def products(rows: slice) -> tuple[Array]:
        C = term_columns(design, features[:, None], rows).transpose(1, 0, 2)  # (k, f, n)
        return (np.matmul(C * weight[rows], C.transpose(0, 2, 1)),)

    (likeness,) = row_sum(products, len(weight), n_columns, design.run)  # (k, f, f)
    size = np.sqrt(np.maximum(np.einsum("kff->kf", likeness), TINY))
    likeness = (likeness / size[:, :, None] / size[:, None, :]) ** 2
    # Every function is like itself.
    likeness[:, np.arange(n), np.arange(n)] = 0.0
    return np.asarray(likeness.max(axis=2, initial=0.0).T > MOST_EXPLAINED)


def solved_without(H: Array, right: Array, is_out: Mask) -> Array:
    """H_o times the rows of `right` that are not left out, 0 in the others."""
    right = right.copy()
    right[is_out] = 0.0
    return held_at_zero(H, H @ right, is_out)


def held_at_zero(H: Array, values: Array, is_out: Mask) -> Array:
    """Coefficients of a fit whose inverse information is H, with some of them held at 0."""
    left = values - H[:, is_out] @ np.linalg.solve(H[np.ix_(is_out, is_out)], values[is_out])
    left[is_out] = 0.0
    return left
