"""The null model: the logit, or the mean of a number, is a sum of functions of single features.

A ridge on the columns of ``encoding.additive_columns``. Its strength is chosen by the
deviance in cross-validation. Where there are too many columns for the samples, only the
features with the strongest main effects enter; how many is chosen in the same
cross-validation, with the choice repeated inside each fold. The functions are smooth;
features that show a rougher effect get more columns, and the model is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from immigrate.inference.encoding import Encoded
from immigrate.inference.folds import N_FOLDS, fold_weights
from immigrate.inference.links import LOGIT, Link
from immigrate.inference.null_distributions import log_three_moment_tail
from immigrate.inference.residuals import Contrast, Draws, refit
from immigrate.inference.ridge import ridge_coefficients
from immigrate.inference.term_columns import term_columns
from immigrate.inference.term_forms import score_log_p
from immigrate.inference.term_moments import cleared_moments
from immigrate.typing import Array, Codes

STRENGTHS = (400.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
CROSS_VALIDATION_TOLERANCE = 1e-4
# A feature with a smaller p for its rough columns gets them.
ROUGH_BELOW = 0.01
# The refit that clears the residuals of main effects has a share of the penalty of the fit.
# With all of it, main effects left in the residuals raised the family-wise error to .23; for
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


@dataclass(frozen=True)
class AdditiveModel:
    """What the test takes for granted: a sum of main effects, plus the terms found so far.

    Attributes
    ----------
    features : ndarray
        Indices of the features in the model.
    strength : float
        Ridge penalty.
    deviance, intercept_deviance : float
        Cross-validated deviance per unit of weight, and that of the class shares alone.
    means : ndarray of shape (n, n_logits)
        Fitted mu: probabilities of the classes, or numbers in units of their deviation.
    terms : list of tuple
        Pairs or triples that were added.
    """

    features: Codes
    strength: float
    deviance: float
    intercept_deviance: float
    Z: Array = field(repr=False)
    penalty: Array = field(repr=False)
    refit_penalty: Array = field(repr=False)
    coefficients: Array = field(repr=False)
    means: Array = field(repr=False)
    terms: tuple[tuple[int, ...], ...] = ()
    link: Link = field(default=LOGIT, repr=False)

    @property
    def deviance_explained(self) -> float:
        """Share of the deviance that main effects explain on held-out samples, at least 0."""
        return max(0.0, 1 - self.deviance / max(self.intercept_deviance, 1e-300))

    def contrasts(self, data: Encoded, draws: Draws | None = None) -> list[Contrast]:
        """Cleaned residuals of the labels and of labels drawn from this model, per logit."""
        own = refit(self.Z, self.means, data.weight, self.refit_penalty, self.link)
        labels = data.Y[:, :, None]
        if draws is not None:
            labels = np.concatenate([labels, own.drawn(labels, draws)], axis=2)
        return own.contrasts(labels)


@dataclass(frozen=True)
class _Part:
    """The samples of one side of a fold."""

    Z: Array
    Y: Array
    weight: Array
    link: Link

    def coefficients(self, penalty: Array, start: Array) -> Array:
        tolerance = CROSS_VALIDATION_TOLERANCE
        return ridge_coefficients(
            self.Z, self.Y, self.weight, penalty, start, link=self.link, tolerance=tolerance
        )

    def deviance(self, beta: Array) -> float:
        return self.link.deviance(self.Y, self.Z @ beta, self.weight)


@dataclass(frozen=True)
class _Path:
    """Best point of one cross-validated path of penalties."""

    deviance: float
    strength: float


def design(data: Encoded, features: Codes) -> tuple[Array, Array, Codes]:
    """Z = [1, columns of the features] (n, m), relative penalties and the owner of each column."""
    blocks = [data.additive_columns(a) for a in features]
    Z = np.vstack([np.ones((1, len(data.weight))), *(block.values for block in blocks)]).T
    penalty = np.concatenate([[0.0], *(block.penalty for block in blocks)])
    owner = np.concatenate(
        [[-1], *(np.full(len(b.penalty), a) for a, b in zip(features, blocks))]
    ).astype(int)
    return np.ascontiguousarray(Z), penalty, owner


def main_effect_log_p(data: Encoded, weight: Array) -> Array:
    """Log p of each feature's own kernel statistic, for choosing which enter the model."""
    Y = data.Y
    e = Y - np.average(Y, axis=0, weights=weight)
    spread = np.average(e**2, axis=0, weights=weight).sum()
    phi = data.functions.phi
    q = np.sum((phi @ (weight[:, None] * e)) ** 2, axis=(1, 2))
    size = spread * (phi**2 @ weight)  # (p, k)
    return log_three_moment_tail(q, (size.sum(1), (size**2).sum(1), (size**3).sum(1)))


