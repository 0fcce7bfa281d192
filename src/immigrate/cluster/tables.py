"""Tables that no memory holds: ``dask.array`` and ``dask.dataframe``, partition by partition.

A sample of such a table has each class in proportion:

    y  ->  how many rows of each class every partition has        a task per partition
       ->  which rows are drawn, decided in this process
    X  ->  these rows                                             a task per partition

A row is drawn by its number within its class, in the order of the whole table. So neither who
computes a partition nor how the table is cut changes the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count
from immigrate.kernels import RUNNER

# Rows of a partition that are predicted at a time: what is made of them on the way, and is several
# times as large, does not grow with the partition.
BLOCK_ROWS = 8192
# Rows that a fit draws from a table that is larger than memory.
N_DRAWN = 10_000
# A nearest hit needs another sample of the class.
FEWEST_PER_CLASS = 2


def is_collection(X: Any) -> bool:
    """Whether `X` is a collection of Dask; finds out without importing it."""
    return type(X).__module__.split(".")[0] == "dask" and hasattr(X, "__dask_graph__")


def row_partitions(X: Any) -> list[Any]:
    """The partitions of a table, whole rows each, as delayed values."""
    if hasattr(X, "rechunk"):
        return list((X.rechunk({1: -1}) if X.ndim == 2 else X).to_delayed().ravel())
    # Dask's whole optimisation would read several files as one partition where few columns are
    # wanted: y in other partitions than X. This much of it reads no column in vain.
    return list(X.simplify().to_delayed(optimize_graph=False))


def row_counts(X: Any) -> list[float]:
    """Rows of each partition; NaN where only reading it would tell."""
    return list(X.chunks[0]) if hasattr(X, "chunks") else [np.nan] * X.npartitions


def aligned_partitions(values: Any, X: Any, name: str) -> list[Any]:
    """One value per row in the partitions of `X`; None stays None in each of them."""
    counts = row_counts(X)
    if values is None:
        return [None] * len(counts)
    if not is_collection(values):
        return cut(np.asarray(values), counts, name)
    if hasattr(values, "chunks") and not np.isnan([*counts, *row_counts(values)]).any():
        check_length(name, len(values), int(sum(counts)))
        values = values.rechunk((tuple(counts),))
    parts = row_partitions(values)
    if len(parts) != len(counts):
        raise ValueError(
            f"X has {len(counts)} partitions and {name} has {len(parts)}; take both from one "
            "table, before it is cut."
        )
    return parts


def cut(values: np.ndarray, counts: Sequence[float], name: str) -> list[Any]:
    """Values in memory, cut as the rows of a collection are."""
    if np.isnan(counts).any():
        raise ValueError(
            f"{name} is in memory, and how many rows the partitions of X have is not known. "
            f"Take {name} from the same table as X, or give both as arrays of known chunks."
        )
    check_length(name, len(values), int(sum(counts)))
    return list(np.split(values, np.cumsum(counts).astype(int)[:-1]))


def check_length(name: str, n_values: int, n_rows: int) -> None:
    """Refuse a label or weight that is not one per row."""
    if n_values != n_rows:
        raise ValueError(f"X has {n_rows} rows and {name} has {n_values}; they must agree.")


def each(function: Callable[..., Any], *columns: Sequence[Any], **shared: Any) -> list[Any]:
    """A delayed call for each row of the columns."""
    from dask import delayed

    call = delayed(function, pure=False)
    return [call(*row, **shared) for row in zip(*columns)]


def computed(tasks: Sequence[Any]) -> list[Any]:
    """The values of delayed calls: by the cluster in use, else by what Dask has."""
    import dask

    from immigrate.cluster import Cluster

    cluster = RUNNER.get()
    if isinstance(cluster, Cluster):
        return cluster.results(cluster.client.compute(list(tasks)))
    return list(dask.compute(*tasks))


def stacked(tables: Sequence[Any]) -> Any:
    """Tables one above the other; frames keep their categories."""
    if not hasattr(tables[0], "iloc"):
        return np.concatenate(tables)
    from dask.dataframe.methods import concat

    return concat(list(tables))


def mapped_rows(method: Callable[[Any], Array], X: Any, *, empty: Array) -> Any:
    """A method of a model over the partitions of a collection, lazily: a dask array.

    Parameters
    ----------
    method : bound method
        Rows in, values out.
    X : dask.array.Array or dask.dataframe.DataFrame
    empty : ndarray
        What it gives for no rows.
    """
    import dask.array as da
    from dask import delayed

    # One task holds the model, however many partitions need it.
    held = delayed(method, pure=False, traverse=False)
    tasks = each(values_of_rows, row_partitions(X), method=held, empty=empty)
    return da.concatenate(
        [
            da.from_delayed(task, (n_rows, *empty.shape[1:]), meta=empty)
            for task, n_rows in zip(tasks, row_counts(X))
        ],
        allow_unknown_chunksizes=True,
    )


def values_of_rows(X: Any, *, method: Callable[[Any], Array], empty: Array) -> Array:
    """What a method says of the rows of one partition, some at a time; it may have none."""
    rows = X.iloc if hasattr(X, "iloc") else X
    blocks = [rows[i : i + BLOCK_ROWS] for i in range(0, len(X), BLOCK_ROWS)]
    return np.concatenate([empty, *(method(block) for block in blocks)])


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
    from immigrate.cluster import Cluster

    cluster = RUNNER.get()
    n_drawn = cluster.n_drawn if isinstance(cluster, Cluster) else N_DRAWN
    drawn = stratified_sample(X, y, n_drawn, sample_weight=sample_weight)
    return drawn.X, drawn.y, drawn.weight, str(drawn)


def stratified_sample(
    X: Any, y: Any, n_samples: int = N_DRAWN, *, sample_weight: Any = None, random_state: int = 0
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
    parts_to_read = [
        row for row in zip(range(len(tables)), tables, labels, weights, wanted) if row[-1]
    ]
    found = computed(each(taken_rows, *zip(*parts_to_read)))
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
