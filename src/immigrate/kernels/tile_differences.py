"""Differences of the pairs of one tile, into the buffer D.

    D[a, k] = scale_k d_a(i, j)

for pairs k = (i, j): some rows, each against a run of columns, or pairs picked one by one. The
kind of a feature is looked up once per feature and row, outside the loop over pairs, so that
categories and gaps cost n^2 p beside the n^2 p^2 of the form. For tables of plain numbers `kinds`
is None, and the branches for other kinds are not even compiled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.kernels.compiling import jit, jit_inlined
from immigrate.kernels.layout import COMPLETE, Kinds


class Tables(NamedTuple):
    """The samples that meet, feature by feature, and how their differences are taken."""

    rows: np.ndarray  # (p, n_rows + LANES)
    columns: np.ndarray  # (p, n_columns + LANES)
    kinds: Kinds | None  # None if all features are numbers without gaps
    products: np.ndarray | None  # see ``products``; None if no triple has a weight


class Group(NamedTuple):
    """Rows of a tile whose pairs fill the buffer together, and the features at hand."""

    first_row: int
    first_column: np.ndarray  # (n_rows,): of each row
    at: np.ndarray  # (n_rows + 1,): first place of each row in the tile
    first_feature: int
    last_feature: int


@jit
def fill_group(D, tables, kinds, group, scale):
    """Differences of a group of rows.

    Whole vectors, up to LANES - 1 columns too many: the table of the columns goes on that long.
    """
    a, b = group.first_feature, group.last_feature
    for r in range(group.first_column.shape[0]):
        i, first = group.first_row + r, group.first_column[r]
        at, end = group.at[r] - group.at[0], group.at[r + 1] - group.at[0]
        if kinds is None:
            fill_row(D, tables.rows[a:b, i], tables.columns[a:b], (at, end, first), scale)
        else:
            for f in range(a, b):
                d = D[f - a, at:end]
                fill_run(d, tables, kinds, (f, i, first), scale[at:end])


@jit
def fill_row(D, x, X, run, scale):
    """D[a, k] = scale_k |x_a - X_aj| in the places k of one sample's run of columns j of X."""
    at, end, first = run
    for a in range(x.shape[0]):
        d, x_a, X_a, scale_k = D[a, at:end], x[a], X[a, first : first + end - at], scale[at:end]
        for k in range(end - at):
            d[k] = abs(x_a - X_a[k]) * scale_k[k]


@jit_inlined
def fill_run(d, tables, kinds, start, scale):
    """Differences of one feature of any kind, one sample against a run of columns."""
    (f, i, first), n_pairs = start, d.shape[0]
    x, X = tables.rows[f, i], tables.columns[f, first : first + n_pairs]
    gap, zero = kinds.gap[f], d.dtype.type(0)
    # The whole run at once: the difference from a missing value depends on the column only.
    if gap != COMPLETE and x != x:  # not a number: the value of the row is missing
        expected = kinds.column_expected[gap, first : first + n_pairs]
        for k in range(n_pairs):
            d[k] = expected[k] * scale[k]
        return
    # One loop per kind, each a line without branches, which the compiler turns into vectors.
    expected_i = zero if gap == COMPLETE else kinds.row_expected[gap, i]
    if kinds.is_nominal[f]:
        mismatch = kinds.mismatch[f]
        for k in range(n_pairs):
            d[k] = (expected_i if X[k] != X[k] else mismatch if x != X[k] else zero) * scale[k]
    elif gap == COMPLETE:
        for k in range(n_pairs):
            d[k] = abs(x - X[k]) * scale[k]
    else:
        for k in range(n_pairs):
            d[k] = (expected_i if X[k] != X[k] else abs(x - X[k])) * scale[k]


@jit
def fill_pairs(D, tables, kinds, features, picked):
    """Differences of the first of some pairs, picked one by one, in the features a : b."""
    (a, b, n_pairs), (i, j, scale) = features, picked
    for f in range(a, b):
        d, x, X = D[f - a], tables.rows[f], tables.columns[f]
        for k in range(n_pairs):
            if kinds is None:
                d[k] = abs(x[i[k]] - X[j[k]]) * scale[k]
            else:
                d[k] = difference(tables, kinds, f, i[k], j[k]) * scale[k]


@jit
def difference(tables, kinds, f, i, j):
    """Difference of one pair in a feature of any kind."""
    x, X = tables.rows[f, i], tables.columns[f, j]
    gap = kinds.gap[f]
    if gap != COMPLETE:
        if x != x:
            return kinds.column_expected[gap, j]
        if X != X:
            return kinds.row_expected[gap, i]
    if kinds.is_nominal[f]:
        return kinds.mismatch[f] if x != X else kinds.mismatch.dtype.type(0)
    return abs(x - X)
