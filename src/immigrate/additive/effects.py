"""How large an effect is: its spread over the samples, with an interval.

The test asks whether there is an effect, from residuals of a model without it. How large it is
can only be said by a model that has it. This one holds the main effects and every term found, all
fitted together, with a penalty chosen anew by cross-validation: beside a strong pair main effects
are stronger than they seemed alone. The penalty is light where an effect is evident, since
shrinking a main effect weakens every other effect on the logit with it, and full where none is,
since what is fitted to noise strengthens them.

What a size and its interval are is said in `additive.sizes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from immigrate.additive.design import Design, term_columns, term_squares
from immigrate.additive.newton import information_matrix, penalised_inverse
from immigrate.additive.null_model import evident_features
from immigrate.additive.ridge import (
    chosen_strength,
    coefficients_of_all,
    folds_of,
    held_out_deviance,
    sample_for_folds,
)
from immigrate.additive.rows import (
    Columns,
    LazyColumns,
    Rows,
    beside,
    block_sum,
    mapped,
)
from immigrate.additive.sizes import Sizes, column_penalty, sizes_of
from immigrate.arrays import Array, Codes

Term = tuple[int, ...]

# Shares of the penalty: of main effects that are evident or belong to a pair found, of the others.
EVIDENT_SHARE, OWN_SHARE = 0.1, 0.01
# Of the samples at least this share counts as left, whatever a fit uses up.
FEWEST_LEFT = 0.5
SMALLEST_LEFT = 0.1


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

    def part(self, design: Design) -> Callable[[Rows], Array]:
        """From rows of these samples to the columns, (k, n_rows)."""
        terms = np.array([self.term])

        def columns(rows: Rows) -> Array:
            return term_columns(design, terms, rows)[0][self.is_real] / self.root[:, None]

        return columns


def pair_block(design: Design, term: Term) -> PairBlock:
    """The columns of a term with unit variance, and their penalties."""
    terms = np.array([term])
    sizes = term_squares(design, terms)[0] / design.n
    is_real = np.flatnonzero(sizes)
    penalty = column_penalty(design, terms, sizes[None])[0]
    root = np.sqrt(sizes[is_real])
    return PairBlock(term, is_real, root, penalty[is_real] / root**2)


@dataclass(frozen=True, eq=False)
class EffectModel:
    """Main effects and found terms, fitted together.

    Attributes
    ----------
    design : Design
    Z : columns of shape (n, m)
    penalty : ndarray of shape (m,)
    strength : float
        Of the penalty of the main effects.
    coefficients : ndarray of shape (m, n_logits)
    owners : list of tuple
        The features that each column of `Z` belongs to; the intercept's are none.
    features : ndarray
        Those with a main effect in the model.
    blocks : list of PairBlock
        Columns of the terms.
    """

    design: Design
    Z: Columns
    penalty: Array
    strength: float
    coefficients: Array
    owners: list[Term]
    features: Codes
    blocks: list[PairBlock]

    def block(self, features: Term) -> Block:
        """The columns of one feature or of one found term."""
        own = np.array([owner == features for owner in self.owners])
        weight, coefficients = self.known(features), self.coefficients[own]
        to_others = self.design.outcome.contrast.T

        def main_effects(rows: slice) -> Array:
            """[1] for a feature, [1, Z_a, Z_b] for a term: (n_rows, m)."""
            which = features if len(features) > 1 else ()
            parts = [self.design.main_effect(a).of(rows).T for a in which]
            return np.column_stack([np.ones((len(weight[rows]), 1)), *parts])

        def products(rows: slice, Z: Array) -> tuple[Array, Array]:
            G = main_effects(rows)
            weighted = G * weight[rows][:, None]
            return weighted.T @ G, weighted.T @ Z[:, own]

        inner, outer = block_sum(self.Z, products)
        # Least squares, because the columns of two features need not be independent.
        slope = np.asarray(np.linalg.lstsq(inner, outer, rcond=1e-10)[0], np.float64)
        contribution = np.empty((len(weight), to_others.shape[1]))

        def cleared_products(rows: slice, Z: Array) -> tuple[Array]:
            cleared = Z[:, own] - main_effects(rows) @ slope
            # Where a feature is missing the pair has no effect, and neither have its cleared
            # columns.
            cleared *= (weight[rows] > 0)[:, None]
            contribution[rows] = cleared @ coefficients @ to_others
            return (cleared.T @ (weight[rows][:, None] * cleared),)

        (mean_products,) = block_sum(self.Z, cleared_products)
        mean_products = mean_products / max(weight.sum() - slope.shape[0], 1.0)
        places = np.flatnonzero(np.tile(own, coefficients.shape[1]))
        covariance = self.covariance[np.ix_(places, places)]
        return Block(features, slope, mean_products, contribution, coefficients, covariance)

    def sizes(self, which: list[Term]) -> Sizes:
        """Sizes of the effects of features and found terms."""
        forms, contrast = [], self.design.outcome.contrast
        # Mean square over the classes: 1 for two classes or a number.
        metric = contrast.T @ contrast / len(contrast)
        for features in which:
            block = self.block(features)
            # b'Mb, tr(MK), tr(MKMK) and b'MKMb, with all logits side by side.
            M = np.kron(metric, block.mean_products)
            K, b = block.covariance, block.coefficients.T.ravel()
            MK, Mb = M @ K, M @ b
            forms.append((b @ Mb, np.trace(MK), np.sum(MK * MK.T), Mb @ K @ Mb))
        found = sizes_of(*np.array(forms, dtype=np.float64).reshape(-1, 4).T)
        return found.times(self.design.outcome.unit)

    def held_out_shares(self, terms: list[Term]) -> Array:
        """Of the deviance of held-out samples, the share that each term explains; at least 0."""
        sample = sample_for_folds(self.design)
        Z, in_fold = self.Z, folds_of(sample)
        if sample is not self.design:
            Z = effect_columns(sample, self.features, self.blocks)[0]
        # The model without any feature has all the deviance that there is to explain.
        ones = np.ones((len(Z), 1))
        intercept = held_out_deviance(sample, ones, np.zeros(1), in_fold)
        full = held_out_deviance(sample, Z, self.penalty, in_fold) if terms else 0.0
        shares = []
        for term in terms:
            is_left = np.flatnonzero([owner != term for owner in self.owners])
            left = Z.chosen(is_left) if isinstance(Z, LazyColumns) else Z[:, is_left]
            without = held_out_deviance(sample, left, self.penalty[is_left], in_fold)
            shares.append(max(0.0, without - full) / intercept)
        return np.array(shares)

    @cached_property
    def covariance(self) -> Array:
        """K = H I H for classes, I the information; for numbers with the squared residuals."""
        family, weight, Z = self.design.outcome.family, self.design.weight, self.Z
        mu = family.means(Z @ self.coefficients)
        information = information_matrix(Z, mu, weight, family)
        H = penalised_inverse(information, self.penalty)
        # What the fit used up of the samples makes them say less than their number, as the degrees
        # of freedom of a regression do. Without it intervals covered .91 where .95 was promised.
        # The trace of H I, both symmetric, per free logit: of the K logits of K classes K - 1 are.
        n_used = float(np.sum(H * information)) / max(mu.shape[1] - 1, 1)
        if family.is_estimated:
            # Over what the fit leaves of it, a squared residual has the mean of its variance.
            leverage = mapped(lambda rows, own: np.sum((own @ H) * own, axis=1), Z)
            variance = (self.design.outcome.Y - mu)[:, 0] ** 2 / np.maximum(
                1 - leverage, SMALLEST_LEFT
            )
            information = information_matrix(Z, mu, weight * variance, family)
        return H @ information @ H / max(1 - n_used / self.design.n, FEWEST_LEFT)

    def known(self, features: Term) -> Array:
        """Weights of the samples where all of the features are known, 0 for the others."""
        is_known = np.all([self.design.levels[a].code >= 0 for a in features], axis=0)
        return self.design.weight * is_known


def effect_model(
    design: Design, features: Codes, terms: list[Term], strength: float | None = None
) -> EffectModel:
    """Main effects of features and of those of `terms`, and the terms.

    `strength` is that of the penalty of the main effects; without it cross-validation chooses it.
    """
    inside = {a for term in terms for a in term}
    features = np.union1d(features, sorted(inside)).astype(np.intp)
    blocks = [pair_block(design, term) for term in terms]
    Z, relative, owner = effect_columns(design, features, blocks)
    light = np.isin(owner, sorted({*evident_features(design).tolist(), *design.adjusted}))
    share = np.where(light, EVIDENT_SHARE, 1.0)
    # Last, so that it holds for features that are evident as well.
    share = np.where(np.isin(owner, sorted(inside)), OWN_SHARE, share)
    # Two parts of a penalty: `relative` times a strength that is chosen, for main effects, and
    # `fixed`, for terms.
    n_terms = sum(len(block.penalty) for block in blocks)
    fixed = np.concatenate([np.zeros(len(owner) - n_terms), *(block.penalty for block in blocks)])
    sample = sample_for_folds(design)
    near = Z if sample is design else effect_columns(sample, features, blocks)[0]
    if strength is None:
        choice = chosen_strength(sample, near, relative, folds_of(sample), fixed=fixed)
        strength = choice.strength
    penalty = strength * share * relative + fixed
    beta = coefficients_of_all(design, Z, sample, near, penalty)
    owners: list[Term] = [() if a < 0 else (int(a),) for a in owner[: len(owner) - n_terms]]
    owners += [term for term, block in zip(terms, blocks) for _ in block.penalty]
    return EffectModel(design, Z, penalty, strength, beta, owners, features, blocks)


def effect_columns(
    design: Design, features: Codes, blocks: list[PairBlock]
) -> tuple[Columns, Array, Codes]:
    """Columns of features and terms, relative penalties, owners; 0 and -1 for those of terms."""
    Z, relative, owner = design.additive_columns(features)
    n_terms = sum(len(block.penalty) for block in blocks)
    Z = beside(Z, [block.part(design) for block in blocks], len(owner) + n_terms)
    return Z, np.append(relative, np.zeros(n_terms)), np.append(owner, np.full(n_terms, -1))
