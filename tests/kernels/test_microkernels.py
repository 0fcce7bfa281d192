from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from immigrate.kernels.layout import (
    FIRST_COLUMN,
    FIRST_ROW,
    IS_DIAGONAL,
    LAST_COLUMN,
    LAST_ROW,
    SERVES_COLUMNS,
    SERVES_ROWS,
    TileShape,
    runs_of,
    symmetric_tiles,
)
from immigrate.kernels.microkernels import exponential


def test_exponential_is_exact_to_the_last_place_but_one():
    x = np.concatenate([np.linspace(-707.9, 700, 20001), np.linspace(-1, 1, 20001)])
    found = np.array([exponential(value) for value in x])
    expected = np.exp(x)
    assert (np.abs(found - expected) <= 2 * np.spacing(expected)).all()


def test_exponential_of_very_negative_numbers_is_zero():
    assert exponential(-708.5) == exponential(-1e300) == exponential(-np.inf) == 0.0


def visits(tiles, n):
    """How often sample i meets sample j as a reference."""
    count = np.zeros((n, n), dtype=int)
    for tile in tiles[:-1]:
        i, j = np.ogrid[tile[FIRST_ROW] : tile[LAST_ROW], tile[FIRST_COLUMN] : tile[LAST_COLUMN]]
        is_pair = (i < j) if tile[IS_DIAGONAL] else (i < n) & (j < n)
        if tile[SERVES_ROWS]:
            count[i, j] += is_pair
        if tile[SERVES_COLUMNS]:
            count.T[i, j] += is_pair
    return count


@given(
    parts=st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.booleans()), min_size=2, max_size=150
    ),
    n_rows=st.integers(1, 16),
    n_blocks=st.integers(1, 4),
)
def test_every_anchor_meets_every_reference_but_itself_once(parts, n_rows, n_blocks):
    y, is_anchor, is_reference = (np.array(column) for column in zip(*sorted(parts)))
    tiles = symmetric_tiles(
        runs_of(y, is_anchor, is_reference), TileShape(n_rows, n_rows * n_blocks, 512)
    )
    expected = np.outer(is_anchor, is_reference) & ~np.eye(len(y), dtype=bool)
    np.testing.assert_array_equal(visits(tiles, len(y)), expected)
