"""Scratch memory of a sweep. The compiled functions allocate nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.packing import ROWS
from immigrate.kernels.tiles import TileShape

CACHE_LINE = 64  # bytes


class Places(NamedTuple):
    """Where the pairs of the tile at hand are.

    Row r has the columns from first_column[r] on and its pairs have the places from at[r] on, a
    whole number of vectors. Padding places hold finite garbage with weight 0.
    """

    first_column: np.ndarray  # (n_rows,)
    at: np.ndarray  # (n_rows + 1,)


class Waiting(NamedTuple):
    """Single pairs that wait until they fill the buffer of differences."""

    i: np.ndarray  # (n_buffer,): unsigned, so that no index counts from the end
    j: np.ndarray
    scale: np.ndarray
    n_and_sign: np.ndarray  # (2,): how many pairs wait, and their sign


class Block(NamedTuple):
    """The buffer of differences."""

    D: np.ndarray  # (features, n_buffer): all features where W is a matrix, else PANEL of them
    ones: np.ndarray  # (n_buffer,)
    products: np.ndarray | None  # (ROWS, n_buffer): products of differences; None without triples


class Sums(NamedTuple):
    """Floor, Z and Y of the rows and columns of the tile at hand."""

    rows: np.ndarray  # (3, n_rows)
    columns: np.ndarray  # (3, n_columns)


class EnergyBuffers(NamedTuple):
    """What the first sweep writes to."""

    places: Places
    block: Block
    sums: Sums
    q: np.ndarray  # (n_problems, places of a tile)
    tilted: np.ndarray  # the same: q less sigma log of the counts; q itself where all are 1


class ScatterBuffers(NamedTuple):
    """What the second sweep writes to."""

    places: Places
    block: Block
    sums: Sums
    coupling: np.ndarray  # (places of a tile,)
    waiting: Waiting


class Buffers(NamedTuple):
    """Scratch memory of one thread, of which the sweeps share what both need.

    In small groups, because functions are compiled faster for the few arrays that they need.
    """

    energy: EnergyBuffers
    scatter: ScatterBuffers

    def fits(self, n_problems: int, n_together: int, dtype: np.dtype) -> bool:
        """Whether these buffers serve so many problems, with so many features at a time."""
        q, D = self.energy.q, self.energy.block.D
        return (len(q), len(D)) == (n_problems, n_together) and bool(q.dtype == dtype)


def new_buffers(
    shape: TileShape,
    n_problems: int,
    n_together: int,
    dtype: np.dtype,
    *,
    is_counted: bool,
    has_products: bool,
) -> Buffers:
    """Buffers for tiles of this shape."""
    places = Places(np.empty(shape.n_rows, np.int64), np.empty(shape.n_rows + 1, np.int64))
    block = Block(
        _aligned(n_together, shape.n_buffer, dtype),
        np.ones(shape.n_buffer, dtype),
        _aligned(ROWS, shape.n_buffer, dtype) if has_products else None,
    )
    sums = Sums(np.empty((3, shape.n_rows)), np.empty((3, shape.n_columns)))
    q = _aligned(n_problems, shape.n_places, dtype)
    # The same memory where nothing is counted: then the sweeps need not ask which to read.
    tilted = _aligned(n_problems, shape.n_places, dtype) if is_counted else q
    coupling = _aligned(1, shape.n_places, dtype)[0]
    waiting = Waiting(
        np.zeros(shape.n_buffer, np.uint32),
        np.zeros(shape.n_buffer, np.uint32),
        np.empty(shape.n_buffer, dtype),
        np.zeros(2, np.int64),
    )
    return Buffers(
        EnergyBuffers(places, block, sums, q, tilted),
        ScatterBuffers(places, block, sums, coupling, waiting),
    )


def _aligned(n_rows: int, n_columns: int, dtype: np.dtype) -> np.ndarray:
    """Empty rows that start on cache lines: no vector straddles two.

    Rows are an odd number of lines apart; at a power of two they would compete for the same few
    places of the cache.
    """
    per_line = CACHE_LINE // np.dtype(dtype).itemsize
    width = (-(-n_columns // per_line) | 1) * per_line
    flat = np.empty(n_rows * width + per_line, dtype)
    skip = -flat.ctypes.data % CACHE_LINE // flat.itemsize
    return flat[skip : skip + n_rows * width].reshape(n_rows, width)
