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
class _Without:
    """The additive model without one feature: its means, and residuals cleared of the others."""

    feature: int
    is_out: Mask  # (n_logits * m,)
    mu: Array  # (n, n_logits)
    r: Array  # (n, n_logits)


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
        without = self._without(feature)
        moments = [self._moments(c, C, without) for c in range(without.mu.shape[1])]
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

    def _without(self, feature: int) -> _Without:
        is_out = np.tile(self._owner == feature, self.model.means.shape[1])
        mu = self.model.link.means(self.model.Z @ self._coefficients(is_out))
        return _Without(feature, is_out, mu, self._cleared_residuals(mu, is_out))

    def _coefficients(self, is_out: Mask) -> Array:
        """Those of the fit without the columns: (m, n_logits)."""
        H, model = self._inverses[0], self.model
        flat = model.coefficients.T.ravel()
        flat = flat - H[:, is_out] @ np.linalg.solve(H[np.ix_(is_out, is_out)], flat[is_out])
        flat[is_out] = 0.0
        return flat.reshape(model.coefficients.T.shape).T

    def _cleared_residuals(self, mu: Array, is_out: Mask) -> Array:
        """What the other columns leave of e: r = e - V Z_o H_o Z_o' e, (n, n_logits)."""
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

    def _moments(self, c: int, C: Array, without: _Without) -> Moments:
        """U and S of the functions C (k, n) of the feature for one logit."""
        kind = self._number_moments if self.data.outcome.is_number else self._class_moments
        U, S, raw, kurtosis = (one[None] for one in kind(c, C, without))
        if self.data.outcome.is_number:
            S = with_uncertainty(S, raw, kurtosis)
        # What another feature has as well is its own, however rough; the model may not follow it.
        kurtosis = np.where(self._is_copied[without.feature], np.inf, kurtosis)
        return without_untestable(U[:, :, None], S, raw, kurtosis, MOST_EXPLAINED)

    def _class_moments(self, c: int, C: Array, without: _Without) -> tuple[Array, ...]:
        """U, S = C'VC less what the others explain, C'VC and fourth cumulants of U."""
        weight, mu, r = self.data.weight, without.mu, without.r[:, c]
        v = self.model.link.covariance(mu, c, c)
        B, X = self._explained(c, C, without)
        cross = np.sum([b.T @ x for b, x in zip(B, X)], axis=0)
        raw = (C * (weight * v)) @ C.T
        S = raw - cross - cross.T + self._of_classes(mu, [self.model.Z @ x for x in X])
        due = self.contrasts[c].share_left * float(weight @ v)
        scale = np.sqrt(due / max(float(weight @ r**2), TINY))
        return C @ (weight * r * scale), S, raw, C**4 @ (weight * v * (1 - 6 * v))

    def _number_moments(self, c: int, C: Array, without: _Without) -> tuple[Array, ...]:
        """The same with variances that are squares of the residuals."""
        weight, r = self.data.weight, without.r[:, c]
        _, X = self._explained(c, C, without)
        cleared = C - (self.model.Z @ X[0]).T
        variance = weight * r**2 / max(self.contrasts[c].share_left, SMALLEST_SHARE_LEFT)
        S, raw = ((A * variance) @ A.T for A in (cleared, C))
        return C @ (weight * r), S, raw, C**4 @ (2 * variance**2 / weight)

    def _explained(self, c: int, C: Array, without: _Without) -> tuple[list[Array], Array]:
        """B = Z'VC and X = H_o B, block by block of the logits."""
        Z, weight, mu = self.model.Z, self.data.weight, without.mu
        covariance = self.model.link.covariance
        logits = range(mu.shape[1])
        B = [Z.T @ ((weight * covariance(mu, d, c))[:, None] * C.T) for d in logits]
        X = self._solved(np.vstack(B), without.is_out)
        return B, X.reshape(len(logits), Z.shape[1], -1)
