"""Each feature twice: as columns Z of the additive model, and as functions to multiply.

Both are built from mid-ranks u = (weight below + half the own weight) / total, so that a
sample of weight two counts as two samples. A missing value is 0 in every column (the mean
of a centred column), and an indicator in Z lets missingness have its own effect: what is
not known adds nothing to any product. A feature that is one value or missing is a flag.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from immigrate.inference.ridge import indicator_labels
from immigrate.typing import Array, Codes, Mask

N_FUNCTIONS = 4
"""Functions phi of an ordered feature; their products span a pair with 16 columns."""

N_SMOOTH = 2
"""Those of them that the score form uses."""

MOST_LEVELS_AS_EIGENVECTORS = 6
MOST_NOMINAL_DUMMIES = 100
# Products of a nominal feature tell its most common levels apart, and the rest as one; the
# additive model knows more levels than that, so that no main effect is left in a product.
MOST_NOMINAL_GROUPS = 10
# A level with fewer samples belongs to the rest: what a product says about it would rest on a
# handful of labels. A feature with nearly as many levels as samples so has no products at all.
FEWEST_SAMPLES_PER_GROUP = 10
LARGEST_Z = 4.0
TINY = np.finfo(np.float64).tiny
SQUARE_PENALTY = 4.0
# The smooth basis: how many cosines, and how many well-filled levels have dummies instead.
FEWEST_COSINES, MOST_COSINES = 4, 12
SAMPLES_PER_LEVEL, MOST_LEVELS = 40, 12
# The rough basis: one cosine per 50 samples, 8 at least where there are 20 for each.
SAMPLES_PER_ROUGH_COSINE, FEWEST_ROUGH_COSINES, FEWEST_SAMPLES_PER_COSINE = 50, 8, 20
SAMPLES_PER_ROUGH_LEVEL, MOST_ROUGH_LEVELS = 15, 30
MOST_ORDERED_COLUMNS = MOST_ROUGH_LEVELS + 1
"""Columns of an ordered feature in the additive model, at most; one says that it is missing."""


@dataclass(frozen=True)
class Levels:
    """The distinct values of one feature.

    Attributes
    ----------
    code : ndarray of shape (n,)
        Index of the sample's level; -1 where the value is missing.
    value, share : ndarray of shape (n_levels,)
        The levels in ascending order (nominal ones: the most common first) and their share
        of the observed weight.
    is_nominal : bool
        Whether the order of the levels means nothing.
    n_observed : float
        Number of samples with a known value, a sample of weight two counting twice.
    """

    code: Codes
    value: Array
    share: Array
    is_nominal: bool
    n_observed: float

    @property
    def n_levels(self) -> int:
        """Number of distinct observed values."""
        return len(self.value)

    def per_sample(self, per_level: Array) -> Array:
        """Spread columns over levels (n_levels, k) to samples (k, n); missing becomes 0."""
        padded = np.vstack([per_level, np.zeros((1, per_level.shape[1]))])
        return padded[self.code].T


@dataclass(frozen=True)
class Basis:
    """How closely the main effect of an ordered feature is followed.

    Attributes
    ----------
    n_cosines : int
        Cosines of the mid-rank, beside the value itself and a square for the tails, where
        cosines of ranks are flat.
    most_levels : int
        With at most this many levels, or no more than there would be columns, each has a
        column of its own instead.
    """

    n_cosines: int
    most_levels: int

    @property
    def n_columns(self) -> int:
        """The value, the cosines and the square."""
        return 2 + self.n_cosines

    @property
    def penalty(self) -> Array:
        """Relative ridge penalty of each column."""
        return np.concatenate([[1.0], np.arange(1.0, self.n_cosines + 1) ** 2, [SQUARE_PENALTY]])


@dataclass(frozen=True)
class AdditiveColumns:
    """Columns of one feature in the additive model, each with its ridge penalty."""

    values: Array  # (k, n)
    penalty: Array  # (k,)


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
    y : ndarray of shape (n,)
        Class indices.
    rough : frozenset of int
        Features whose main effect needs the rough basis.
    """

    levels: list[Levels]
    functions: Functions
    y: Codes
    n_classes: int
    weight: Array
    rough: frozenset[int] = frozenset()

    @property
    def n(self) -> float:
        """Number of samples, a sample of weight two counting twice."""
        return float(self.weight.sum())

    @property
    def Y(self) -> Array:
        """Labels as a matrix (n, n_logits)."""
        return indicator_labels(self.y, self.n_classes)

    def basis(self, feature: int) -> Basis:
        """How closely the main effect of a feature is followed."""
        return rough_basis(self.n) if feature in self.rough else smooth_basis(self.n)

    def n_additive_columns(self, feature: int) -> int:
        """How many columns a feature has in the additive model."""
        return n_additive_columns(self.levels[feature], self.basis(feature))

    def additive_columns(self, feature: int) -> AdditiveColumns:
        """Columns of one feature in the additive model."""
        return additive_columns(self.levels[feature], self.weight, self.basis(feature))


