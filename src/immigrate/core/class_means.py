"""How far each sample is from the mean of each class: the global side of a margin.

    number      |x_nf - mean of class c|
    category    share of class c with another level: the mean of its mismatches

A sample is left out of the mean of its own class, as it is no neighbour of itself. A missing value
is as far from a mean as the known values of its class are on average. Where nothing is known of a
class, its mean is that of all samples.
"""

from __future__ import annotations

import numpy as np

from immigrate.arrays import Array, Codes, Mask


def class_mean_differences(values: Array, is_categorical: Mask, y: Codes) -> Array:
    """Difference of every sample from the mean of every class in each feature, (n, k, p).

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Numbers in the units of their differences, codes of levels, NaN where missing.
    is_categorical : ndarray of shape (p,)
    y : ndarray of shape (n,)
        Class codes.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.core.class_means import class_mean_differences
    >>> X, y = np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> class_mean_differences(X, np.array([False]), y)[0].ravel()
    array([2., 6.])
    """
    difference = [
        _from_shares(x, y) if categorical else _from_means(x, y)
        for x, categorical in zip(values.T, is_categorical)
    ]
    return np.moveaxis(np.array(difference), 0, -1)


def _from_means(x: Array, y: Codes) -> Array:
    """Differences of one number, (n, k)."""
    is_known = ~np.isnan(x)
    member = _members(is_known, y)  # (k, n)
    size = member.sum(axis=1)
    # Divided before they are added up: the sum of huge numbers would overflow.
    part = np.where(member, np.nan_to_num(x), 0.0) / size[:, None]
    mean = part.sum(axis=1)
    others = np.broadcast_to(mean, (len(x), len(size))).copy()
    rows, own, is_alone = _own_classes(member, size)
    others[rows, own] = np.where(is_alone, mean[own], _without(mean[own], x[rows], size[own]))
    return _filled(np.abs(np.nan_to_num(x)[:, None] - others), is_known, y)


def _from_shares(x: Array, y: Codes) -> Array:
    """Differences of one category, (n, k)."""
    is_known = ~np.isnan(x)
    member = _members(is_known, y)
    size = member.sum(axis=1)
    # A missing value has a level of its own, which is never read.
    _, level = np.unique(x, return_inverse=True)
    count = np.array([np.bincount(level[m], minlength=level.max() + 1) for m in member])  # (k, L)
    share = (count / size[:, None])[:, level].T
    rows, own, is_alone = _own_classes(member, size)
    share[rows, own] = np.where(is_alone, 1.0, _without(share[rows, own], 1.0, size[own]))
    return _filled(1.0 - share, is_known, y)


def _members(is_known: Mask, y: Codes) -> Mask:
    """Samples behind the mean of each class, (k, n): its own, or all where none is known."""
    members = is_known & (np.arange(int(y.max()) + 1)[:, None] == y)
    everybody = is_known if is_known.any() else np.ones_like(is_known)
    members[~members.any(axis=1)] = everybody
    return members


def _own_classes(member: Mask, size: Codes) -> tuple[Codes, Codes, Mask]:
    """Each sample with each mean that it is part of, and whether it is all of it."""
    own, rows = np.nonzero(member)
    return rows, own, size[own] == 1


def _without(mean: Array, x: Array | float, size: Codes) -> Array:
    """A mean without one of its values."""
    rest = np.maximum(size - 1, 1)
    without: Array = mean + (mean - x) / rest
    return without


def _filled(difference: Array, is_known: Mask, y: Codes) -> Array:
    """Rows without a value get the mean row of the known ones of their class, or of all."""
    if is_known.all():
        return difference
    if not is_known.any():
        return np.zeros_like(difference)  # nothing is known of it: no two samples differ
    for c in np.unique(y[~is_known]):
        known = is_known & (y == c)
        rows = known if known.any() else is_known
        difference[~is_known & (y == c)] = difference[rows].mean(axis=0)
    return difference
