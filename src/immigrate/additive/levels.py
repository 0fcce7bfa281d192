"""The distinct values of a feature, and the share of the weight on each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from immigrate.arrays import Array, Codes

TINY = np.finfo(np.float64).tiny
# Groups of ranks, one per so many samples, whose variances are compared.
SAMPLES_PER_GROUP, FEWEST_GROUPS, MOST_GROUPS, MOST_NOMINAL_GROUPS = 30, 2, 6, 10


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
    is_circular : bool
        Whether the highest level is next to the lowest one.
    n_levels : int
        Number of distinct observed values.
    has_missing : bool
        Whether the value of some sample is missing.
    """

    code: Codes
    value: Array
    share: Array
    is_nominal: bool
    n_observed: float
    is_circular: bool = False
    n_levels: int = field(init=False)
    has_missing: bool = field(init=False)

    def __post_init__(self) -> None:
        vars(self).update(n_levels=len(self.value), has_missing=bool(np.any(self.code < 0)))


def feature_levels(
    x: Array, weight: Array, is_nominal: bool = False, is_circular: bool = False
) -> Levels:
    """Distinct observed values of `x` with the share of `weight` on each.

    A feature that is one value or missing is a flag: missing is its other level. Values on a
    circle are to be within one period.
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
    share = count / max(n_observed, TINY)
    return Levels(code, value, share, is_nominal, n_observed, is_circular)


def variance_groups(levels: Levels, n: float) -> Codes:
    """Groups of samples by one feature: its levels if they are few, else ranges of ranks."""
    most = int(np.clip(n // SAMPLES_PER_GROUP, FEWEST_GROUPS, MOST_GROUPS))
    if levels.is_nominal:
        group = np.minimum(np.arange(levels.n_levels), MOST_NOMINAL_GROUPS - 1)
    elif levels.n_levels <= MOST_GROUPS:
        group = np.arange(levels.n_levels)
    else:
        rank = np.cumsum(levels.share) - levels.share / 2
        group = np.minimum((rank * most).astype(np.intp), most - 1)
    # Those whose value is missing are a group too: the code -1 reads the last place.
    return np.append(group, group.max(initial=0) + 1)[levels.code]
