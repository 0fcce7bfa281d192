"""The distinct values of a feature, and functions of them.

Everything later is built from mid-ranks u = (weight below + half the own weight) / total, so that
a sample of weight two counts as two samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.typing import Array, Codes

TINY = np.finfo(np.float64).tiny


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


def cosines(u: Array, n_terms: int) -> Array:
    """sqrt(2) cos(pi k u) for k = 1..n_terms: (len(u), n_terms)."""
    return np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, n_terms + 1)))


def centred(columns: Array, share: Array) -> Array:
    """Columns over levels less their mean over the samples."""
    return columns - share @ columns
