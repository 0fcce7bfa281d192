"""Does a feature matter: on its own, and given the others?

On its own: its functions against the residuals of a model that has nothing but what is adjusted
for. Given the others: against the residuals of the additive model without this feature. That model
is not fitted again for every feature; the full one says where its coefficients go without the
columns a of the feature, and what the other columns o would explain of the residuals,

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

from immigrate.inference.additive import (
    EVIDENT_SHARE_IN_REFIT,
    AdditiveModel,
    design,
    fitted_on,
)
from immigrate.inference.encoding import Encoded
from immigrate.inference.first_order import FirstOrder, first_order
from immigrate.inference.residuals import SMALLEST_SHARE_LEFT, Contrast
from immigrate.inference.ridge import INTERCEPT_PENALTY, information_matrix
from immigrate.inference.term_columns import column_penalty, low_columns, term_columns
from immigrate.inference.term_forms import combined_log_p, form_results
from immigrate.inference.term_moments import Moments, with_uncertainty, without_untestable
from immigrate.inference.term_statistics import term_results
from immigrate.typing import Array, Codes, Mask

# Of a feature with a copy in the table nothing must be left once the copy is in the model: what a
# light penalty leaves of an evident effect was enough to be found.
LIGHTER, MOST_EXPLAINED = 0.1, 0.95
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class FeatureEvidence:
    """Evidence for each tested feature.

    Attributes
    ----------
    features : ndarray of shape (f,)
    log_p, log_p_given_others : ndarray of shape (f,)
    effects : FirstOrder
        Of each feature, given the others.
    """

    features: Codes
    log_p: Array
    log_p_given_others: Array
    effects: FirstOrder


def feature_evidence(
    data: Encoded, model: AdditiveModel, contrasts: list[Contrast]
) -> FeatureEvidence:
    """Every feature that terms are made of, on its own and given the others.

    `contrasts` are those of the model.
    """
    terms = data.tested[:, None]
    empty = fitted_on(data, np.array(sorted(data.adjusted), dtype=np.intp))
    alone = term_results(data, terms, empty.contrasts(data))
    given = term_results(data, terms, contrasts, with_effects=True)
    log_p, effects = given.log_p.copy(), given.effects
    leaving = _LeavingOut(data, model, contrasts)
    for place in np.flatnonzero(np.isin(data.tested, model.features)):
        log_p[place], one = leaving.evidence(int(data.tested[place]))
        effects.forms[:, place], effects.gain[place] = one.forms[:, 0], one.gain[0]
    return FeatureEvidence(data.tested, alone.log_p, log_p, effects)


@dataclass(frozen=True)
class _LeavingOut:
    """The additive model with one feature left out."""

    data: Encoded
    model: AdditiveModel
    contrasts: list[Contrast]

    def evidence(self, feature: int) -> tuple[float, FirstOrder]:
        """Log p of a feature of the model, and its effect."""
        terms, functions, weight = np.array([[feature]]), self.data.functions, self.data.weight
        C = term_columns(functions, terms)[0]
        is_out = np.tile(self._owner == feature, self.model.means.shape[1])
        mu = self.model.link.means(self.model.Z @ self._coefficients(is_out))
        r = self._cleared_residuals(mu, is_out)
        moments = [self._moments(c, feature, C, mu, is_out, r) for c in range(mu.shape[1])]
        is_low = low_columns(functions, terms)
        combined = combined_log_p([form_results(one, is_low) for one in moments])
        penalty = column_penalty(functions, terms, (C**2 @ weight / self.data.n)[None])
        return float(combined[0, 0]), first_order(moments, penalty, self.contrasts)

    @cached_property
    def _owner(self) -> Codes:
        return design(self.data, self.model.features)[2]

    @cached_property
    def _inverses(self) -> tuple[Array, Array]:
        """H with the penalty of the fit, and with that of the refit."""
        model = self.model
        information = information_matrix(model.Z, model.means, self.data.weight, model.link)
        is_light = model.refit_penalty <= 2 * EVIDENT_SHARE_IN_REFIT * model.penalty
        light = np.where(is_light, LIGHTER, 1.0) * model.refit_penalty

        def inverse(penalty: Array) -> Array:
            full = np.tile(np.maximum(penalty, INTERCEPT_PENALTY), model.means.shape[1])
            return np.asarray(np.linalg.inv(information + np.diag(full)), dtype=np.float64)

        return inverse(model.penalty), inverse(light)

    def _coefficients(self, is_out: Mask) -> Array:
        """Those of the fit without the columns: (m, n_logits)."""
        H, model = self._inverses[0], self.model
        flat = model.coefficients.T.ravel()
        flat = flat - H[:, is_out] @ np.linalg.solve(H[np.ix_(is_out, is_out)], flat[is_out])
        flat[is_out] = 0.0
        return flat.reshape(model.coefficients.T.shape).T

    def _cleared_residuals(self, mu: Array, is_out: Mask) -> Array:
        """R = e - V Z_o H_o Z_o' e: (n, n_logits)."""
        e = self.data.Y - mu
        gradient = (self.model.Z.T @ (self.data.weight[:, None] * e)).T.ravel()
        step = self._solved(gradient[:, None], is_out).reshape(e.shape[1], -1).T
        moved, link, logits = self.model.Z @ step, self.model.link, range(e.shape[1])
        refitted = [sum(link.covariance(mu, c, d) * moved[:, d] for d in logits) for c in logits]
        return e - np.column_stack(refitted)

    def _solved(self, right: Array, is_out: Mask) -> Array:
        """H_o times the rows of `right` that are not left out, 0 in the others."""
        H = self._inverses[1]
        moved = H @ np.where(is_out[:, None], 0.0, right)
        solved = moved - H[:, is_out] @ np.linalg.solve(H[np.ix_(is_out, is_out)], moved[is_out])
        solved[is_out] = 0.0
        return solved

    def _of_classes(self, mu: Array, moved: list[Array]) -> Array:
        """Sum over two logits d and f of M_d' V_df M_f, by the form that V has."""
        weight = self.data.weight
        if mu.shape[1] == 1:
            return moved[0].T @ ((weight * mu[:, 0] * (1 - mu[:, 0]))[:, None] * moved[0])
        own = [M.T @ ((weight * m)[:, None] * M) for m, M in zip(mu.T, moved)]
        mean = np.sum([m[:, None] * M for m, M in zip(mu.T, moved)], axis=0)
        return np.sum(own, axis=0) - mean.T @ (weight[:, None] * mean)

    @cached_property
    def _is_copied(self) -> dict[int, Mask]:
        """Which functions of each feature of the model another one has as well: (k,)."""
        features, weight = self.model.features, self.data.weight
        C = term_columns(self.data.functions, features[:, None])  # (f, k, n)
        C = C * np.sqrt(weight)
        C /= np.maximum(np.linalg.norm(C, axis=2, keepdims=True), TINY)
        likeness = np.matmul(C.transpose(1, 0, 2), C.transpose(1, 2, 0)) ** 2  # (k, f, f)
        likeness[:, np.arange(len(features)), np.arange(len(features))] = 0.0
        return dict(zip(features.tolist(), likeness.max(axis=2, initial=0.0).T > MOST_EXPLAINED))

    def _moments(
        self, c: int, feature: int, C: Array, mu: Array, is_out: Mask, r: Array
    ) -> Moments:
        """U and S of the functions C (k, n) of the feature for one logit."""
        Z, weight, link = self.model.Z, self.data.weight, self.model.link
        logits, own = range(mu.shape[1]), r[:, c]
        B = [Z.T @ ((weight * link.covariance(mu, d, c))[:, None] * C.T) for d in logits]
        X = self._solved(np.vstack(B), is_out).reshape(mu.shape[1], Z.shape[1], -1)
        explained = [Z @ part for part in X]
        if self.data.outcome.is_number:
            left = max(self.contrasts[c].share_left, SMALLEST_SHARE_LEFT)
            variance, cleared = weight * own**2 / left, C - explained[0].T
            S = (cleared * variance) @ cleared.T
            fourth, scale = 2 * variance**2 / weight, 1.0
        else:
            v = link.covariance(mu, c, c)
            variance, fourth = weight * v, weight * v * (1 - 6 * v)
            cross = np.sum([b.T @ x for b, x in zip(B, X)], axis=0)
            S = (C * variance) @ C.T - cross - cross.T
            S += self._of_classes(mu, explained)
            left = self.contrasts[c].share_left
            scale = np.sqrt(left * variance.sum() / max(float(weight @ own**2), TINY))
        U, raw = C @ (weight * own * scale), (C * variance) @ C.T
        # What another feature has as well is its own, however rough; the model may not follow it.
        plain = (C**4 @ fourth)[None]
        kurtosis = np.where(self._is_copied[feature], np.inf, plain)
        S, raw = S[None], raw[None]
        if self.data.outcome.is_number:
            S = with_uncertainty(S, raw, plain)
        return without_untestable(U[None, :, None], S, raw, kurtosis, MOST_EXPLAINED)
