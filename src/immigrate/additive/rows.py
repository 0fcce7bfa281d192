"""Columns of a long table, a few rows at a time.

Every statistic of the test is a sum over samples. Where the columns of the null model take more
than a share of scikit-learn's ``working_memory`` they are never all there: a block of rows is
made, summed over and forgotten, and made again when another sum needs it. A short table is one
block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from threading import local
from typing import TypeVar

import numpy as np
import sklearn
from joblib import Parallel, delayed

from immigrate.arrays import Array, Codes
from immigrate.progress import ALONE, Run

Rows = slice | Codes
ALL = slice(None)
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
    run : Run
        Threads that share the blocks of rows.
    """

    parts: tuple[Callable[[Rows], Array], ...]
    shape: tuple[int, int]
    run: Run = ALONE

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Rows) -> Array:
        # All rows, or chosen ones, are asked for once and would only take memory.
        if not isinstance(rows, slice) or rows == slice(None):
            return np.vstack([part(rows) for part in self.parts]).T
        # Several sums of one thread ask for the same rows, one after another.
        last = self._last
        if getattr(last, "rows", None) != rows:
            last.rows, last.block = rows, np.vstack([part(rows) for part in self.parts]).T
        block: Array = last.block
        return block

    def __matmul__(self, beta: Array) -> Array:
        return mapped(lambda _, own: own @ beta, self)

    @cached_property
    def _last(self) -> local:
        """The last block of each thread."""
        return local()

    def chosen(self, columns: Codes) -> LazyColumns:
        """Some of the columns."""

        def part(rows: Rows) -> Array:
            return self[rows][:, columns].T

        return LazyColumns((part,), (self.shape[0], len(columns)), self.run)


Columns = Array | LazyColumns


def kept_numbers() -> float:
    """How many numbers a matrix may have that is kept as a whole."""
    return float(sklearn.get_config()["working_memory"] * 2**20 * KEPT_SHARE / 8)


def row_slices(n: int, n_columns: int) -> list[slice]:
    """Blocks of rows of which `n_columns` numbers per row fit in memory.

    Examples
    --------
    >>> from immigrate.additive.rows import row_slices
    >>> row_slices(5, 3)
    [slice(0, 5, None)]
    """
    block = sklearn.get_config()["working_memory"] * 2**20 * BLOCK_SHARE
    size = max(int(block / (8 * max(n_columns, 1))), FEWEST_ROWS)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def mapped_rows(
    function: Callable[[slice], Sum], slices: list[slice], run: Run = ALONE
) -> Iterator[Sum]:
    """What a function gives for each block of rows, in order, computed on threads."""
    if len(slices) == 1:
        yield function(slices[0])
        return
    threads = Parallel(n_jobs=run.n_jobs, require="sharedmem", return_as="generator")
    results: Iterator[Sum] = threads(delayed(function)(rows) for rows in slices)
    for done, result in enumerate(results, 1):
        run.tick(done, len(slices))
        yield result


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


def row_sum(
    function: Callable[[slice], tuple[Array, ...]], n: int, n_columns: int, run: Run = ALONE
) -> tuple[Array, ...]:
    """Sum over n rows of what a function makes of a block of them, at once if they fit."""
    if n * n_columns <= kept_numbers():
        return function(slice(0, n))
    return added(mapped_rows(function, row_slices(n, n_columns), run))


def block_sum(
    Z: Columns, function: Callable[[slice, Array], tuple[Array, ...]]
) -> tuple[Array, ...]:
    """Sum over the blocks of rows of Z of what a function makes of rows and block.

    The blocks are added in order, so that the number of threads does not matter. A matrix in
    memory is one block.
    """
    if not isinstance(Z, LazyColumns):
        return function(slice(0, len(Z)), Z)
    return added(mapped_rows(lambda rows: function(rows, Z[rows]), row_slices(*Z.shape), Z.run))


def mapped(function: Callable[[slice, Array], Array], Z: Columns) -> Array:
    """What a function makes of rows and blocks of Z, one value or row for each sample."""
    if not isinstance(Z, LazyColumns):
        return function(slice(0, len(Z)), Z)
    slices = row_slices(*Z.shape)
    return np.concatenate(list(mapped_rows(lambda rows: function(rows, Z[rows]), slices, Z.run)))


def transposed_product(Z: Columns, values: Array) -> Array:
    """Z' values, (m, ...), from values (n, ...)."""
    flat = values.reshape(len(values), -1)
    (total,) = block_sum(Z, lambda rows, own: (own.T @ flat[rows],))
    return total.reshape(Z.shape[1], *values.shape[1:])


def beside(Z: Columns, parts: list[Callable[[Rows], Array]], n_columns: int) -> Columns:
    """Z with more columns on the right, `n_columns` in all."""
    if isinstance(Z, LazyColumns):
        return LazyColumns((*Z.parts, *parts), (len(Z), n_columns), Z.run)
    return np.column_stack([Z, *(part(slice(None)).T for part in parts)])
