"""Class-wise k-means over the partitions of a table: Lloyd's steps as sums and counts.

    assign   every row to the nearest centre of its own class
    sum      rows and counts of every centre, a task per partition
    merge    32 partitions at a time, in fixed order, then one division

What comes back from a partition has the size of the centres, whatever the size of the partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count
from immigrate.cluster.drawing import stratified_sample
from immigrate.cluster.partitions import aligned_partitions, computed, each, row_partitions
from immigrate.cluster.passes import FAN_IN, slices

# Numbers in a block of distances from rows to centres: 8 MB.
BLOCK_NUMBERS = 2**20


@dataclass(frozen=True, eq=False)
class Centres:
    """Centres of the classes, with the number of rows that are nearest to each.

    Attributes
    ----------
    values : ndarray of shape (k, p)
    labels : ndarray of shape (k,)
        The class of each centre.
    counts : ndarray of shape (k,)
    scale : ndarray of shape (p,)
        Factor of each feature in distances: the square root of its weight.
    """

    values: Array
    labels: np.ndarray
    counts: Array
    scale: Array


class ClassSums(NamedTuple):
    """What a partition says of the centres."""

    sums: Array  # (k, p)
    counts: Array  # (k,)
    inertia: float  # sum of squared distances


def class_centres(
    X: Any,
    y: Any,
    n_centres: int,
    *,
    scale: Array | None = None,
    n_iter: int = 10,
    random_state: int = 0,
) -> Centres:
    """Centres of each class, in proportion to its size, by Lloyd's steps over all partitions.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Numbers without gaps.
    y : dask.array.Array, dask.dataframe.Series or array-like
    n_centres : int
        Centres that no row is nearest to are left out.
    scale : ndarray of shape (p,), optional
        Factor of each feature in distances, such as the square root of its weight in W. 1 each
        by default.
    n_iter : int, default=10
        Steps; fewer where nothing moves any more.
    random_state : int, default=0
        For the rows that the centres start from.

    Returns
    -------
    Centres

    Examples
    --------
    >>> import dask.array as da
    >>> from immigrate.cluster.centres import class_centres
    >>> x = da.from_array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]], chunks=(2, 1))
    >>> centres = class_centres(x, ["a", "a", "a", "b", "b", "b"], 4)
    >>> centres.values.ravel().round(2)
    array([0.05, 5.  , 5.1 , 9.1 ])
    >>> centres.counts
    array([2., 1., 1., 2.])
    """
    check_count("n_iter", n_iter)
    start = stratified_sample(X, y, n_centres, random_state=random_state)
    values = numbers_of(start.X)
    centres = Centres(
        values,
        start.y,
        np.zeros(len(values)),
        np.ones(values.shape[1]) if scale is None else scale,
    )
    rows = list(zip(row_partitions(X), aligned_partitions(y, X, "y")))
    before = np.inf
    for _ in range(n_iter):
        centres, inertia = lloyd_step(rows, centres)
        if inertia == before:
            break
        before = inertia
    return without_empty(centres)


def lloyd_step(rows: Sequence[tuple[Any, Any]], centres: Centres) -> tuple[Centres, float]:
    """The means of the rows nearest to each centre, and the inertia before; the empty stay."""
    from dask import delayed

    held = delayed(centres, pure=False, traverse=False)
    tasks = each(class_sums, *zip(*rows), centres=held)
    while len(tasks) > FAN_IN:
        tasks = each(added, slices(tasks, FAN_IN))
    sums, counts, inertia = added(computed(tasks))
    means = sums / np.maximum(counts, 1)[:, None]
    values = np.where(counts[:, None] > 0, means, centres.values)
    return replace(centres, values=values, counts=counts), inertia


def class_sums(X: Any, y: Any, centres: Centres) -> ClassSums:
    """Sum and count of the rows of a partition that are nearest to each centre of their class."""
    X, y = numbers_of(X), np.asarray(y)
    sums, counts, inertia = np.zeros_like(centres.values), np.zeros(len(centres.values)), 0.0
    for label in dict.fromkeys(centres.labels.tolist()):
        own = np.flatnonzero(centres.labels == label)
        table = X[y == label]
        nearest, distance = nearest_centres(
            table * centres.scale, centres.values[own] * centres.scale
        )
        np.add.at(sums, own[nearest], table)
        counts[own] += np.bincount(nearest, minlength=len(own))
        inertia += float(distance.sum())
    return ClassSums(sums, counts, inertia)


def nearest_centres(X: Array, centres: Array) -> tuple[Codes, Array]:
    """The nearest centre of each row, the first of equals, and the squared distance from it."""
    size = max(1, BLOCK_NUMBERS // len(centres))
    nearest = np.empty(len(X), dtype=np.intp)
    for start in range(0, len(X), size):
        block = X[start : start + size]
        # |x|^2 is the same for all centres of a row.
        squared = np.einsum("ka,ka->k", centres, centres) - 2 * block @ centres.T
        nearest[start : start + size] = squared.argmin(axis=1)
    gap = X - centres[nearest]
    return nearest, np.einsum("na,na->n", gap, gap)


def added(parts: Sequence[ClassSums]) -> ClassSums:
    """Sums over several partitions, in their order."""
    return ClassSums(
        reduce(np.add, [part.sums for part in parts]),
        reduce(np.add, [part.counts for part in parts]),
        sum(part.inertia for part in parts),
    )


def without_empty(centres: Centres) -> Centres:
    """The centres that some row is nearest to."""
    is_kept = centres.counts > 0
    return replace(
        centres,
        values=centres.values[is_kept],
        labels=centres.labels[is_kept],
        counts=centres.counts[is_kept],
    )


def numbers_of(X: Any) -> Array:
    """A partition as numbers; gaps have no place in a mean."""
    values = np.asarray(X, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("Centres are means of rows, and X has missing values; fill them first.")
    return values
