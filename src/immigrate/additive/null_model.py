"""The null model: the logit, or the mean of a number, is a sum of functions of single features.

A ridge on the columns of `Design.additive_columns`. Its strength is chosen by the deviance in
cross-validation. Where there are too many columns for the samples, only the features with the
strongest main effects enter; how many is chosen in the same cross-validation, with the choice
repeated inside each fold. The functions are smooth; features that show a rougher effect get more
columns, and the model is fitted again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from immigrate.additive.cleared import EstimatedContrast, cleared_terms, left_rows
from immigrate.additive.design import Design, term_columns, term_squares
from immigrate.additive.estimated import estimated_evidence, forms_of, spreads_of
from immigrate.additive.moments import Contrast, known, moments_by_rows
from immigrate.additive.p_values import log_three_moment_tail, score_log_p
from immigrate.additive.residuals import Draws, contrasts_of
from immigrate.additive.ridge import (
    Choice,
    chosen_strength,
    coefficients_of_all,
    folds_of,
    intercept_choice,
    ridge_coefficients,
    sample_for_folds,
)
from immigrate.additive.rows import Columns, LazyColumns, Rows, beside, kept_numbers
from immigrate.arrays import Array, Codes

# A feature with a smaller p for its rough columns gets them.
ROUGH_BELOW = 0.01
# The refit that clears the residuals of main effects has a share of the penalty of the fit.
# With all of it, main effects left in the residuals raised the family-wise error rate to .23; for
# features that clearly have one, even a tenth leaves enough to show in pairs of correlates.
SHARE_IN_REFIT, EVIDENT_SHARE_IN_REFIT = 0.2, 0.01
# Evident: p below the first, and among many features so small that chance passes few of them.
EVIDENT_BELOW, EVIDENT_BY_CHANCE = 0.01, 0.15
# More columns than this share of the samples, and features are screened first.
MOST_COLUMNS_PER_SAMPLE = 0.5
SCREENED_COUNTS = (3, 6, 10, 20, 40, 80, 160)
# Columns of a pair that was found are penalised little: its effect is known to be there. With 1,
# what the penalty left of a pair without noise (MONK-1) was taken for further pairs.
FOUND_TERM_STRENGTH = 0.3
# Arrays of the size of the columns that are there at once where variances are estimated.
ARRAYS_TOGETHER = 8


@dataclass(frozen=True)
class AdditiveModel:
    """A sum of main effects, as a fitted test keeps it.

    Attributes
    ----------
    features : ndarray
        Indices of the features in the model.
    strength : float
        Ridge penalty.
    deviance, intercept_deviance : float
        Cross-validated deviance per unit of weight, and that of the class shares alone.
    coefficients : ndarray of shape (m, n_logits)
    means : ndarray of shape (n, n_logits)
        Fitted mu: probabilities of the classes, or numbers in units of their deviation.
    deviance_explained : float
        Share of the deviance that main effects explain on held-out samples, at least 0.
    """

    features: Codes
    strength: float
    deviance: float
    intercept_deviance: float
    coefficients: Array = field(repr=False)
    means: Array = field(repr=False)
    deviance_explained: float


@dataclass(frozen=True, eq=False)
class NullModel(AdditiveModel):
    """What the test takes for granted: a sum of main effects, plus the terms found so far.

    Attributes
    ----------
    design : Design
        The samples, with the rough basis for the features that need it.
    Z : columns of shape (n, m)
    owner : ndarray of shape (m,)
        The feature that each column belongs to; -1 for the intercept and for terms.
    penalty, refit_penalty : ndarray of shape (m,)
    terms : tuple of tuple
        Pairs or triples that were added.
    """

    design: Design = field(repr=False)
    Z: Columns = field(repr=False)
    owner: Codes = field(repr=False)
    penalty: Array = field(repr=False)
    refit_penalty: Array = field(repr=False)
    terms: tuple[tuple[int, ...], ...] = ()

    def contrasts(self, draws: Draws | None = None) -> Sequence[Contrast]:
        """Cleaned residuals of the labels and of labels drawn from this model, per logit."""
        data, family = self.design, self.design.outcome.family
        return contrasts_of(
            self.Z, data.outcome.Y, self.means, data.weight, self.refit_penalty, family, draws
        )


def null_model(design: Design) -> NullModel:
    """The additive model, with the rough basis for the features that need it."""
    model = fitted_additive_model(design)
    rough = rough_features(model)
    return fitted_additive_model(design.with_rough(rough)) if rough else model


def fitted_additive_model(design: Design) -> NullModel:
    """The additive model with penalty, and where needed number of features, chosen by CV."""
    if design.n_columns.sum() > MOST_COLUMNS_PER_SAMPLE * design.n:
        return _screened_model(design)
    return fitted_on(design, np.arange(len(design.levels)))


def fitted_on(design: Design, features: Codes) -> NullModel:
    """The additive model of these features, or of none, with its penalty chosen."""
    sample = sample_for_folds(design)
    in_fold = folds_of(sample)
    intercept = best = intercept_choice(sample, in_fold)
    if len(features):
        Z, penalty, _ = sample.additive_columns(features)
        best = chosen_strength(sample, Z, penalty, in_fold)
    return _fitted(design, sample, features, best, intercept)


def _fitted(
    design: Design, sample: Design, features: Codes, best: Choice, intercept: Choice
) -> NullModel:
    """The model of all samples, with the strength that `sample` has chosen."""
    Z, penalty, owner = design.additive_columns(features)
    penalty = best.strength * penalty
    evident = [*evident_features(design), *design.adjusted]
    share = np.where(np.isin(owner, evident), EVIDENT_SHARE_IN_REFIT, SHARE_IN_REFIT)
    near = Z if sample is design else sample.additive_columns(features)[0]
    beta = coefficients_of_all(design, Z, sample, near, penalty)
    deviance, intercept_deviance = best.deviance / sample.n, intercept.deviance / sample.n
    return NullModel(
        features=features,
        strength=best.strength,
        deviance=deviance,
        intercept_deviance=intercept_deviance,
        coefficients=beta,
        means=design.outcome.family.means(Z @ beta),
        deviance_explained=max(0.0, 1 - deviance / max(intercept_deviance, 1e-300)),
        design=design,
        Z=Z,
        owner=owner,
        penalty=penalty,
        refit_penalty=share * penalty,
    )


def _screened_model(design: Design) -> NullModel:
    """Model on the features with the strongest main effects, as many as CV asks for."""
    sample = sample_for_folds(design)
    in_fold = folds_of(sample)
    intercept = intercept_choice(sample, in_fold)
    adjusted = np.array(sorted(design.adjusted), dtype=np.intp)
    orders = [_main_effect_order(sample, sample.weight - held_out) for held_out in in_fold.T]
    best, best_count = intercept, 0
    # What is adjusted for is in the model whatever it costs.
    for count in (0, *SCREENED_COUNTS) if len(adjusted) else SCREENED_COUNTS:
        chosen = [np.concatenate([adjusted, order[:count]]) for order in orders]
        Z, penalty, owner = sample.additive_columns(np.unique(np.concatenate(chosen)))
        columns = [np.flatnonzero((owner < 0) | np.isin(owner, own)) for own in chosen]
        if count and max(map(len, columns)) > MOST_COLUMNS_PER_SAMPLE * sample.n:
            break
        choice = chosen_strength(sample, Z, penalty, in_fold, columns=columns)
        if choice.deviance < best.deviance or count == 0:
            best, best_count = choice, count
    # The folds have chosen how many features; which ones is decided on all samples.
    strongest = _main_effect_order(design, design.weight)[:best_count]
    features = np.sort(np.concatenate([adjusted, strongest]))
    return _fitted(design, sample, features, best, intercept)


def _main_effect_order(design: Design, weight: Array) -> Codes:
    """Features that terms are made of, those with the strongest main effects first."""
    tested = design.tested
    return tested[np.argsort(main_effect_log_p(design, weight)[tested], kind="stable")]


def evident_features(design: Design) -> Codes:
    """Indices of the features that clearly have a main effect."""
    highest_p = min(EVIDENT_BELOW, EVIDENT_BY_CHANCE / max(len(design.levels), 1))
    return np.flatnonzero(main_effect_log_p(design, design.weight) < np.log(highest_p))


def main_effect_log_p(design: Design, weight: Array) -> Array:
    """Log p of each feature's own kernel statistic, for choosing which enter the model."""
    e = design.outcome.Y - np.average(design.outcome.Y, axis=0, weights=weight)
    spread = np.average(e**2, axis=0, weights=weight).sum()
    p, n_columns = design.is_low.shape
    q, size = np.empty(p), np.empty((p, n_columns))
    # Two arrays of this size at a time: phi and its square.
    n_together = max(1, int(kept_numbers() / (2 * max(n_columns, 1) * len(weight))))
    for start in range(0, p, n_together):
        own = np.arange(start, min(start + n_together, p))
        phi = design.phi_of(own)
        q[own] = np.sum((phi @ (weight[:, None] * e)) ** 2, axis=(1, 2))
        size[own] = spread * (phi**2 @ weight)  # (p, k)
    return log_three_moment_tail(q, (size.sum(1), (size**2).sum(1), (size**3).sum(1)))


