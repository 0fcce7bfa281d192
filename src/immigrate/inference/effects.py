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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from immigrate.arrays import Array, Codes, Mask
from immigrate.inference.additive import (
    chosen_strength,
    design,
    evident_features,
    folds_of,
    held_out_deviance,
    sample_for_folds,
)
from immigrate.inference.encoding import Encoded
from immigrate.inference.links import IDENTITY
from immigrate.inference.ridge import INTERCEPT_PENALTY, information_matrix, ridge_coefficients
from immigrate.inference.rows import (
    Columns,
    Rows,
    added,
    beside,
    block_sum,
    chosen_columns,
    mapped,
    mapped_rows,
    product,
    slices_of,
)
from immigrate.inference.term_columns import column_penalty, term_columns, term_squares

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
        """With those of `others` where these are NaN."""
        pairs = ((self.size, others.size), (self.low, others.low), (self.high, others.high))
        return Sizes(*(np.where(np.isnan(own), other, own) for own, other in pairs))


@dataclass(frozen=True)
class Block:
    """The columns of one feature or term in the model of effects.

    Attributes
    ----------
    features : tuple of int
        One, or those of a term.
    slope : ndarray of shape (m, k)
        The columns, cleared of main effects [1, Z_a, Z_b], are less these times this.
    mean_products : ndarray of shape (k, k)
        M, of the cleared columns.
    contribution : ndarray of shape (n, n_logits)
        What it adds to the log-odds of each class against the others, or to the number.
    coefficients : ndarray of shape (k, n_logits)
    covariance : ndarray of shape (n_logits * k, n_logits * k)
        Of the coefficients, logit by logit.
    """

    features: Term
    slope: Array
    mean_products: Array
    contribution: Array
    coefficients: Array
    covariance: Array


