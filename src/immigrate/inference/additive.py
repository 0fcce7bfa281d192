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

from immigrate.arrays import Array, Codes
from immigrate.inference.encoding import Encoded
from immigrate.inference.folds import N_FOLDS, fold_weights, row_order
from immigrate.inference.links import LOGIT, Link
from immigrate.inference.main_effect_columns import has_same_columns
from immigrate.inference.null_distributions import log_three_moment_tail
from immigrate.inference.residuals import Contrast, Draws, refit
from immigrate.inference.ridge import ridge_coefficients
from immigrate.inference.rows import (
    Columns,
    LazyColumns,
    Rows,
    beside,
    fits_whole,
    kept_bytes,
    product,
)
from immigrate.inference.term_columns import term_columns, term_squares
from immigrate.inference.term_forms import score_log_p
from immigrate.inference.term_moments import moments_by_rows

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
# Samples that take part in cross-validation, at most.
MOST_IN_FOLDS = 20_000


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
    Z: Columns = field(repr=False)
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

    Z: Columns
    Y: Array
    weight: Array
    link: Link

    def coefficients(self, penalty: Array, start: Array) -> Array:
        tolerance = CROSS_VALIDATION_TOLERANCE
        return ridge_coefficients(
            self.Z, self.Y, self.weight, penalty, start, link=self.link, tolerance=tolerance
        )

    def deviance(self, beta: Array) -> float:
        return self.link.deviance(self.Y, product(self.Z, beta), self.weight)


@dataclass(frozen=True)
class _Path:
    """Best point of one cross-validated path of penalties; the deviance is of all its samples."""

    deviance: float
    strength: float


def design(data: Encoded, features: Codes) -> tuple[Columns, Array, Codes]:
    """Z = [1, columns of the features] (n, m), relative penalties and the owner of each column."""
    effects = [data.main_effect(int(a)) for a in features]
    penalty = np.concatenate([[0.0], *(effect.penalty for effect in effects)])
    owner = np.concatenate(
        [[-1], *(np.full(len(one.penalty), a) for a, one in zip(features, effects))]
    ).astype(int)

    def ones(rows: Rows) -> Array:
        return np.ones((1, len(data.weight[rows])))

    parts = (ones, *(effect.of for effect in effects))
    Z = LazyColumns(parts, (len(data.weight), len(penalty)), data.run)
    return np.ascontiguousarray(Z[:]) if fits_whole(*Z.shape) else Z, penalty, owner


def main_effect_log_p(data: Encoded, weight: Array) -> Array:
    """Log p of each feature's own kernel statistic, for choosing which enter the model."""
    Y = data.Y
    e = Y - np.average(Y, axis=0, weights=weight)
    spread = np.average(e**2, axis=0, weights=weight).sum()
    n_columns = data.functions.is_low.shape[1]
    q, size = np.empty(len(data.levels)), np.empty((len(data.levels), n_columns))
    # Two arrays of this size at a time, of 8 bytes each: phi and its square.
    n_together = max(1, int(kept_bytes() / (16 * max(n_columns, 1) * len(weight))))
    for start in range(0, len(data.levels), n_together):
        own = np.arange(start, min(start + n_together, len(data.levels)))
        phi = data.functions.phi_of(own)
        q[own] = np.sum((phi @ (weight[:, None] * e)) ** 2, axis=(1, 2))
        size[own] = spread * (phi**2 @ weight)  # (p, k)
    return log_three_moment_tail(q, (size.sum(1), (size**2).sum(1), (size**3).sum(1)))


def evident_features(data: Encoded) -> Codes:
    """Indices of the features that clearly have a main effect."""
    highest_p = min(EVIDENT_BELOW, EVIDENT_BY_CHANCE / max(len(data.levels), 1))
    return np.flatnonzero(main_effect_log_p(data, data.weight) < np.log(highest_p))


def _part(data: Encoded, Z: Columns, own: Codes, weight: Array) -> _Part:
    """Some columns of Z, and the samples that have a weight."""
    if isinstance(Z, LazyColumns):
        return _Part(Z.chosen(own), data.Y, weight, data.outcome.link)
    Z, is_used = Z[:, own], weight > 0
    return _Part(Z[is_used], data.Y[is_used], weight[is_used], data.outcome.link)


