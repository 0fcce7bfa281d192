"""Scratch memory of a sweep. The compiled functions allocate nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.tiles import TileShape

PANEL = 32  # features in the buffer at a time where W is a vector
CACHE_LINE = 64  # bytes


class Buffers(NamedTuple):
    """Scratch memory of one thread.

    Row r of the tile at hand has the columns from first_column[r] on and its pairs have the
    places from at[r] on, a whole number of vectors. The places left over hold the pairs with
    whatever samples come next: finite, never summed, given no coupling.
    """

    first_column: np.ndarray  # (n_rows,)
    at: np.ndarray  # (n_rows + 1,)
    D: np.ndarray  # (features, n_buffer): all features where W is a matrix, else PANEL of them
    ones: np.ndarray  # (n_buffer,)
    q: np.ndarray  # (n_problems, places of a tile)
    coupling: np.ndarray  # (places of a tile,)
    row_sums: np.ndarray  # (3, n_rows): level, Z, Y
    column_sums: np.ndarray  # (3, n_columns)
    # Single pairs that wait until they fill D; unsigned, so that no index counts from the end.
    i: np.ndarray  # (n_buffer,)
    j: np.ndarray
    scale: np.ndarray
    waiting: np.ndarray  # (2,): how many pairs wait, and their sign


def new_buffers(shape: TileShape, weights) -> Buffers:
    """Buffers for tiles of this shape and problems with these weights."""
    n_problems, n_features = weights.shape[:2]
    n_together = n_features if weights.ndim == 3 else min(n_features, PANEL)
    n_places, dtype = shape.n_places, weights.dtype
    return Buffers(
        first_column=np.empty(shape.n_rows, np.int64),
        at=np.empty(shape.n_rows + 1, np.int64),
        D=_aligned(n_together, shape.n_buffer, dtype),
        ones=np.ones(shape.n_buffer, dtype),
        q=_aligned(n_problems, n_places, dtype),
        coupling=_aligned(1, n_places, dtype)[0],
        row_sums=np.empty((3, shape.n_rows)),
        column_sums=np.empty((3, shape.n_columns)),
        i=np.zeros(shape.n_buffer, np.uint32),
        j=np.zeros(shape.n_buffer, np.uint32),
        scale=np.empty(shape.n_buffer, dtype),
        waiting=np.zeros(2, np.int64),
    )


def _aligned(n_rows, n_columns, dtype):
    """Empty rows that start on cache lines: no vector straddles two.

    Rows are an odd number of lines apart; at a power of two they would compete for the same few
    places of the cache.
    """
    per_line = CACHE_LINE // np.dtype(dtype).itemsize
    width = (-(-n_columns // per_line) | 1) * per_line
    flat = np.empty(n_rows * width + per_line, dtype)
    skip = -flat.ctypes.data % CACHE_LINE // flat.itemsize
    return flat[skip : skip + n_rows * width].reshape(n_rows, width)
