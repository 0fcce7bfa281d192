from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from immigrate.kernels.microkernels import exponential
from immigrate.kernels.tiles import (
    FIRST_COLUMN,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
    TileShape,
    symmetric_tiles,
)


def test_exponential_is_exact_to_the_last_place_but_one():
    x = np.concatenate([np.linspace(-707.9, 700, 20001), np.linspace(-1, 1, 20001)])
    found = np.array([exponential(value) for value in x])
    expected = np.exp(x)
    assert (np.abs(found - expected) <= 2 * np.spacing(expected)).all()


def test_exponential_of_very_negative_numbers_is_zero():
    assert exponential(-708.5) == exponential(-1e300) == exponential(-np.inf) == 0.0


@given(
    sizes=st.lists(st.integers(2, 70), min_size=2, max_size=4),
    n_rows=st.integers(1, 16),
    n_blocks=st.integers(1, 4),
)
def test_tiles_hold_every_pair_once(sizes, n_rows, n_blocks):
    starts = np.concatenate([[0], np.cumsum(sizes)])
    shape = TileShape(n_rows, n_rows * n_blocks, 512)
    n = starts[-1]
    count = np.zeros((n, n), dtype=int)
    for tile in symmetric_tiles(starts, shape)[:-1]:
        i, j = np.ogrid[tile[FIRST_ROW] : tile[LAST_ROW], tile[FIRST_COLUMN] : tile[LAST_COLUMN]]
        count[i, j] += (i < j) if tile[IS_DIAGONAL] else np.ones((1, 1), dtype=int)
    assert (count + count.T == 1 - np.eye(n, dtype=int)).all()