@dataclass(frozen=True)
class EffectModel:
    """Main effects and found terms, fitted together.

    Attributes
    ----------
    data : Encoded
    Z : columns of shape (n, m)
    penalty : ndarray of shape (m,)
    strength : float
        Of the penalty of the main effects.
    coefficients : ndarray of shape (m, n_logits)
    owners : list of tuple
        The features that each column of `Z` belongs to; the intercept's are none.
    design : callable
        Z of some of the samples.
    """

    data: Encoded
    Z: Columns
    penalty: Array
    strength: float
    coefficients: Array
    owners: list[Term]
    design: Callable[[Encoded], Columns]

    def block(self, features: Term) -> Block:
        """The columns of one feature or of one found term."""
        own = np.array([owner == features for owner in self.owners])
        slope = self._slope(features, own)
        coefficients = self.coefficients[own]
        products, contribution = self._cleared_sums(features, own, slope, coefficients)
        left = max(self.known(features).sum() - slope.shape[0], 1.0)
        places = np.flatnonzero(np.tile(own, coefficients.shape[1]))
        covariance = self.covariance[np.ix_(places, places)]
        return Block(features, slope, products / left, contribution, coefficients, covariance)

    def sizes(self, which: list[Term]) -> Sizes:
        """Sizes of the effects of features and found terms."""
        forms = [self._form(self.block(features)) for features in which]
        found = sizes_of(*np.array(forms).reshape(-1, 4).T)
        return found.times(self.data.outcome.unit)

    def held_out_shares(self, terms: list[Term]) -> Array:
        """Of the deviance of held-out samples, the share that each term explains; at least 0."""
        data = sample_for_folds(self.data)
        Z, in_fold = self.Z if data is self.data else self.design(data), folds_of(data)
        ones, none = np.ones((len(Z), 1)), np.zeros(1)
        # The model without any feature has all the deviance that there is to explain.
        intercept = held_out_deviance(data, ones, none, in_fold)
        full = held_out_deviance(data, Z, self.penalty, in_fold) if terms else 0.0

        def without(term: Term) -> float:
            is_left = np.flatnonzero([owner != term for owner in self.owners])
            left = chosen_columns(Z, is_left)
            return held_out_deviance(data, left, self.penalty[is_left], in_fold)

        return np.array([max(0.0, without(term) - full) / intercept for term in terms])

    @cached_property
    def covariance(self) -> Array:
        """K = H I H for classes, I the information; for numbers with the squared residuals."""
        link, weight, Z = self.data.outcome.link, self.data.weight, self.Z
        mu = link.means(product(Z, self.coefficients))
        information = information_matrix(Z, mu, weight, link)
        penalty = np.maximum(self.penalty, INTERCEPT_PENALTY)
        H = np.linalg.inv(information + np.diag(np.tile(penalty, mu.shape[1])))
        # What the fit used up of the samples makes them say less than their number, as the degrees
        # of freedom of a regression do. Without it intervals covered .91 where .95 was promised.
        # The trace of H I, both symmetric, per free logit: of the K logits of K classes K - 1 are.
        n_used = float(np.sum(H * information)) / max(mu.shape[1] - 1, 1)
        if link is IDENTITY:
            # Over what the fit leaves of it, a squared residual has the mean of its variance.
            leverage = mapped(lambda rows, own: np.sum((own @ H) * own, axis=1), Z)
            variance = (self.data.Y - mu)[:, 0] ** 2 / np.maximum(1 - leverage, SMALLEST_LEFT)
            information = information_matrix(Z, mu, weight * variance, link)
        return H @ information @ H / max(1 - n_used / self.data.n, FEWEST_LEFT)

    def known(self, features: Term) -> Array:
        """Weights of the samples where all of the features are known, 0 for the others."""
        is_known = np.all([self.data.levels[a].code >= 0 for a in features], axis=0)
        return self.data.weight * is_known

    def _form(self, block: Block) -> tuple[float, float, float, float]:
        """b'Mb, tr(MK), tr(MKMK) and b'MKMb, with all logits side by side."""
        metric = logit_metric(block.coefficients.shape[1])
        M, K = np.kron(metric, block.mean_products), block.covariance
        b = block.coefficients.T.ravel()
        MK, Mb = M @ K, M @ b
        return float(b @ Mb), float(np.trace(MK)), float(np.sum(MK * MK.T)), float(Mb @ K @ Mb)

    def _slope(self, features: Term, own: Mask) -> Array:
        """What main effects explain of the columns of a feature or term: (m, k)."""
        weight = self.known(features)

        def products(rows: slice, Z: Array) -> tuple[Array, Array]:
            G = self.main_effects(features, rows)
            weighted = G * weight[rows][:, None]
            return weighted.T @ G, weighted.T @ Z[:, own]

        inner, outer = block_sum(self.Z, products)
        # Least squares, because the columns of two features need not be independent.
        return np.asarray(np.linalg.lstsq(inner, outer, rcond=1e-10)[0], np.float64)

    def _cleared_sums(
        self, features: Term, own: Mask, slope: Array, coefficients: Array
    ) -> tuple[Array, Array]:
        """Products of the cleared columns, and what they add to the log-odds."""
        weight = self.known(features)
        to_others = against_others(coefficients.shape[1]).T

        def parts(rows: slice) -> tuple[Array, Array]:
            columns, known = self.Z[rows][:, own], weight[rows]
            cleared = columns - self.main_effects(features, rows) @ slope
            # Where a feature is missing the pair has no effect, and neither have its cleared
            # columns.
            cleared *= (known > 0)[:, None]
            return cleared.T @ (known[:, None] * cleared), cleared @ coefficients @ to_others

        both = list(mapped_rows(parts, slices_of(self.Z), self.data.run))
        (products,) = added((products,) for products, _ in both)
        return products, np.concatenate([contribution for _, contribution in both])

    def main_effects(self, features: Term, rows: Rows) -> Array:
        """[1] for a feature, [1, Z_a, Z_b] for a term: (n_rows, m)."""
        ones = np.ones((len(self.data.weight[rows]), 1))
        if len(features) == 1:
            return ones
        own = [self.data.main_effect(a).of(rows).T for a in features]
        return np.column_stack([ones, *own])


