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

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import term_columns, term_squares
from immigrate.additive.moments import Contrast, Moments, with_uncertainty, without_untestable
from immigrate.additive.newton import information_matrix
from immigrate.additive.null_model import EVIDENT_SHARE_IN_REFIT, NullModel, fitted_on
from immigrate.additive.p_values import combined_log_p, form_results, low_columns
from immigrate.additive.residuals import SMALLEST_SHARE_LEFT
from immigrate.additive.ridge import INTERCEPT_PENALTY
from immigrate.additive.rows import LazyColumns, block_sum, row_sum
from immigrate.additive.sizes import FirstOrder, column_penalty, first_order
from immigrate.arrays import Array, Codes, Mask
from immigrate.interactions.adjustments import PValues
from immigrate.interactions.search import Search
from immigrate.interactions.statistics import term_results

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
    contrasts: list[Contrast]


def feature_evidence(search: Search, model: NullModel) -> FeatureEvidence:
    """Every feature that terms are made of, on its own and given the others."""
    data, contrasts = model.design, model.contrasts()
    terms = data.tested[:, None]
    empty = fitted_on(data, np.array(sorted(data.adjusted), dtype=np.intp))
    alone = term_results(data, terms, empty.contrasts()).log_p
    result = term_results(data, terms, contrasts, with_effects=True)
    given, effects = result.log_p.copy(), result.effects
    leaving = _LeavingOut(model, contrasts)
    places = np.flatnonzero(np.isin(data.tested, model.features))
    # Rows that are made for every sum are made for several features at a time.
    n_together = FEATURES_TOGETHER if isinstance(model.Z, LazyColumns) else 1
    for start in range(0, len(places), n_together):
        some = places[start : start + n_together]
        for place, (own_log_p, one) in zip(some, leaving.evidence(data.tested[some])):
            given[place] = own_log_p
            effects.forms[:, place], effects.gain[place] = one.forms[:, 0], one.gain[0]
    adjustment = search.adjustment.for_features or search.adjustment
    adjusted = (adjustment.log_adjusted(PValues(alone)), adjustment.log_adjusted(PValues(given)))
    is_alone, is_given = adjusted[0] <= np.log(search.alpha), adjusted[1] <= np.log(search.alpha)
    shown = (is_alone, is_alone | is_given)
    return FeatureEvidence(data.tested, alone, given, effects, *adjusted, *shown, contrasts)


@dataclass(frozen=True)
class _Without:
    """The additive model without one feature: its means, and residuals cleared of the others."""

    feature: int
    is_out: Mask  # (n_logits * m,)
    mu: Array  # (n, n_logits)
    r: Array  # (n, n_logits)


