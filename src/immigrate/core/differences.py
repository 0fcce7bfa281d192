"""How far apart two samples are in each feature: one number >= 0 per feature.

    d_f(i, j) = |x_if - x_jf|                numbers
              = min(|x - x'|, P_f - |x - x'|)  numbers that come round after the period P_f
              = mismatch_f                   two different levels of a category, 0 if they agree
              = E d_f(i, X)                  where x_jf is missing, X a training value
              = E d_f(X, X')                 where both are missing

No class enters the expectations, because a new sample has none when it is to be predicted. ReliefF
draws from the class of the sample whose value is missing instead; that rule is in ``mixed_table``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.kinds.circular import mean_circular_difference


class Samples(NamedTuple):
    """Rows of a table, as differences are taken of them.

    Attributes
    ----------
    values : ndarray of shape (n, p)
        Numbers in the units of their differences, codes of levels, NaN where missing.
    expected : ndarray of shape (g, n)
        For each feature with gaps, the expected difference of a sample from one whose value is
        missing.
    """

    values: Array
    expected: Array

    def take(self, rows: Codes) -> Samples:
        """Some of the rows."""
        return Samples(self.values[rows], self.expected[:, rows])


class Differences(Protocol):
    """What a pass asks of the differences."""

    def __call__(self, rows: Samples, columns: Samples) -> Array:
        """Differences of every row from every column, (p, r, c)."""


@dataclass(frozen=True, eq=False)
class ColumnKinds:
    """What sets the differences of columns apart from those of numbers on a line.

    Attributes
    ----------
    is_nominal : ndarray of shape (p,)
        Columns whose values are levels without an order.
    mismatch : float or ndarray of shape (p,)
        Difference between two levels, in the units of the numbers.
    period : ndarray of shape (p,) or None
        After which numbers come round, infinite for those that do not; None where none does.
    """

    is_nominal: Mask
    mismatch: float | Array = 1.0
    period: Array | None = None

    def scaled(self, exponent: int) -> ColumnKinds:
        """The same for numbers that are multiplied by this power of two."""
        period = None if self.period is None else np.ldexp(self.period, exponent)
        return ColumnKinds(self.is_nominal, np.ldexp(self.mismatch, exponent), period)


@dataclass(frozen=True)
class ColumnDifferences:
    """Differences by the kind of each column.

    Attributes
    ----------
    kinds : ColumnKinds
    has_gap : ndarray of shape (p,)
        Features with a missing value in any of the tables that meet.
    drawn : ndarray of shape (n, p)
        Training values, from which missing ones are drawn.
    count : ndarray of shape (n,)
        How often each of them was seen.
    """

    kinds: ColumnKinds
    has_gap: Mask
    drawn: Array
    count: Array

    @classmethod
    def of(
        cls, X: Array, kinds: ColumnKinds | None = None, *, count: Array | None = None
    ) -> ColumnDifferences:
        """Differences as the training table `X` defines them; of numbers by default."""
        n, p = X.shape
        kinds = ColumnKinds(np.zeros(p, dtype=bool)) if kinds is None else kinds
        if np.ndim(kinds.mismatch) == 0:
            kinds = replace(kinds, mismatch=np.full(p, kinds.mismatch, dtype=np.float64))
        return cls(kinds, gaps(X), X, np.ones(n) if count is None else count)

    @cached_property
    def is_plain(self) -> bool:
        """Whether all features are numbers on a line without gaps."""
        kinds = self.kinds
        return kinds.period is None and not (kinds.is_nominal.any() or self.has_gap.any())

    def with_gaps_of(self, X: Array) -> ColumnDifferences:
        """The same where the features in which `X` has a gap may be missing too."""
        return replace(self, has_gap=self.has_gap | gaps(X))

    def samples(self, X: Array) -> Samples:
        """Rows of a table with what is expected of them where the other value is missing."""
        if self.is_plain:
            return Samples(X, np.empty((0, len(X)), dtype=X.dtype))
        expected = [self._expected(int(f), X[:, f]) for f in np.flatnonzero(self.has_gap)]
        return Samples(X, np.array(expected, dtype=X.dtype).reshape(-1, len(X)))

    def __call__(self, rows: Samples, columns: Samples) -> Array:
        """Differences of every row from every column, (p, r, c)."""
        x, y = rows.values.T[:, :, None], columns.values.T[:, None, :]
        d, kinds = np.abs(x - y), self.kinds
        if kinds.period is not None:
            d = np.minimum(d, kinds.period.astype(d.dtype)[:, None, None] - d)
        # A missing level differs from all others here; the next lines replace it.
        mismatch = np.asarray(kinds.mismatch)[:, None, None]
        d[kinds.is_nominal] = (mismatch * (x != y))[kinds.is_nominal]
        for g, f in enumerate(np.flatnonzero(self.has_gap)):
            d[f] = np.where(np.isnan(y[f]), rows.expected[g][:, None], d[f])
            d[f] = np.where(np.isnan(x[f]), columns.expected[g][None, :], d[f])
        return d

    def _expected(self, f: int, x: Array) -> Array:
        """Expected difference of each of `x` from a missing value of feature `f`."""
        is_known = ~np.isnan(self.drawn[:, f]) & (self.count > 0)
        if not is_known.any():
            return np.zeros(len(x))  # nothing is known of it: no two samples differ
        drawn, count = self.drawn[is_known, f].astype(np.float64), self.count[is_known]
        kinds, nominal = self.kinds, bool(self.kinds.is_nominal[f])
        unit = float(np.asarray(kinds.mismatch)[f]) if nominal else 1.0
        period = np.inf if kinds.period is None else float(kinds.period[f])
        both = np.average(mean_difference(drawn, drawn, nominal, count, period), weights=count)
        one = mean_difference(np.where(np.isnan(x), drawn[0], x), drawn, nominal, count, period)
        return unit * np.where(np.isnan(x), both, one)


def gaps(X: Array) -> Mask:
    """Which features have a missing value."""
    # The sum of a column is NaN if one of its values is; testing p numbers is cheaper than n p.
    with np.errstate(over="ignore", invalid="ignore"):
        is_suspect = ~np.isfinite(X.sum(axis=0))
    if is_suspect.any():
        is_suspect[is_suspect] = np.isnan(X[:, is_suspect]).any(axis=0)
    return is_suspect


def mean_difference(
    x: Array, drawn: Array, is_nominal: bool, count: Array | None = None, period: float = np.inf
) -> Array:
    """Mean difference of each of `x` from the values `drawn`, each seen `count` times."""
    if period < np.inf:
        return mean_circular_difference(x, drawn, period, count)
    order = np.argsort(drawn, kind="stable")
    drawn = drawn[order]
    weight = np.ones(drawn.size) if count is None else count[order]
    seen = np.concatenate([[0.0], np.cumsum(weight)])
    low, high = np.searchsorted(drawn, x, side="left"), np.searchsorted(drawn, x, side="right")
    if is_nominal:
        return 1 - (seen[high] - seen[low]) / seen[-1]
    total = np.concatenate([[0.0], np.cumsum(drawn * weight)])
    below = seen[low] * x - total[low]
    above = total[-1] - total[low] - (seen[-1] - seen[low]) * x
    return (below + above) / seen[-1]