def feature_levels(x: Array, weight: Array, is_nominal: bool = False) -> Levels:
    """Distinct observed values of `x` with the share of `weight` on each.

    A feature that is one value or missing is a flag: missing is its other level.
    """
    is_observed = ~np.isnan(x)
    value, inverse = np.unique(x[is_observed], return_inverse=True)
    if len(value) == 1 and not is_observed.all():
        return feature_levels(is_observed.astype(np.float64), weight, is_nominal)
    code = np.full(len(x), -1)
    code[is_observed] = inverse
    count = np.bincount(inverse, weight[is_observed], minlength=len(value)).astype(np.float64)
    if is_nominal:
        # The names of nominal levels must not matter: common levels first.
        order = np.argsort(-count, kind="stable")
        value, count = value[order], count[order]
        code[is_observed] = np.argsort(order)[inverse]
    n_observed = float(count.sum())
    return Levels(code, value, count / max(n_observed, TINY), is_nominal, n_observed)


def mid_ranks(share: Array) -> Array:
    """Mid-rank of each level as a share: half of its own weight and all the weight below."""
    return np.cumsum(share) - share / 2


def _cosines(u: Array, n_terms: int) -> Array:
    """sqrt(2) cos(pi k u) for k = 1..n_terms: (len(u), n_terms)."""
    return np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, n_terms + 1)))


def _centred(columns: Array, share: Array) -> Array:
    return columns - share @ columns


def _eigenfunctions(kernel: Array, share: Array) -> Array:
    """Eigenfunctions of the centred kernel, unit variance, strongest first, without the constant.

    One column each, one row a level.
    """
    centring = np.eye(len(share)) - share
    root = np.sqrt(share)
    _, vectors = np.linalg.eigh(root[:, None] * (centring @ kernel @ centring.T) * root)
    return vectors[:, :0:-1] / root[:, None]


def _ordered_functions(levels: Levels) -> Array:
    """phi_k / k of ordered levels, k = 1..4: those of -|u - u'|, cosines when levels are many."""
    u = mid_ranks(levels.share)
    if levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        columns = _eigenfunctions(-np.abs(u[:, None] - u), levels.share)[:, :N_FUNCTIONS]
    else:
        columns = _centred(_cosines(u, N_FUNCTIONS), levels.share)
        columns /= np.sqrt(levels.share @ columns**2)
    return columns / np.arange(1, columns.shape[1] + 1)


def _nominal_functions(levels: Levels) -> Array:
    """All contrasts of the most common levels and the rest: those of "same level or not"."""
    n_common = int(np.sum(levels.share * levels.n_observed >= FEWEST_SAMPLES_PER_GROUP))
    group = np.minimum(np.arange(levels.n_levels), min(n_common, MOST_NOMINAL_GROUPS - 1))
    share = np.bincount(group, levels.share).astype(np.float64)
    return _eigenfunctions(np.eye(len(share)), share)[group]


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


