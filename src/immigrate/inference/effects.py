"""How large an effect is: its spread over the samples, with an interval.

The test asks whether there is an effect, from residuals of a model without it. How large it is
can only be said by a model that has it. This one holds the main effects and every term found, all
fitted together, with a penalty chosen anew by cross-validation: beside a strong pair main effects
are stronger than they seemed alone. The penalty is light where an effect is evident, since
shrinking a main effect weakens every other effect on the logit with it, and full where none is,
since what is fitted to noise strengthens them.

The size of an effect f = C b is s = sqrt(b'Mb), the root of its mean square over the samples. M
holds the mean products of the columns C, for a pair cleared of the main effects of its features.
An estimate of b with covariance K makes q = b'Mb too large by tr(MK), which is taken off. The
interval holds every s that makes the q seen no surprise: given s, q is distributed as a chi2 with
noncentrality, scaled so that mean and variance,

    s^2 + tr(MK)   and   2 tr(MKMK) + 4 s^2 g,   g = b'MKMb / b'Mb,

are right. Near s = 0 such an interval starts at 0, which a standard error around s could not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from immigrate.inference.additive import (
    chosen_strength,
    design,
    evident_features,
    folds_of,
    held_out_deviance,
)
from immigrate.inference.encoding import Encoded
from immigrate.inference.links import IDENTITY
from immigrate.inference.ridge import INTERCEPT_PENALTY, information_matrix, ridge_coefficients
from immigrate.inference.term_columns import column_penalty, term_columns
from immigrate.typing import Array, Codes

Term = tuple[int, ...]

# Shares of the penalty: of main effects that are evident or belong to a pair found, of the others.
EVIDENT_SHARE, OWN_SHARE = 0.1, 0.01
# Of the samples at least this share counts as left, whatever a fit uses up.
FEWEST_LEFT = 0.5
SMALLEST_LEFT = 0.1
CONFIDENCE = 0.95
BISECTIONS = 50
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Sizes:
    """Sizes of several effects, each with the ends of its 95 % interval."""

    size: Array
    low: Array
    high: Array

    def times(self, unit: float) -> Sizes:
        """The same in another unit."""
        return Sizes(unit * self.size, unit * self.low, unit * self.high)

    def filled(self, others: Sizes) -> Sizes:
        """With those of `others` where these cannot be said."""
        pairs = ((self.size, others.size), (self.low, others.low), (self.high, others.high))
        return Sizes(*(np.where(np.isnan(own), other, own) for own, other in pairs))


@dataclass(frozen=True)
class Block:
    """The columns of one feature or term in the model of effects.

    Attributes
    ----------
    features : tuple of int
        One, or those of a term.
    columns : ndarray of shape (n, k)
        As they are fitted.
    cleared : ndarray of shape (n, k)
        Centred, and for a term less what main effects of its features explain of them.
    slope : ndarray of shape (m, k)
        `cleared` is `columns` less their main effects [1, Z_a, Z_b] times this.
    coefficients : ndarray of shape (k, n_logits)
    covariance : ndarray of shape (n_logits * k, n_logits * k)
        Of the coefficients, logit by logit.
    """

    features: Term
    columns: Array
    cleared: Array
    slope: Array
    coefficients: Array
    covariance: Array

    @property
    def contribution(self) -> Array:
        """What it adds to the log-odds of each class against the others, or to the number."""
        return self.cleared @ self.coefficients @ against_others(self.coefficients.shape[1]).T


@dataclass(frozen=True)
class EffectModel:
    """Main effects and found terms, fitted together.

    Attributes
    ----------
    data : Encoded
    Z : ndarray of shape (n, m)
    penalty : ndarray of shape (m,)
    coefficients : ndarray of shape (m, n_logits)
    owners : list of tuple
        The features that each column of `Z` belongs to; the intercept's are none.
    """

    data: Encoded
    Z: Array
    penalty: Array
    coefficients: Array
    owners: list[Term]

    def block(self, features: Term) -> Block:
        """The columns of one feature or of one found term."""
        own = np.array([owner == features for owner in self.owners])
        columns = self.Z[:, own]
        cleared, slope = self._cleared(features, columns)
        places = np.flatnonzero(np.tile(own, self.coefficients.shape[1]))
        return Block(
            features,
            columns,
            cleared,
            slope,
            self.coefficients[own],
            self.covariance[np.ix_(places, places)],
        )

    def sizes(self, which: list[Term]) -> Sizes:
        """Sizes of the effects of features and found terms."""
        forms = [self._form(self.block(features)) for features in which]
        found = sizes_of(*np.array(forms).reshape(-1, 4).T)
        return found.times(self.data.outcome.unit)

    def held_out_shares(self, terms: list[Term]) -> Array:
        """Of the deviance of held-out samples, the share that each term explains; at least 0."""
        data, in_fold = self.data, folds_of(self.data)
        ones, none = np.ones((len(self.Z), 1)), np.zeros(1)
        intercept = held_out_deviance(data, ones, none, in_fold)
        full = held_out_deviance(data, self.Z, self.penalty, in_fold) if terms else 0.0

        def without(term: Term) -> float:
            is_left = np.array([owner != term for owner in self.owners])
            return held_out_deviance(data, self.Z[:, is_left], self.penalty[is_left], in_fold)

        return np.array([max(0.0, without(term) - full) / intercept for term in terms])

    @cached_property
    def covariance(self) -> Array:
        """K = H I H for classes, I the information; for numbers with the squared residuals."""
        link, weight = self.data.outcome.link, self.data.weight
        mu = link.means(self.Z @ self.coefficients)
        information = information_matrix(self.Z, mu, weight, link)
        penalty = np.maximum(self.penalty, INTERCEPT_PENALTY)
        H = np.linalg.inv(information + np.diag(np.tile(penalty, mu.shape[1])))
        # What the fit used up of the samples makes them say less than their number, as the degrees
        # of freedom of a regression do. Without it intervals covered .91 where .95 was promised.
        n_used = float(np.sum(H * information)) / max(mu.shape[1] - 1, 1)
        if link is IDENTITY:
            # Over what the fit leaves of it, a squared residual has the mean of its variance.
            leverage = np.sum((self.Z @ H) * self.Z, axis=1)
            variance = (self.data.Y - mu)[:, 0] ** 2 / np.maximum(1 - leverage, SMALLEST_LEFT)
            information = self.Z.T @ ((weight * variance)[:, None] * self.Z)
        return H @ information @ H / max(1 - n_used / self.data.n, FEWEST_LEFT)

    def known(self, features: Term) -> Array:
        """Weights of the samples where all of the features are known, 0 for the others."""
        is_known = np.all([self.data.levels[a].code >= 0 for a in features], axis=0)
        return self.data.weight * is_known

    def _form(self, block: Block) -> tuple[float, float, float, float]:
        """b'Mb, tr(MK), tr(MKMK) and b'MKMb, with all logits side by side."""
        weight = self.known(block.features)
        left = max(weight.sum() - block.slope.shape[0], 1.0)
        M = block.cleared.T @ (weight[:, None] * block.cleared) / left
        metric = logit_metric(block.coefficients.shape[1])
        M, K, b = np.kron(metric, M), block.covariance, block.coefficients.T.ravel()
        MK, Mb = M @ K, M @ b
        return float(b @ Mb), float(np.trace(MK)), float(np.sum(MK * MK.T)), float(Mb @ K @ Mb)

    def _cleared(self, features: Term, columns: Array) -> tuple[Array, Array]:
        G, weight = self.main_effects(features), self.known(features)
        weighted = G * weight[:, None]
        slope = np.linalg.lstsq(weighted.T @ G, weighted.T @ columns, rcond=1e-10)[0]
        return (columns - G @ slope) * (weight > 0)[:, None], np.asarray(slope, np.float64)

    def main_effects(self, features: Term) -> Array:
        """[1] for a feature, [1, Z_a, Z_b] for a term: (n, m)."""
        ones = np.ones((len(self.Z), 1))
        if len(features) == 1:
            return ones
        own = [self.data.additive_columns(a).values.T for a in features]
        return np.column_stack([ones, *own])


def effect_model(
    data: Encoded, features: Codes, terms: list[Term], strength: float
) -> EffectModel:
    """Main effects of features and of those of `terms`, and the terms.

    `strength` is that of the penalty where there are no terms beside which to choose it anew.
    """
    inside = {a for term in terms for a in term}
    features = np.union1d(features, sorted(inside)).astype(np.intp)
    Z, relative, owner = design(data, features)
    light = np.isin(owner, sorted({*evident_features(data).tolist(), *data.adjusted}))
    share = np.where(light, EVIDENT_SHARE, 1.0)
    share = np.where(np.isin(owner, sorted(inside)), OWN_SHARE, share)
    blocks = [pair_block(data, term) for term in terms]
    fixed = np.concatenate([np.zeros(len(owner)), *(penalty for _, penalty in blocks)])
    Z = np.column_stack([Z, *(columns for columns, _ in blocks)])
    relative = np.concatenate([relative, np.zeros(len(fixed) - len(owner))])
    if terms:
        strength = chosen_strength(data, Z, relative, fixed)
    share = np.concatenate([share, np.ones(len(fixed) - len(owner))])
    penalty = strength * share * relative + fixed
    start = np.zeros((Z.shape[1], data.Y.shape[1]))
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=data.outcome.link)
    owners: list[Term] = [() if a < 0 else (int(a),) for a in owner]
    owners += [term for term, (columns, _) in zip(terms, blocks) for _ in columns.T]
    return EffectModel(data, Z, penalty, beta, owners)


def pair_block(data: Encoded, term: Term) -> tuple[Array, Array]:
    """The columns of a term with unit variance, (n, k), and their penalties."""
    terms = np.array([term])
    columns = term_columns(data.functions, terms)[0]
    is_real = np.any(columns != 0, axis=1)
    sizes = columns**2 @ data.weight / data.n
    penalty = column_penalty(data.functions, terms, sizes[None])[0]
    root = np.sqrt(sizes[is_real])
    return (columns[is_real] / root[:, None]).T, penalty[is_real] / root**2


def against_others(n_logits: int) -> Array:
    """The log-odds of each class against the mean of the others, from K centred logits."""
    if n_logits == 1:
        return np.ones((1, 1))
    return (n_logits * np.eye(n_logits) - 1) / (n_logits - 1)


def logit_metric(n_logits: int) -> Array:
    """Mean square over the classes of `against_others`: 1 for two classes or a number."""
    contrast = against_others(n_logits)
    return contrast.T @ contrast / n_logits


def sizes_of(q: Array, trace: Array, second: Array, along: Array) -> Sizes:
    """Sizes from b'Mb, tr(MK), tr(MKMK) and b'MKMb, arrays of one length.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.inference.effects import sizes_of
    >>> one = sizes_of(np.array([1.0]), np.array([0.01]), np.array([0.0001]), np.array([0.01]))
    >>> one.size.round(3), one.low.round(2), one.high.round(2)
    (array([0.995]), array([0.8]), array([1.2]))
    """
    trace, second = np.maximum(trace, TINY), np.maximum(second, TINY)
    along = along / np.maximum(q, TINY)
    tail = (1 - CONFIDENCE) / 2
    largest = 3 * np.sqrt(np.maximum(q, 0.0)) + 6 * np.sqrt(trace + along)

    def share_below(s: Array) -> Array:
        scale = (second + 2 * s**2 * along) / (trace + 2 * s**2)
        return special.chndtr(q / scale, trace / scale, s**2 / scale)

    def end(share: float) -> Array:
        low, high = np.zeros_like(q), largest
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            is_above = share_below(middle) > share
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return low

    return Sizes(np.sqrt(np.maximum(q - trace, 0.0)), end(1 - tail), end(tail))
