"""Each feature twice: as columns Z of the additive model, and as functions to multiply.

A missing value is 0 in every column and function, so that what is not known adds nothing to any
product. A feature that is one value or missing is a flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from immigrate.inference.levels import Levels, centred, cosines, mid_ranks
from immigrate.inference.main_effect_columns import (
    AdditiveColumns,
    Basis,
    additive_columns,
    n_additive_columns,
    rough_basis,
    smooth_basis,
)
from immigrate.inference.outcomes import Outcome
from immigrate.typing import Array, Codes, Mask

N_FUNCTIONS = 4
"""Functions phi of an ordered feature; their products span a pair with 16 columns."""

N_SMOOTH = 2
"""Those of them that the score form uses."""

MOST_LEVELS_AS_EIGENVECTORS = 6
# Products of a nominal feature tell its most common levels apart, and the rest as one; the
# additive model knows more levels than that, so that no main effect is left in a product.
MOST_NOMINAL_GROUPS = 10
# A level with fewer samples belongs to the rest: what a product says about it would rest on a
# handful of labels. A feature with nearly as many levels as samples so has no products at all.
FEWEST_SAMPLES_PER_GROUP = 10


@dataclass(frozen=True)
class Functions:
    """What the columns of a term are products of.

    Attributes
    ----------
    phi : ndarray of shape (p, k, n)
        phi_k / k of each feature, zero rows where it has fewer.
    is_low : ndarray of shape (p, k)
        The functions that enter the score form: two of an ordered feature, all of a nominal
        one, whose functions have no order.
    single : ndarray of shape (p, 2, n)
        The normal score of each value, and on which side of the median it is; 0 for features
        with few levels.
    """

    phi: Array
    is_low: Mask
    single: Array

    def __len__(self) -> int:
        return len(self.phi)

    @cached_property
    def n_own(self) -> Codes:
        """How many functions each feature has; the rest of its rows are zero."""
        return np.any(self.phi != 0, axis=2).sum(axis=1)

    def first(self, k: int) -> Functions:
        """The first k functions of each feature, or all where there are no more."""
        if k >= self.phi.shape[1]:
            return self
        return Functions(self.phi[:, :k], self.is_low[:, :k], self.single)


@dataclass(frozen=True)
class Encoded:
    """A data set ready for the test: samples of positive weight, features that vary.

    Attributes
    ----------
    levels : list of Levels, one per feature
    functions : Functions
        What products are made of.
    outcome : Outcome
        What is to be explained.
    rough : frozenset of int
        Features whose main effect needs the rough basis.
    adjusted : frozenset of int
        Features that are always in the null model and in no term.
    """

    levels: list[Levels]
    functions: Functions
    outcome: Outcome
    weight: Array
    rough: frozenset[int] = frozenset()
    adjusted: frozenset[int] = frozenset()

    @property
    def n(self) -> float:
        """Number of samples, a sample of weight two counting twice."""
        return float(self.weight.sum())

    @property
    def Y(self) -> Array:
        """The outcome as a matrix (n, n_logits)."""
        return self.outcome.Y

    @property
    def tested(self) -> Codes:
        """The features that terms are made of."""
        is_adjusted = np.isin(np.arange(len(self.levels)), list(self.adjusted))
        return np.flatnonzero(~is_adjusted)

    def basis(self, feature: int) -> Basis:
        """How closely the main effect of a feature is followed."""
        return rough_basis(self.n) if feature in self.rough else smooth_basis(self.n)

    def n_additive_columns(self, feature: int) -> int:
        """How many columns a feature has in the additive model."""
        return n_additive_columns(self.levels[feature], self.basis(feature))

    def additive_columns(self, feature: int) -> AdditiveColumns:
        """Columns of one feature in the additive model."""
        return additive_columns(self.levels[feature], self.weight, self.basis(feature))


def interaction_functions(levels: list[Levels], n: int) -> Functions:
    """Functions of all features, as many as the feature with the most has."""
    rows = [feature_phi(one) for one in levels]
    phi = np.zeros((len(levels), max(map(len, rows), default=1), n))
    is_low = np.zeros(phi.shape[:2], dtype=bool)
    for a, (one, own) in enumerate(zip(levels, rows)):
        phi[a, : len(own)] = own
        is_low[a, : len(own) if one.is_nominal else N_SMOOTH] = True
    single = np.array([single_functions(one) for one in levels]).reshape(len(levels), 2, n)
    return Functions(phi, is_low, single)


def feature_phi(levels: Levels) -> Array:
    """phi_k / k of one feature: (k, n).

    The weights 1/k are those of the cosine expansion of -|u - u'|; nominal levels have no
    smooth and rough functions and weigh the same.
    """
    if levels.n_levels < 2:
        return np.zeros((0, len(levels.code)))
    per_level = _nominal_functions(levels) if levels.is_nominal else _ordered_functions(levels)
    return levels.per_sample(per_level)


def single_functions(levels: Levels) -> Array:
    """Normal quantile of the mid-rank and sign beyond the median, unit variance: (2, n).

    Zero for nominal levels and for few levels, whose products the phi span.
    """
    if levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        return np.zeros((2, len(levels.code)))
    u = mid_ranks(levels.share)
    columns = centred(np.column_stack([special.ndtri(u), np.sign(u - 0.5)]), levels.share)
    return levels.per_sample(columns / np.sqrt(levels.share @ columns**2))


def _ordered_functions(levels: Levels) -> Array:
    """phi_k / k of ordered levels, k = 1..4: those of -|u - u'|, cosines when levels are many."""
    u = mid_ranks(levels.share)
    if levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        columns = _eigenfunctions(-np.abs(u[:, None] - u), levels.share)[:, :N_FUNCTIONS]
    else:
        columns = centred(cosines(u, N_FUNCTIONS), levels.share)
        columns /= np.sqrt(levels.share @ columns**2)
    return columns / np.arange(1, columns.shape[1] + 1)


def _nominal_functions(levels: Levels) -> Array:
    """All contrasts of the most common levels and the rest: those of "same level or not"."""
    n_common = int(np.sum(levels.share * levels.n_observed >= FEWEST_SAMPLES_PER_GROUP))
    group = np.minimum(np.arange(levels.n_levels), min(n_common, MOST_NOMINAL_GROUPS - 1))
    share = np.bincount(group, levels.share).astype(np.float64)
    return _eigenfunctions(np.eye(len(share)), share)[group]


def _eigenfunctions(kernel: Array, share: Array) -> Array:
    """Eigenfunctions of the centred kernel, unit variance, strongest first, without the constant.

    One column each, one row a level.
    """
    centring = np.eye(len(share)) - share
    root = np.sqrt(share)
    _, vectors = np.linalg.eigh(root[:, None] * (centring @ kernel @ centring.T) * root)
    return vectors[:, :0:-1] / root[:, None]