def evident_features(data: Encoded) -> Codes:
    """Indices of the features that clearly have a main effect."""
    highest_p = min(EVIDENT_BELOW, EVIDENT_BY_CHANCE / max(len(data.levels), 1))
    return np.flatnonzero(main_effect_log_p(data, data.weight) < np.log(highest_p))


def _part(data: Encoded, Z: Array, weight: Array) -> _Part:
    is_used = weight > 0
    return _Part(Z[is_used], data.Y[is_used], weight[is_used], data.outcome.link)


def _path(
    data: Encoded,
    Z: Array,
    penalty: Array,
    columns: list[Codes],
    in_fold: Array,
    fixed: Array | float = 0.0,
) -> _Path:
    """Penalty with the smallest held-out deviance; `columns` are those each fold may use.

    `fixed` is a part of the penalty that is not chosen.
    """
    fixed = np.broadcast_to(fixed, len(penalty))
    folds = list(zip(columns, in_fold.T))
    train = [_part(data, Z[:, own], data.weight - held_out) for own, held_out in folds]
    test = [_part(data, Z[:, own], held_out) for own, held_out in folds]
    starts = [np.zeros((len(own), data.Y.shape[1])) for own in columns]
    best, n_rises = _Path(np.inf, STRENGTHS[0]), 0
    for strength in STRENGTHS:
        total = 0.0
        for f, own in enumerate(columns):
            own_penalty = strength * penalty[own] + fixed[own]
            starts[f] = train[f].coefficients(own_penalty, starts[f])
            total += test[f].deviance(starts[f])
        n_rises = 0 if total < best.deviance else n_rises + 1
        if total < best.deviance:
            best = _Path(total, strength)
        # Weaker penalties only over-fit further.
        if n_rises == 2:
            break
    return best


def _fitted(data: Encoded, features: Codes, path: _Path, intercept: float) -> AdditiveModel:
    Z, penalty, owner = design(data, features)
    penalty = path.strength * penalty
    start = np.zeros((Z.shape[1], data.Y.shape[1]))
    link = data.outcome.link
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=link)
    evident = [*evident_features(data), *data.adjusted]
    share = np.where(np.isin(owner, evident), EVIDENT_SHARE_IN_REFIT, SHARE_IN_REFIT)
    total = data.weight.sum()
    return AdditiveModel(
        features=features,
        strength=path.strength,
        deviance=path.deviance / total,
        intercept_deviance=intercept / total,
        Z=Z,
        penalty=penalty,
        refit_penalty=share * penalty,
        coefficients=beta,
        means=link.means(Z @ beta),
        link=link,
    )


def null_model(data: Encoded) -> tuple[Encoded, AdditiveModel]:
    """The additive model, and the data with the rough basis for the features that need it."""
    model = fitted_additive_model(data)
    rough = rough_features(data, model)
    if not rough:
        return data, model
    data = replace(data, rough=rough)
    return data, fitted_additive_model(data)


def rough_features(data: Encoded, model: AdditiveModel) -> frozenset[int]:
    """Features of the model whose main effect the rough basis follows significantly better."""
    features = model.features.tolist()
    rough, contrasts = replace(data, rough=frozenset(features)), model.contrasts(data)

    def is_rough(a: int) -> bool:
        C, G = (which.additive_columns(a).values[None] for which in (rough, data))
        moments = [cleared_moments(C, G, contrast) for contrast in contrasts]
        log_p = min(score_log_p(one)[0, 0] for one in moments)
        return bool(log_p < np.log(ROUGH_BELOW / len(contrasts)))

    return frozenset(filter(is_rough, features))


def folds_of(data: Encoded) -> Array:
    """How much of each sample's weight is in each fold."""
    codes = np.array([levels.code for levels in data.levels]).reshape(-1, len(data.weight)).T
    is_nominal = [levels.is_nominal for levels in data.levels]
    return fold_weights(codes, data.outcome.strata, data.weight, is_nominal)


