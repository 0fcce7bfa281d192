"""A sample of a table that no memory holds, each class in proportion.

    y  ->  how many rows of each class every partition has        a task per partition
       ->  which rows are drawn, decided in this process
    X  ->  these rows                                             a task per partition

A row is drawn by its number within its class, in the order of the whole table. So neither who
computes a partition nor how the table is cut changes the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count
from immigrate.cluster.partitions import (
    aligned_partitions,
    computed,
    each,
    row_partitions,
    stacked,
)
from immigrate.cluster.passes import N_DRAWN, Cluster
from immigrate.kernels import RUNNER
from immigrate.table.open import OPENERS

# A nearest hit needs another sample of the class.
FEWEST_PER_CLASS = 2


@dataclass(frozen=True, eq=False)
class Drawn:
    """Some rows of a table.

    Attributes
    ----------
    X : ndarray or DataFrame
    y : ndarray
    weight : ndarray of shape (n,)
        How many rows of the table each stands for, times its own weight.
    n_seen : int
        Rows of the table.
    n_partitions : int
    """

    X: Any
    y: np.ndarray
    weight: Array
    n_seen: int
    n_partitions: int

    def __str__(self) -> str:
        return f"drew {len(self.y):,} of {self.n_seen:,} rows from {self.n_partitions} partitions"


def training_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, str]:
    """The rows of a collection that a fit works on: as many as the cluster in use says."""
    cluster = RUNNER.get()
    n_drawn = cluster.n_drawn if isinstance(cluster, Cluster) else N_DRAWN
    drawn = stratified_sample(X, y, n_drawn, sample_weight=sample_weight)
    return drawn.X, drawn.y, drawn.weight, str(drawn)


OPENERS["dask"] = training_rows


def stratified_sample(
    X: Any,
    y: Any,
    n_samples: int = N_DRAWN,
    *,
    sample_weight: Any = None,
    random_state: int = 0,
) -> Drawn:
    """Rows drawn without replacement, each class in proportion to its size.

    The label is read twice, every partition of `X` once.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The table, in partitions of rows.
    y : dask.array.Array, dask.dataframe.Series or array-like
        The label, in the partitions of `X`.
    n_samples : int, default=10000
        Rows to draw; all of them if there are no more. A class has at least 2.
    sample_weight : like `y`, optional
        Weights of the rows, drawn with them.
    random_state : int, default=0
        Another number draws other rows.

    Returns
    -------
    Drawn
        The rows `X` and labels `y` that were drawn, and how many rows each stands for.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from immigrate.cluster import stratified_sample
    >>> X = da.arange(12_000).reshape(-1, 2).rechunk((1000, 2))
    >>> y = (da.arange(6000) % 3 == 0).rechunk(1000)
    >>> sample = stratified_sample(X, y, 300)
    >>> print(sample)
    drew 300 of 6,000 rows from 6 partitions
    >>> np.bincount(sample.y)
    array([200, 100])
    """
    check_count("n_samples", n_samples)
    tables, labels = row_partitions(X), aligned_partitions(y, X, "y")
    weights = aligned_partitions(sample_weight, X, "sample_weight")
    counts = computed(each(class_counts, range(len(tables)), labels))
    wanted = chosen_rows(counts, n_samples, random_state)
    # Partitions of which nothing is wanted are not read.
    asked = [row for row in zip(range(len(tables)), tables, labels, weights, wanted) if row[-1]]
    found = computed(each(taken_rows, *zip(*asked)))
    classes = np.concatenate([part[1] for part in found])
    return Drawn(
        stacked([part[0] for part in found]),
        classes,
        rows_stood_for(classes, counts) * np.concatenate([part[2] for part in found]),
        n_seen=sum(count.total() for count in counts),
        n_partitions=len(tables),
    )


def class_counts(i: int, y: Any) -> Counter[Any]:
    """How many rows of a partition each class has."""
    labels = pd.Series(np.asarray(y))
    n_missing = int(labels.isna().sum())
    if n_missing:
        raise ValueError(
            f"The label is missing in {n_missing} rows of partition {i}; drop them first, for "
            "example with table.dropna(subset=[label])."
        )
    return Counter(labels.value_counts(sort=False).to_dict())


def chosen_rows(
    counts: Sequence[Counter[Any]], n_samples: int, random_state: int
) -> list[dict[Any, Codes]]:
    """For each partition, the rows of each class that are drawn, by their number in the class."""
    # An order that does not depend on the partitions, for labels of any type.
    classes = sorted({label for count in counts for label in count}, key=str)
    sizes = np.array([[count[label] for label in classes] for count in counts])
    wanted: list[dict[Any, Codes]] = [{} for _ in counts]
    for c, n_wanted in enumerate(allocation(sizes.sum(axis=0), n_samples)):
        rng = np.random.default_rng([random_state, c])
        rows = np.sort(rng.choice(sizes[:, c].sum(), size=n_wanted, replace=False))
        ends = np.cumsum(sizes[:, c])
        for i, own in enumerate(np.split(rows, np.searchsorted(rows, ends[:-1]))):
            if len(own):
                wanted[i][classes[c]] = own - (ends[i] - sizes[i, c])
    return wanted


def allocation(sizes: Codes, n_samples: int) -> Codes:
    """How many of each class: in proportion, the largest remainders rounded up."""
    n_samples = min(n_samples, int(sizes.sum()))
    exact = sizes * (n_samples / sizes.sum())
    rounded: Codes = np.floor(exact).astype(np.intp)
    n_left = n_samples - int(rounded.sum())
    rounded[np.argsort(rounded - exact, kind="stable")[:n_left]] += 1
    return np.minimum(np.maximum(rounded, FEWEST_PER_CLASS), sizes)


def taken_rows(
    i: int, X: Any, y: Any, weight: Any, wanted: dict[Any, Codes]
) -> tuple[Any, np.ndarray, Array]:
    """The wanted rows of a partition, in its order, with their labels and weights."""
    y = np.asarray(y)
    if len(X) != len(y):
        raise ValueError(f"Partition {i} of X has {len(X)} rows, the one of y has {len(y)}.")
    rows = np.sort(np.concatenate([np.flatnonzero(y == c)[own] for c, own in wanted.items()]))
    taken = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
    return taken, y[rows], np.ones(len(rows)) if weight is None else np.asarray(weight)[rows]


def rows_stood_for(classes: np.ndarray, counts: Sequence[Counter[Any]]) -> Array:
    """How many rows of the table each row of the sample stands for."""
    n_seen: Counter[Any] = sum(counts, Counter())
    labels = classes.tolist()
    n_drawn = Counter(labels)
    return np.array([n_seen[label] / n_drawn[label] for label in labels])
