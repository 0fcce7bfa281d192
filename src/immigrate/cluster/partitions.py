"""Tables that no memory holds: ``dask.array`` and ``dask.dataframe``, partition by partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from immigrate.arrays import Array
from immigrate.cluster.passes import Cluster
from immigrate.kernels import RUNNER

# Rows of a partition that are predicted at a time: what is made of them on the way, and is several
# times as large, does not grow with the partition.
BLOCK_ROWS = 8192


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