def rough_features(model: NullModel) -> frozenset[int]:
    """Features of the model whose main effect the rough basis follows significantly better."""
    design = model.design
    finer = design.with_rough(frozenset(model.features.tolist()))
    # As many columns are the same columns.
    features = model.features[(design.n_columns != finer.n_columns)[model.features]].tolist()
    if not features:
        return frozenset()
    contrasts = model.contrasts()
    log_p = np.concatenate(
        [scores_beside(design, finer, own, contrasts) for own in feature_blocks(finer, features)]
    )
    is_rough = log_p < np.log(ROUGH_BELOW / len(contrasts))
    return frozenset(a for a, one in zip(features, is_rough) if one)


def feature_blocks(design: Design, features: list[int]) -> list[list[int]]:
    """Features one by one, or as many together as have room with all samples at once."""
    room = kept_numbers() / ARRAYS_TOGETHER / len(design.weight) / design.n_columns.max()
    together = max(int(room), 1) if design.outcome.family.is_estimated else 1
    return [features[i : i + together] for i in range(0, len(features), together)]


def scores_beside(
    design: Design, finer: Design, features: list[int], contrasts: Sequence[Contrast]
) -> Array:
    """Log p, the least over logits, of finer columns of features beside those of the design."""
    first = contrasts[0]
    if not isinstance(first, EstimatedContrast):
        C, G = (which.main_effect(features[0]).of for which in (finer, design))
        moments = moments_by_rows(C, G, known(contrasts), design.run)
        return np.array([min(score_log_p(one.U, one.S, one.raw)[0, 0] for one in moments)])

    def columns(which: Design, rows: Rows) -> Array:
        own = [which.main_effect(a).of(rows) for a in features]
        padded = np.zeros((len(own), max(map(len, own)), own[0].shape[1]))
        for row, values in zip(padded, own):
            row[: len(values)] = values
        return padded

    def main_effects(rows: Rows) -> Array:
        G = columns(design, rows)
        return G.reshape(-1, G.shape[2])

    run, is_short = design.run, not isinstance(first.Z, LazyColumns)
    own = left_rows(main_effects, first, run, is_short)
    place = np.arange(len(own.U)).reshape(len(features), -1)
    cleared = cleared_terms(partial(columns, finer), own, place, run, is_short)
    spreads = spreads_of(design.variance_groups, np.array(features)[:, None])
    return estimated_evidence(cleared, forms_of(cleared, None, 0), spreads).log_p[0, :, 0]


def with_term(model: NullModel, term: tuple[int, ...]) -> NullModel:
    """The model with the product columns of a found term added, refitted."""
    design, family, terms = model.design, model.design.outcome.family, np.array([term])
    # Columns that are zero for all samples are none.
    is_real = np.flatnonzero(term_squares(design, terms)[0])
    part = [lambda rows: term_columns(design, terms, rows)[0][is_real]]
    own_penalty = np.full(len(is_real), FOUND_TERM_STRENGTH)
    penalty = np.concatenate([model.penalty, own_penalty])
    Z = beside(model.Z, part, len(penalty))
    start = np.zeros((len(penalty), design.outcome.Y.shape[1]))
    start[: len(model.coefficients)] = model.coefficients
    beta = ridge_coefficients(Z, design.outcome.Y, design.weight, penalty, start, family=family)
    return replace(
        model,
        Z=Z,
        owner=np.concatenate([model.owner, np.full(len(is_real), -1)]),
        penalty=penalty,
        refit_penalty=np.concatenate([model.refit_penalty, SHARE_IN_REFIT * own_penalty]),
        coefficients=beta,
        means=family.means(Z @ beta),
        terms=(*model.terms, term),
    )