@dataclass(frozen=True)
class _LeavingOut:
    """The additive model with one feature left out."""

    model: NullModel
    contrasts: list[Contrast]

    def evidence(self, features: Codes) -> list[tuple[float, FirstOrder]]:
        """Log p of features of the model, each left out by itself, and their effects."""
        data, moments = self.model.design, self._moments(self._without(features))
        sizes = term_squares(data, features[:, None]) / data.n
        found = []
        for place, feature in enumerate(features):
            terms, own = np.array([[feature]]), moments[place]
            is_low = low_columns(data, terms)
            combined = combined_log_p([form_results(one, is_low) for one in own])
            penalty = column_penalty(data, terms, sizes[place : place + 1])
            found.append((float(combined[0, 0]), first_order(own, penalty, self.contrasts)))
        return found

    @cached_property
    def _inverses(self) -> tuple[Array, Array]:
        """H with the penalty of the fit, and with that of the refit."""
        model = self.model
        information = information_matrix(
            model.Z, model.means, self.model.design.weight, self.model.design.outcome.family
        )
        # Columns have one of two shares of the penalty; twice the smaller one tells them apart
        # whatever is rounded.
        is_light = model.refit_penalty <= 2 * EVIDENT_SHARE_IN_REFIT * model.penalty
        light = np.where(is_light, LIGHTER, 1.0) * model.refit_penalty

        def inverse(penalty: Array) -> Array:
            full = np.tile(np.maximum(penalty, INTERCEPT_PENALTY), model.means.shape[1])
            return np.asarray(np.linalg.inv(information + np.diag(full)), dtype=np.float64)

        return inverse(model.penalty), inverse(light)

    def _without(self, features: Codes) -> list[_Without]:
        """The models without one of the features each; r = e - V Z_o H_o Z_o' e."""
        model, data = self.model, self.model.design
        weight, family = data.weight, data.outcome.family
        flat, shape = model.coefficients.T.ravel(), model.coefficients.T.shape
        outs = [np.tile(model.owner == a, shape[0]) for a in features]
        # About what a fit with these coefficients held at 0 would give: one Newton step.
        held = [held_at_zero(self._inverses[0], flat, is_out).reshape(shape).T for is_out in outs]
        means = [family.means(logits) for logits in self._products(held)]
        errors = [data.outcome.Y - mu for mu in means]

        def gradients(rows: slice, Z: Array) -> tuple[Array, ...]:
            return tuple(Z.T @ (weight[rows][:, None] * e[rows]) for e in errors)

        pairs = zip(block_sum(model.Z, gradients), outs)
        steps = [self._solved(g.T.ravel()[:, None], out).reshape(shape).T for g, out in pairs]
        moved = [
            family.moved(mu, step[:, :, None])[:, :, 0]
            for mu, step in zip(means, self._products(steps))
        ]
        every = zip(features.tolist(), outs, means, errors, moved)
        return [_Without(a, is_out, mu, e - taken) for a, is_out, mu, e, taken in every]

    def _products(self, matrices: list[Array]) -> list[Array]:
        """Z times each of several matrices, in one pass over the rows."""
        if len(matrices) == 1:
            return [self.model.Z @ matrices[0]]
        widths = np.cumsum([one.shape[1] for one in matrices])[:-1]
        return np.split(self.model.Z @ np.column_stack(matrices), widths, axis=1)

    def _solved(self, right: Array, is_out: Mask) -> Array:
        """H_o times the rows of `right` that are not left out, 0 in the others."""
        H = self._inverses[1]
        return held_at_zero(H, H @ np.where(is_out[:, None], 0.0, right), is_out)

    def _of_classes(self, mu: Array, weight: Array, moved: list[Array]) -> Array:
        """Sum over two logits d and f of M_d' V_df M_f, by the form that V has."""
        # One logit of two classes: its covariance is that of a coin.
        if mu.shape[1] == 1:
            return moved[0].T @ ((weight * mu[:, 0] * (1 - mu[:, 0]))[:, None] * moved[0])
        own = [M.T @ ((weight * m)[:, None] * M) for m, M in zip(mu.T, moved)]
        mean = np.sum([m[:, None] * M for m, M in zip(mu.T, moved)], axis=0)
        return np.sum(own, axis=0) - mean.T @ (weight[:, None] * mean)

    @cached_property
    def _is_copied(self) -> dict[int, Mask]:
        """Which functions of each feature of the model another one has as well: (k,)."""
        data, features = self.model.design, self.model.features
        weight = data.weight
        n_columns = len(features) * (data.is_low.shape[1] + N_SINGLE)

        def products(rows: slice) -> tuple[Array]:
            C = term_columns(data, features[:, None], rows).transpose(1, 0, 2)  # (k, f, n)
            return (np.matmul(C * weight[rows], C.transpose(0, 2, 1)),)

        (likeness,) = row_sum(products, len(weight), n_columns, data.run)  # (k, f, f)
        size = np.sqrt(np.maximum(np.einsum("kff->kf", likeness), TINY))
        likeness = (likeness / size[:, :, None] / size[:, None, :]) ** 2
        # Every function is like itself.
        likeness[:, np.arange(len(features)), np.arange(len(features))] = 0.0
        return dict(zip(features.tolist(), likeness.max(axis=2, initial=0.0).T > MOST_EXPLAINED))

    def _moments(self, without: list[_Without]) -> list[list[Moments]]:
        """U and S of the functions of each feature, for every logit."""
        own_Z, K = self.model.Z, without[0].mu.shape[1]
        cases = [(one, c) for one in without for c in range(K)]
        # X = H_o Z'VC: what the others explain of the functions.
        B = block_sum(own_Z, lambda rows, Z: self._outer_products(rows, Z, cases))
        solved = [self._solved(b, one.is_out) for b, (one, _) in zip(B, cases)]
        X = [x.reshape(K, own_Z.shape[1], -1) for x in solved]
        is_estimated = self.model.design.outcome.family.is_estimated
        kind = self._estimated_sums if is_estimated else self._known_sums

        def parts(rows: slice, Z: Array) -> tuple[Array, ...]:
            return sum((kind(rows, Z, c, one, x) for (one, c), x in zip(cases, X)), ())

        sums = block_sum(own_Z, parts)
        per = len(sums) // len(cases)
        found = [
            self._finished(one, c, sums[per * i : per * (i + 1)], B[i], X[i])
            for i, (one, c) in enumerate(cases)
        ]
        return [found[i : i + K] for i in range(0, len(found), K)]

    def _functions_of(self, feature: int, rows: slice) -> Array:
        return term_columns(self.model.design, np.array([[feature]]), rows)[0]

    def _outer_products(
        self, rows: slice, Z: Array, cases: list[tuple[_Without, int]]
    ) -> tuple[Array, ...]:
        """B = Z'VC of each feature and logit, the blocks of all logits below each other."""
        spread, weight = self.model.design.outcome.family.spread, self.model.design.weight[rows]
        found = []
        for one, c in cases:
            C, mu = self._functions_of(one.feature, rows), one.mu[rows]
            blocks = [Z.T @ spread(mu, weight, d, c, C.T) for d in range(mu.shape[1])]
            found.append(np.vstack(blocks))
        return tuple(found)

    def _known_sums(
        self, rows: slice, Z: Array, c: int, one: _Without, X: Array
    ) -> tuple[Array, ...]:
        """Sums over rows: C r, C'VC, what comes back of the others, fourth cumulants, sizes."""
        C, weight = self._functions_of(one.feature, rows), self.model.design.weight[rows]
        mu, r = one.mu[rows], one.r[rows, c]
        variance, fourth_cumulant = self.model.design.outcome.family.cumulants(mu, weight, c)
        return (
            C @ (weight * r),
            (C * variance) @ C.T,
            self._of_classes(mu, weight, [Z @ x for x in X]),
            C**4 @ fourth_cumulant,
            np.asarray(np.sum(variance)),
            np.asarray(weight @ r**2),
        )

    def _estimated_sums(
        self, rows: slice, Z: Array, c: int, one: _Without, X: Array
    ) -> tuple[Array, ...]:
        """The same with variances that are squares of the residuals."""
        C, weight = self._functions_of(one.feature, rows), self.model.design.weight[rows]
        r = one.r[rows, c]
        cleared = C - (Z @ X[0]).T
        variance = weight * r**2 / max(self.contrasts[c].share_left, SMALLEST_SHARE_LEFT)
        S, raw = ((A * variance) @ A.T for A in (cleared, C))
        return C @ (weight * r), raw, S, C**4 @ (2 * variance**2 / weight)

    def _finished(
        self, one: _Without, c: int, sums: tuple[Array, ...], B: Array, X: Array
    ) -> Moments:
        """U and S from their sums, without the columns that cannot be tested."""
        if self.model.design.outcome.family.is_estimated:
            U, raw, S, kurtosis = (part[None] for part in sums)
            S = with_uncertainty(S, raw, kurtosis)
        else:
            U, raw, back, kurtosis = (part[None] for part in sums[:4])
            blocks = np.split(B, len(X))
            cross = np.sum([b.T @ x for b, x in zip(blocks, X)], axis=0)
            S = raw - cross - cross.T + back
            due = self.contrasts[c].share_left * float(sums[4])
            # Residuals of an over-fitted model are too small, as in `additive.residuals`.
            U = U * np.sqrt(due / max(float(sums[5]), TINY))
        # What another feature has as well is its own, however rough; the model may not follow it.
        kurtosis = np.where(self._is_copied[one.feature], np.inf, kurtosis)
        return without_untestable(U[:, :, None], S, raw, kurtosis, MOST_EXPLAINED)


def held_at_zero(H: Array, values: Array, is_out: Mask) -> Array:
    """Coefficients of a fit whose inverse information is H, with some of them held at 0."""
    left = values - H[:, is_out] @ np.linalg.solve(H[np.ix_(is_out, is_out)], values[is_out])
    left[is_out] = 0.0
    return left