def _path(
    data: Encoded,
    Z: Columns,
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
    train = [_part(data, Z, own, data.weight - held_out) for own, held_out in folds]
    test = [_part(data, Z, own, held_out) for own, held_out in folds]
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


def _fitted(
    data: Encoded, sample: Encoded, features: Codes, path: _Path, intercept: float
) -> AdditiveModel:
    """The model of all samples, with the strength that `sample` has chosen."""
    Z, penalty, owner = design(data, features)
    penalty = path.strength * penalty
    start = np.zeros((Z.shape[1], data.Y.shape[1]))
    link = data.outcome.link
    if sample is not data:
        # A pass over all samples is long; a start close to the end saves some.
        near = design(sample, features)[0]
        start = ridge_coefficients(near, sample.Y, sample.weight, penalty, start, link=link)
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=link)
    means = link.means(product(Z, beta))
    evident = [*evident_features(data), *data.adjusted]
    share = np.where(np.isin(owner, evident), EVIDENT_SHARE_IN_REFIT, SHARE_IN_REFIT)
    total = sample.weight.sum()
    return AdditiveModel(
        features=features,
        strength=path.strength,
        deviance=path.deviance / total,
        intercept_deviance=intercept / total,
        Z=Z,
        penalty=penalty,
        refit_penalty=share * penalty,
        coefficients=beta,
        means=means,
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
    finer = replace(data, rough=frozenset(model.features.tolist()))
    features = [
        a
        for a in model.features.tolist()
        if not has_same_columns(data.levels[a], data.basis(a), finer.basis(a))
    ]
    if not features:
        return frozenset()
    contrasts = model.contrasts(data)

    def is_rough(a: int) -> bool:
        C, G = (which.main_effect(a).of for which in (finer, data))
        moments = moments_by_rows(C, G, contrasts, data.run)
        log_p = min(score_log_p(one)[0, 0] for one in moments)
        return bool(log_p < np.log(ROUGH_BELOW / len(contrasts)))

    return frozenset(filter(is_rough, features))


def folds_of(data: Encoded) -> Array:
    """How much of each sample's weight is in each fold."""
    return fold_weights(*_in_them(data))


def _in_them(data: Encoded) -> tuple[Codes, Codes, Array, list[bool]]:
    """What the order of samples depends on."""
    codes: Codes = np.array([levels.code for levels in data.levels], dtype=np.int32)
    codes = codes.reshape(-1, len(data.weight)).T
    is_nominal = [levels.is_nominal for levels in data.levels]
    return codes, data.outcome.strata, data.weight, is_nominal


def sample_for_folds(data: Encoded) -> Encoded:
    """The samples that cross-validation uses: all, or of very many a share of each class.

    What is chosen by it, the strength of a penalty, hardly depends on further samples; all tests
    and fits are of all samples. Which ones are chosen depends on the data alone.
    """
    n = len(data.weight)
    if n <= MOST_IN_FOLDS:
        return data
    order = row_order(*_in_them(data))
    chosen = order[np.linspace(0, n - 1, MOST_IN_FOLDS).astype(np.intp)]
    return data.samples(np.sort(chosen))


def chosen_strength(data: Encoded, Z: Columns, relative: Array, fixed: Array) -> float:
    """The strength with the smallest held-out deviance of any columns Z of the samples."""
    columns = [np.arange(Z.shape[1])] * N_FOLDS
    return _path(data, Z, relative, columns, folds_of(data), fixed).strength


def held_out_deviance(data: Encoded, Z: Columns, penalty: Array, in_fold: Array) -> float:
    """Cross-validated deviance of columns Z with a given penalty."""
    total = 0.0
    for held_out in in_fold.T:
        start, own = np.zeros((Z.shape[1], data.Y.shape[1])), np.arange(Z.shape[1])
        beta = _part(data, Z, own, data.weight - held_out).coefficients(penalty, start)
        total += _part(data, Z, own, held_out).deviance(beta)
    return total


def _intercept_path(data: Encoded, in_fold: Array) -> _Path:
    """The model of the class shares, or of the mean, alone."""
    ones = np.ones((len(data.weight), 1))
    return _path(data, ones, np.zeros(1), [np.array([0])] * N_FOLDS, in_fold)


def fitted_on(data: Encoded, features: Codes) -> AdditiveModel:
    """The additive model of these features, or of none, with its penalty chosen."""
    sample = sample_for_folds(data)
    in_fold = folds_of(sample)
    intercept = _intercept_path(sample, in_fold)
    if not len(features):
        return _fitted(data, sample, features, intercept, intercept.deviance)
    Z, penalty, _ = design(sample, features)
    path = _path(sample, Z, penalty, [np.arange(Z.shape[1])] * N_FOLDS, in_fold)
    return _fitted(data, sample, features, path, intercept.deviance)


def fitted_additive_model(data: Encoded) -> AdditiveModel:
    """The additive model with penalty, and where needed number of features, chosen by CV."""
    n_columns = sum(map(data.n_additive_columns, range(len(data.levels))))
    if n_columns > MOST_COLUMNS_PER_SAMPLE * data.n:
        return _screened_model(data)
    return fitted_on(data, np.arange(len(data.levels)))


def _screened_model(data: Encoded) -> AdditiveModel:
    """Model on the features with the strongest main effects, as many as CV asks for."""
    sample = sample_for_folds(data)
    in_fold = folds_of(sample)
    intercept = _intercept_path(sample, in_fold)
    adjusted = np.array(sorted(data.adjusted), dtype=np.intp)
    orders = [_main_effect_order(sample, sample.weight - held_out) for held_out in in_fold.T]
    best, best_count = intercept, 0
    # What is adjusted for is in the model whatever it costs.
    for count in (0, *SCREENED_COUNTS) if len(adjusted) else SCREENED_COUNTS:
        chosen = [np.concatenate([adjusted, order[:count]]) for order in orders]
        Z, penalty, owner = design(sample, np.unique(np.concatenate(chosen)))
        columns = [np.flatnonzero((owner < 0) | np.isin(owner, own)) for own in chosen]
        if count and max(map(len, columns)) > MOST_COLUMNS_PER_SAMPLE * sample.n:
            break
        path = _path(sample, Z, penalty, columns, in_fold)
        if path.deviance < best.deviance or count == 0:
            best, best_count = path, count
    # The folds have chosen how many features; which ones is decided on all samples.
    features = np.concatenate([adjusted, _main_effect_order(data, data.weight)[:best_count]])
    return _fitted(data, sample, np.sort(features), best, intercept.deviance)


def _main_effect_order(data: Encoded, weight: Array) -> Codes:
    """Features that terms are made of, those with the strongest main effects first."""
    tested = data.tested
    return tested[np.argsort(main_effect_log_p(data, weight)[tested], kind="stable")]


def with_term(model: AdditiveModel, data: Encoded, term: tuple[int, ...]) -> AdditiveModel:
    """The model with the product columns of a found term added, refitted."""
    Z, n_columns = with_product_columns(model.Z, data, term)
    own_penalty = np.full(n_columns, FOUND_TERM_STRENGTH)
    penalty = np.concatenate([model.penalty, own_penalty])
    start = np.vstack([model.coefficients, np.zeros((n_columns, data.Y.shape[1]))])
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=model.link)
    return replace(
        model,
        Z=Z,
        penalty=penalty,
        refit_penalty=np.concatenate([model.refit_penalty, SHARE_IN_REFIT * own_penalty]),
        coefficients=beta,
        means=model.link.means(product(Z, beta)),
        terms=(*model.terms, term),
    )


def with_product_columns(Z: Columns, data: Encoded, term: tuple[int, ...]) -> tuple[Columns, int]:
    """Z with those columns of a term that are not zero, and how many they are."""
    terms = np.array([term])
    is_real = np.flatnonzero(term_squares(data, terms)[0])

    def columns(rows: Rows) -> Array:
        return term_columns(data.functions, terms, rows)[0][is_real]

    return beside(Z, [columns], Z.shape[1] + len(is_real)), len(is_real)