def effect_model(
    data: Encoded, features: Codes, terms: list[Term], strength: float | None = None
) -> EffectModel:
    """Main effects of features and of those of `terms`, and the terms.

    `strength` is that of the penalty of the main effects; without it cross-validation chooses it.
    """
    inside = {a for term in terms for a in term}
    features = np.union1d(features, sorted(inside)).astype(np.intp)
    _, relative, owner = design(data, features)
    light = np.isin(owner, sorted({*evident_features(data).tolist(), *data.adjusted}))
    share = np.where(light, EVIDENT_SHARE, 1.0)
    # Last, so that it holds for features that are evident as well.
    share = np.where(np.isin(owner, sorted(inside)), OWN_SHARE, share)
    blocks = [pair_block(data, term) for term in terms]
    # Two parts of a penalty: `relative` times a strength that is chosen, for main effects, and
    # `fixed`, for terms.
    fixed = np.concatenate([np.zeros(len(owner)), *(block.penalty for block in blocks)])
    relative = np.concatenate([relative, np.zeros(len(fixed) - len(owner))])

    def full_design(data: Encoded) -> Columns:
        Z = design(data, features)[0]
        return beside(Z, [block.part(data) for block in blocks], len(fixed))

    Z, sample = full_design(data), sample_for_folds(data)
    near = Z if sample is data else full_design(sample)
    if strength is None:
        strength = chosen_strength(sample, near, relative, fixed)
    share = np.concatenate([share, np.ones(len(fixed) - len(owner))])
    penalty = strength * share * relative + fixed
    start, link = np.zeros((len(fixed), data.Y.shape[1])), data.outcome.link
    if sample is not data:
        start = ridge_coefficients(near, sample.Y, sample.weight, penalty, start, link=link)
    beta = ridge_coefficients(Z, data.Y, data.weight, penalty, start, link=link)
    owners: list[Term] = [() if a < 0 else (int(a),) for a in owner]
    owners += [term for term, block in zip(terms, blocks) for _ in block.penalty]
    return EffectModel(data, Z, penalty, strength, beta, owners, full_design)


@dataclass(frozen=True)
class PairBlock:
    """The columns of a term with unit variance, for any samples, and their penalties.

    Attributes
    ----------
    term : tuple of int
    is_real : ndarray of int
        Which columns are not zero.
    root : ndarray of shape (k,)
        Their deviations.
    penalty : ndarray of shape (k,)
    """

    term: Term
    is_real: Codes
    root: Array
    penalty: Array

    def part(self, data: Encoded) -> Callable[[Rows], Array]:
        """From rows of these samples to the columns, (k, n_rows)."""
        terms = np.array([self.term])

        def columns(rows: Rows) -> Array:
            own = term_columns(data.functions, terms, rows)[0][self.is_real]
            return own / self.root[:, None]

        return columns


def pair_block(data: Encoded, term: Term) -> PairBlock:
    """The columns of a term with unit variance, and their penalties."""
    terms = np.array([term])
    sizes = term_squares(data, terms)[0] / data.n
    is_real = np.flatnonzero(sizes)
    penalty = column_penalty(data.functions, terms, sizes[None])[0]
    root = np.sqrt(sizes[is_real])
    return PairBlock(term, is_real, root, penalty[is_real] / root**2)


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
    # No end of an interval is further out than that.
    largest = 3 * np.sqrt(np.maximum(q, 0.0)) + 6 * np.sqrt(trace + along)

    def share_below(s: Array) -> Array:
        scale = (second + 2 * s**2 * along) / (trace + 2 * s**2)
        return special.chndtr(q / scale, trace / scale, s**2 / scale)

    def end(share: float) -> Array:
        low, high = np.zeros_like(q), largest
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            is_above = share_below(middle) > share
            # The share below falls as the size grows: where it is too large, the end is above.
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return low

    return Sizes(np.sqrt(np.maximum(q - trace, 0.0)), end(1 - tail), end(tail))
