"""Differences of the pairs of one tile, into the buffer D.

    D[a, k] = scale_k d_a(i, j)

for pairs k = (i, j): a row against a run of columns, or pairs picked one by one. The kind of a
feature is looked up once per feature and row, outside the loop over pairs, so that categories and
gaps cost n^2 p beside the n^2 p^2 of the form.
"""

from __future__ import annotations

from immigrate.kernels.layout import COMPLETE, PLAIN
from immigrate.kernels.microkernels import jit, whole_vectors


@jit
def fill_row(D, at, sweep, row, columns, scale):
    """Fill D from place `at` on with one row i against a run of columns, features a : b.

    Whole vectors, up to LANES - 1 columns too many: the table goes on for that long.
    """
    i, a, b = row
    first, n_pairs = columns[0], whole_vectors(columns[1] - columns[0])
    for f in range(a, b):
        d = D[f - a, at : at + n_pairs]
        if sweep.kinds.kind[f] == PLAIN:
            x, X = sweep.rows.values[f, i], sweep.columns.values[f, first : first + n_pairs]
            for k in range(n_pairs):
                d[k] = abs(x - X[k]) * scale[k]
        else:
            fill_other(d, sweep, f, (i, first), scale)


@jit
def fill_other(d, sweep, f, start, scale):
    """One row against a run of columns in a feature that is nominal or has gaps."""
    (i, first), kinds, n_pairs = start, sweep.kinds, d.shape[0]
    x, X = sweep.rows.values[f, i], sweep.columns.values[f, first : first + n_pairs]
    gap, zero = kinds.gap[f], d.dtype.type(0)
    if gap != COMPLETE and x != x:  # not a number: the value of the row is missing
        expected = sweep.columns.expected[gap, first : first + n_pairs]
        for k in range(n_pairs):
            d[k] = expected[k] * scale[k]
        return
    if kinds.is_nominal[f]:
        mismatch = kinds.mismatch[f]
        for k in range(n_pairs):
            d[k] = (mismatch if x != X[k] else zero) * scale[k]
    else:
        for k in range(n_pairs):
            d[k] = abs(x - X[k]) * scale[k]
    if gap != COMPLETE:
        expected_i = sweep.rows.expected[gap, i]
        for k in range(n_pairs):
            d[k] = expected_i * scale[k] if X[k] != X[k] else d[k]


@jit
def fill_pairs(D, sweep, features, i, j, scale):
    """Fill D with pairs (i_k, j_k) picked one by one, features a : b."""
    a, b = features
    for f in range(a, b):
        d, x, X = D[f - a], sweep.rows.values[f], sweep.columns.values[f]
        if sweep.kinds.kind[f] == PLAIN:
            for k in range(scale.shape[0]):
                d[k] = abs(x[i[k]] - X[j[k]]) * scale[k]
        else:
            for k in range(scale.shape[0]):
                d[k] = other_difference(sweep, f, i[k], j[k]) * scale[k]


@jit
def other_difference(sweep, f, i, j):
    """Difference of one pair in a feature that is nominal or has gaps."""
    kinds, x, X = sweep.kinds, sweep.rows.values[f, i], sweep.columns.values[f, j]
    gap = kinds.gap[f]
    if gap != COMPLETE:
        if x != x:
            return sweep.columns.expected[gap, j]
        if X != X:
            return sweep.rows.expected[gap, i]
    if kinds.is_nominal[f]:
        return kinds.mismatch[f] if x != X else kinds.mismatch.dtype.type(0)
    return abs(x - X)
