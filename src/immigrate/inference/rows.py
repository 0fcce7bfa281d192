"""Columns of a long table, a few rows at a time.

Every statistic of the test is a sum over samples. Where the columns of the null model take more
than a share of scikit-learn's ``working_memory`` they are never all there: a block of rows is made,
summed over and forgotten, and made again when another sum needs it. A short table is one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import sklearn
from joblib import Parallel, delayed

from immigrate.typing import Array, Codes

Rows = slice | Codes
Sum = TypeVar("Sum")

# Of the working memory: what may be kept as a whole, and what one block of rows may take.
KEPT_SHARE, BLOCK_SHARE = 1 / 8, 1 / 64
FEWEST_ROWS = 64


@dataclass(frozen=True, eq=False)
class LazyColumns:
    """A matrix (n, m) whose rows are made when they are asked for.

    Attributes
    ----------
    parts : tuple of callables
        From rows to columns (k, n_rows); side by side they are the matrix.
    shape : tuple of int
    n_jobs : int or None
        Threads that share the blocks of rows.
    """

    parts: tuple[Callable[[Rows], Array], ...]
    shape: tuple[int, int]
    n_jobs: int | None = None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> Array:
        return np.ascontiguousarray(np.vstack([part(rows) for part in self.parts]).T)

    def beside(self, part: Callable[[Rows], Array], n_columns: int) -> LazyColumns:
        """With more columns on the right."""
        shape = (self.shape[0], self.shape[1] + n_columns)
        return LazyColumns((*self.parts, part), shape, self.n_jobs)

    def chosen(self, columns: Codes) -> LazyColumns:
        """Some of the columns."""

        def part(rows: Rows) -> Array:
            return self[rows][:, columns].T

        return LazyColumns((part,), (self.shape[0], len(columns)), self.n_jobs)


Columns = Array | LazyColumns


def kept_bytes() -> float:
    """What a matrix may take that is kept as a whole."""
    return float(sklearn.get_config()["working_memory"] * 2**20 * KEPT_SHARE)


def fits_whole(n: int, n_columns: int) -> bool:
    """Whether a matrix of numbers may be kept as a whole."""
    return 8.0 * n * n_columns <= kept_bytes()


def row_slices(n: int, n_columns: int, *, is_whole: bool) -> list[slice]:
    """All rows at once, or blocks of which `n_columns` numbers per row fit in memory.

    Examples
    --------
    >>> from immigrate.inference.rows import row_slices
    >>> row_slices(5, 3, is_whole=True)
    [slice(0, 5, None)]
    """
    if is_whole:
        return [slice(0, n)]
    block = sklearn.get_config()["working_memory"] * 2**20 * BLOCK_SHARE
    size = max(int(block / (8 * max(n_columns, 1))), FEWEST_ROWS)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def slices_of(Z: Columns) -> list[slice]:
    """The blocks of rows in which a matrix is visited: one for a matrix that is there."""
    return row_slices(*Z.shape, is_whole=not isinstance(Z, LazyColumns))


def mapped_rows(
    function: Callable[[slice], Sum], slices: list[slice], n_jobs: int | None = None
) -> Iterator[Sum]:
    """What a function gives for each block of rows, in order, computed on threads."""
    if len(slices) == 1:
        return iter([function(slices[0])])
    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    results: Iterator[Sum] = run(delayed(function)(rows) for rows in slices)
    return results


def block_sum(
    Z: Columns, function: Callable[[slice, Array], tuple[Array, ...]]
) -> tuple[Array, ...]:
    """Sum over the blocks of rows of Z of what a function makes of rows and block.

    The blocks are added in order, so that the number of threads does not matter.
    """
    n_jobs = Z.n_jobs if isinstance(Z, LazyColumns) else None
    return added(mapped_rows(lambda rows: function(rows, Z[rows]), slices_of(Z), n_jobs))


def added(parts: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Sum of tuples of arrays, in their order."""
    total: list[Array] = []
    for part in parts:
        if not total:
            total = list(part)
            continue
        for i, one in enumerate(part):
            total[i] = total[i] + one
    return tuple(total)


def product(Z: Columns, beta: Array) -> Array:
    """Z beta, (n, k)."""
    if not isinstance(Z, LazyColumns):
        return Z @ beta
    slices = slices_of(Z)
    return np.concatenate(list(mapped_rows(lambda rows: Z[rows] @ beta, slices, Z.n_jobs)))


def transposed_product(Z: Columns, values: Array) -> Array:
    """Z' values, (m, ...), from values (n, ...)."""
    flat = values.reshape(len(values), -1)
    (total,) = block_sum(Z, lambda rows, own: (own.T @ flat[rows],))
    return total.reshape(Z.shape[1], *values.shape[1:])