def chosen_strength(data: Encoded, Z: Array, relative: Array, fixed: Array) -> float:
    """The strength with the smallest held-out deviance of any columns Z."""
    columns = [np.arange(Z.shape[1])] * N_FOLDS
    return _path(data, Z, relative, columns, folds_of(data), fixed).strength


def held_out_deviance(data: Encoded, Z: Array, penalty: Array, in_fold: Array) -> float:
    """Cross-validated deviance of columns Z with a given penalty."""
    total = 0.0
    for held_out in in_fold.T:
        start = np.zeros((Z.shape[1], data.Y.shape[1]))
        beta = _part(data, Z, data.weight - held_out).coefficients(penalty, start)
        total += _part(data, Z, held_out).deviance(beta)
    return total


def _intercept_path(data: Encoded, in_fold: Array) -> _Path:
    """The model of the class shares, or of the mean, alone."""
    ones = np.ones((len(data.weight), 1))
    return _path(data, ones, np.zeros(1), [np.array([0])] * N_FOLDS, in_fold)


def fitted_on(data: Encoded, features: Codes) -> AdditiveModel:
    """The additive model of these features, or of none, with its penalty chosen."""
    in_fold = folds_of(data)
    intercept = _intercept_path(data, in_fold)
    if not len(features):
        return _fitted(data, features, intercept, intercept.deviance)
    Z, penalty, _ = design(data, features)
    path = _path(data, Z, penalty, [np.arange(Z.shape[1])] * N_FOLDS, in_fold)
    return _fitted(data, features, path, intercept.deviance)


def fitted_additive_model(data: Encoded) -> AdditiveModel:
    """The additive model with penalty, and where needed number of features, chosen by CV."""
    n_columns = sum(map(data.n_additive_columns, range(len(data.levels))))
    if n_columns > MOST_COLUMNS_PER_SAMPLE * data.n:
        return _screened_model(data)
    return fitted_on(data, np.arange(len(data.levels)))


def _screened_model(data: Encoded) -> AdditiveModel:
    """Model on the features with the strongest main effects, as many as CV asks for."""
    in_fold = folds_of(data)
    intercept = _intercept_path(data, in_fold)
    adjusted = np.array(sorted(data.adjusted), dtype=np.intp)
    orders = [_main_effect_order(data, data.weight - held_out) for held_out in in_fold.T]
    best, best_count = intercept, 0
    # What is adjusted for is in the model whatever it costs.
    for count in (0, *SCREENED_COUNTS) if len(adjusted) else SCREENED_COUNTS:
        chosen = [np.concatenate([adjusted, order[:count]]) for order in orders]
        Z, penalty, owner = design(data, np.unique(np.concatenate(chosen)))
        columns = [np.flatnonzero((owner < 0) | np.isin(owner, own)) for own in chosen]
        if count and max(map(len, columns)) > MOST_COLUMNS_PER_SAMPLE * data.n:
            break
        path = _path(data, Z, penalty, columns, in_fold)
        if path.deviance < best.deviance or count == 0:
            best, best_count = path, count
    features = np.concatenate([adjusted, _main_effect_order(data, data.weight)[:best_count]])
    return _fitted(data, np.sort(features), best, intercept.deviance)


def _main_effect_order(data: Encoded, weight: Array) -> Codes:
    """Features that terms are made of, those with the strongest main effects first."""
    tested = data.tested
    return tested[np.argsort(main_effect_log_p(data, weight)[tested], kind="stable")]


def with_term(model: AdditiveModel, data: Encoded, term: tuple[int, ...]) -> AdditiveModel:
    """The model with the product columns of a found term added, refitted."""
    columns = term_columns(data.functions, np.array([term]))[0]
    columns = columns[np.any(columns != 0, axis=1)]
    Z = np.column_stack([model.Z, columns.T])
    own_penalty = np.full(len(columns), FOUND_TERM_STRENGTH)
    penalty = np.concatenate([model.penalty, own_penalty])
    start = np.vstack([model.coefficients, np.zeros((len(columns), data.Y.shape[1]))])
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=model.link)
    return replace(
        model,
        Z=Z,
        penalty=penalty,
        refit_penalty=np.concatenate([model.refit_penalty, SHARE_IN_REFIT * own_penalty]),
        coefficients=beta,
        means=model.link.means(Z @ beta),
        terms=(*model.terms, term),
    )
