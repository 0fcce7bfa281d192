"""The distinct values of a feature, and functions of them.

Everything later is built from mid-ranks u = (weight below + half the own weight) / total, so that
a sample of weight two counts as two samples.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from immigrate.arrays import Array, Codes

TINY = np.finfo(np.float64).tiny
# With more levels, functions of them are computed where they are needed instead of kept.
MOST_TABLED = 2**16


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

    @cached_property
    def has_missing(self) -> bool:
        """Whether the value of some sample is missing."""
        return bool(np.any(self.code < 0))

    def per_sample(self, per_level: Array) -> Array:
        """Spread columns over levels (n_levels, k) to samples (k, n); missing becomes 0."""
        # A missing value has the code -1, which is the last row: zeros.
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


def recurred_cosines(u: Array, n_terms: int) -> Array:
    """The same by cos(k t) = 2 cos(t) cos((k-1) t) - cos((k-2) t), for long tables.

    One cosine for all of them; the last one is right to 1e-13.
    """
    columns = np.empty((n_terms, len(u)))
    double = 2 * np.cos(np.pi * u)
    columns[0] = double / 2
    before: Array | float = 1.0
    for k in range(1, n_terms):
        np.multiply(double, columns[k - 1], out=columns[k])
        columns[k] -= before
        before = columns[k - 1]
    return np.sqrt(2) * columns.T


Formula = Callable[[Codes | slice], Array]


@dataclass(frozen=True, eq=False)
class LevelColumns:
    """Columns as functions of the level, centred over the samples.

    Attributes
    ----------
    formula : callable
        From places of levels to columns (l, k), not yet centred.
    n_levels : int
    shift, size, order : ndarray of shape (k,), or float
        The column is (formula - shift) / size / order.
    """

    formula: Formula
    n_levels: int
    shift: Array | float = 0.0
    size: Array | float = 1.0
    order: Array | float = 1.0

    def at(self, places: Codes | slice) -> Array:
        """Values at some of the levels: (l, k)."""
        values = self.formula(places) - self.shift
        for divisor in (self.size, self.order):
            if not isinstance(divisor, float):
                values /= divisor
        return values

    def of(self, code: Codes) -> Array:
        """Values of samples with these levels (k, n_rows); a missing one, -1, has 0."""
        if self.n_levels <= MOST_TABLED:
            return self._padded[code].T
        values = self.at(code)
        # The code -1 has read the last level, which is not meant.
        values[code < 0] = 0.0
        return values.T

    @cached_property
    def _padded(self) -> Array:
        """Values at all levels, and a last row of zeros for missing ones."""
        table = self.at(slice(None))
        return np.vstack([table, np.zeros((1, table.shape[1]))])


def centred_columns(
    formula: Formula, share: Array, *, is_scaled: bool = False, order: Array | float = 1.0
) -> LevelColumns:
    """Columns of a formula less their mean over the samples, with unit variance if asked for."""
    n = len(share)
    # A level per sample is possible: formulas are never evaluated at all of them at once.
    blocks = [slice(i, min(i + MOST_TABLED, n)) for i in range(0, n, MOST_TABLED)]
    shift = sum(share[own] @ formula(own) for own in blocks)
    if not is_scaled:
        return LevelColumns(formula, n, shift, order=order)
    # Two passes over the levels: a difference of large sums would lose its digits.
    size = np.sqrt(sum(share[own] @ (formula(own) - shift) ** 2 for own in blocks))
    return LevelColumns(formula, n, shift, size, order)
