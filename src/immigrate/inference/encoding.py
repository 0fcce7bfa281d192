"""Each feature twice: as columns Z of the additive model, and as functions to multiply.

Both are built from mid-ranks u = (weight below + half the own weight) / total, so that a
sample of weight two counts as two samples. A missing value is 0 in every column (the mean
of a centred column), and an indicator in Z lets missingness have its own effect: what is
not known adds nothing to any product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from immigrate.core.distances import Array

N_FUNCTIONS = 4
"""Functions phi of one feature; their products span a pair with 16 columns."""

MOST_LEVELS_AS_DUMMIES = 5
MOST_LEVELS_AS_EIGENVECTORS = 6
MOST_NOMINAL_DUMMIES = 30
LARGEST_Z = 4.0


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
    """

    code: np.ndarray
    value: np.ndarray
    share: np.ndarray
    is_nominal: bool

    @property
    def n_levels(self) -> int:
        """Number of distinct observed values."""
        return len(self.value)

    def per_sample(self, per_level: Array) -> Array:
        """Spread columns over levels (n_levels, k) to samples (k, n); missing becomes 0."""
        padded = np.vstack([per_level, np.zeros((1, per_level.shape[1]))])
        return padded[self.code].T


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
        phi_k / k of each feature.
    score : ndarray of shape (p, n)
        The normal score of each value; 0 for features with few levels.
    """

    phi: Array
    score: Array

    def __len__(self) -> int:
        return len(self.phi)


def feature_levels(x: Array, weight: Array, is_nominal: bool = False) -> Levels:
    """Distinct observed values of `x` with the share of `weight` on each."""
    is_observed = ~np.isnan(x)
    value, inverse = np.unique(x[is_observed], return_inverse=True)
    code = np.full(len(x), -1)
    code[is_observed] = inverse
    share = np.bincount(inverse, weight[is_observed], minlength=len(value))
    if is_nominal:
        # The names of nominal levels must not matter: common levels first.
        order = np.argsort(-share, kind="stable")
        value, share = value[order], share[order]
        code[is_observed] = np.argsort(order)[inverse]
    return Levels(code, value, share / max(share.sum(), np.finfo(float).tiny), is_nominal)


def mid_ranks(share: Array) -> Array:
    """Mid-rank of each level as a share: half of its own weight and all the weight below."""
    return np.cumsum(share) - share / 2


def _cosines(u: Array, n_terms: int) -> Array:
    """sqrt(2) cos(pi k u) for k = 1..n_terms: (len(u), n_terms)."""
    return np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, n_terms + 1)))


def _centred(columns: Array, share: Array) -> Array:
    return columns - share @ columns


def _level_eigenvectors(levels: Levels) -> Array:
    """Eigenfunctions of the centred kernel on the levels, unit variance, strongest first.

    The kernel is -|u - u'| for ordered levels, whose eigenfunctions are the cosines when the
    levels are many, and "same level or not" for nominal ones.
    """
    u, share = mid_ranks(levels.share), levels.share
    kernel = np.eye(len(u)) if levels.is_nominal else -np.abs(u[:, None] - u)
    centring = np.eye(len(u)) - share
    root = np.sqrt(share)
    _, vectors = np.linalg.eigh(root[:, None] * (centring @ kernel @ centring.T) * root)
    # The last eigenvector in ascending order is the strongest; the constant one drops out.
    strongest = vectors[:, ::-1][:, : min(N_FUNCTIONS, len(u) - 1)]
    return strongest / root[:, None]


def interaction_functions(levels: list[Levels], n: int) -> Functions:
    """Functions of all features, without a k that no feature has."""
    phi = np.stack([feature_phi(one) for one in levels]) if levels else np.zeros((0, 1, n))
    is_used = np.any(phi != 0, axis=(0, 2))
    is_used[0] = True
    score = np.array([normal_score(one) for one in levels]).reshape(len(levels), n)
    return Functions(np.ascontiguousarray(phi[:, is_used]), score)


def normal_score(levels: Levels) -> Array:
    """The normal quantile of the mid-rank, centred, unit variance: (n,).

    Zero for nominal levels and for few levels, whose products the phi span.
    """
    if levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        return np.zeros(len(levels.code))
    quantile = _centred(special.ndtri(mid_ranks(levels.share))[:, None], levels.share)
    return levels.per_sample(quantile / np.sqrt(levels.share @ quantile**2))[0]


def feature_phi(levels: Levels) -> Array:
    """phi_k / k of one feature, k = 1..4: (4, n), rows of zeros where there are fewer.

    The weights 1/k are those of the cosine expansion of -|u - u'|; nominal levels have no
    smooth and rough functions and weigh the same.
    """
    functions = np.zeros((N_FUNCTIONS, len(levels.code)))
    if levels.n_levels < 2:
        return functions
    if levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        per_level = _level_eigenvectors(levels)
    else:
        per_level = _centred(_cosines(mid_ranks(levels.share), N_FUNCTIONS), levels.share)
        per_level /= np.sqrt(levels.share @ per_level**2)
    if not levels.is_nominal:
        per_level = per_level / np.arange(1, per_level.shape[1] + 1)
    functions[: per_level.shape[1]] = levels.per_sample(per_level)
    return functions


def n_additive_cosines(n: float) -> int:
    """Cosines per feature in the additive model: 4, and more once n can pay for them."""
    return int(np.clip(np.ceil(4 * (n / 800) ** 0.5), 4, 12))


def n_additive_columns(levels: Levels, n_cosines: int) -> int:
    """How many columns `additive_columns` has."""
    n_indicators = int(np.any(levels.code < 0) and np.any(levels.code >= 0))
    if levels.n_levels < 2:
        return n_indicators
    if _has_dummies(levels):
        return min(levels.n_levels, MOST_NOMINAL_DUMMIES) + n_indicators
    return 1 + n_cosines + n_indicators


def _has_dummies(levels: Levels) -> bool:
    return levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_DUMMIES


def _dummies(levels: Levels) -> Array:
    """One column per level, the rarest sharing one where there are very many."""
    if levels.n_levels <= MOST_NOMINAL_DUMMIES:
        return np.eye(levels.n_levels)
    column = np.minimum(np.arange(levels.n_levels), MOST_NOMINAL_DUMMIES - 1)
    return np.eye(MOST_NOMINAL_DUMMIES)[column]


def _smooth_columns(levels: Levels, n_cosines: int) -> Array:
    """The standardised value, clipped, and cosines of its mid-rank: (n_levels, 1 + n_cosines)."""
    value = levels.value / np.abs(levels.value).max()
    centred = value - levels.share @ value
    z = np.clip(centred / np.sqrt(levels.share @ centred**2), -LARGEST_Z, LARGEST_Z)
    return np.column_stack([z, _cosines(mid_ranks(levels.share), n_cosines)])


def additive_columns(levels: Levels, weight: Array, n_cosines: int) -> AdditiveColumns:
    """Columns of one feature in Z: dummies for few levels, else value and cosines; centred."""
    if levels.n_levels < 2:
        values, penalty = np.zeros((0, len(weight))), np.zeros(0)
    else:
        if _has_dummies(levels):
            per_level = _dummies(levels)
            penalty = np.ones(per_level.shape[1])
        else:
            per_level = _smooth_columns(levels, n_cosines)
            penalty = np.concatenate([[1.0], np.arange(1.0, n_cosines + 1) ** 2])
        values = levels.per_sample(_centred(per_level, levels.share))
    is_missing = levels.code < 0
    if is_missing.any() and not is_missing.all():
        indicator = is_missing - np.average(is_missing, weights=weight)
        values, penalty = np.vstack([values, indicator]), np.append(penalty, 1.0)
    return AdditiveColumns(values, penalty)