def single_functions(levels: Levels) -> Array:
    """Normal quantile of the mid-rank and sign beyond the median, unit variance: (2, n).

    Zero for nominal levels and for few levels, whose products the phi span.
    """
    if levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        return np.zeros((2, len(levels.code)))
    u = mid_ranks(levels.share)
    columns = _centred(np.column_stack([special.ndtri(u), np.sign(u - 0.5)]), levels.share)
    return levels.per_sample(columns / np.sqrt(levels.share @ columns**2))


def feature_phi(levels: Levels) -> Array:
    """phi_k / k of one feature: (k, n).

    The weights 1/k are those of the cosine expansion of -|u - u'|; nominal levels have no
    smooth and rough functions and weigh the same.
    """
    if levels.n_levels < 2:
        return np.zeros((0, len(levels.code)))
    per_level = _nominal_functions(levels) if levels.is_nominal else _ordered_functions(levels)
    return levels.per_sample(per_level)


def smooth_basis(n: float) -> Basis:
    """For every feature: four cosines, and more once n can pay for them."""
    n_cosines = int(np.clip(np.ceil(4 * (n / 800) ** 0.5), FEWEST_COSINES, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_LEVEL, MOST_LEVELS)))


def rough_basis(n: float) -> Basis:
    """For features whose effect the smooth basis cannot follow."""
    affordable = min(n // FEWEST_SAMPLES_PER_COSINE, FEWEST_ROUGH_COSINES)
    fewest = max(affordable, smooth_basis(n).n_cosines)
    n_cosines = int(np.clip(n // SAMPLES_PER_ROUGH_COSINE, fewest, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_ROUGH_LEVEL, MOST_ROUGH_LEVELS)))


def n_additive_columns(levels: Levels, basis: Basis) -> int:
    """How many columns `additive_columns` has."""
    n_indicators = int(np.any(levels.code < 0) and np.any(levels.code >= 0))
    if levels.n_levels < 2:
        return n_indicators
    if _has_dummies(levels, basis):
        return min(levels.n_levels, MOST_NOMINAL_DUMMIES) + n_indicators
    return basis.n_columns + n_indicators


def _has_dummies(levels: Levels, basis: Basis) -> bool:
    """Nominal levels, and ordered ones where each can have a column of its own."""
    return levels.is_nominal or levels.n_levels <= max(basis.most_levels, basis.n_columns)


def _dummies(levels: Levels) -> Array:
    """One column per level, the rarest sharing one where there are very many."""
    if levels.n_levels <= MOST_NOMINAL_DUMMIES:
        return np.eye(levels.n_levels)
    column = np.minimum(np.arange(levels.n_levels), MOST_NOMINAL_DUMMIES - 1)
    return np.eye(MOST_NOMINAL_DUMMIES)[column]


def _smooth_columns(levels: Levels, basis: Basis) -> Array:
    """The standardised value, clipped, cosines of its mid-rank and a square."""
    value = levels.value / np.abs(levels.value).max()
    centred = value - levels.share @ value
    z = np.clip(centred / np.sqrt(levels.share @ centred**2), -LARGEST_Z, LARGEST_Z)
    u = mid_ranks(levels.share)
    return np.column_stack([z, _cosines(u, basis.n_cosines), special.ndtri(u) ** 2])


def additive_columns(levels: Levels, weight: Array, basis: Basis) -> AdditiveColumns:
    """Columns of one feature in Z: dummies for few levels, else value and cosines; centred."""
    if levels.n_levels < 2:
        values, penalty = np.zeros((0, len(weight))), np.zeros(0)
    else:
        if _has_dummies(levels, basis):
            per_level = _dummies(levels)
            penalty = np.ones(per_level.shape[1])
        else:
            per_level, penalty = _smooth_columns(levels, basis), basis.penalty
        values = levels.per_sample(_centred(per_level, levels.share))
    is_missing = levels.code < 0
    if is_missing.any() and not is_missing.all():
        indicator = is_missing - np.average(is_missing, weights=weight)
        values, penalty = np.vstack([values, indicator]), np.append(penalty, 1.0)
    return AdditiveColumns(values, penalty)
