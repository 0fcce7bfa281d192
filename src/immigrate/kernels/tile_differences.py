"""Differences of the pairs of one tile, into the buffer D.

    D[a, k] = scale_k d_a(i, j)

for pairs k = (i, j): a row against a run of columns, or pairs picked one by one. The kind of a
feature is looked up once per feature and row, outside the loop over pairs, so that categories and
gaps cost n^2 p beside the n^2 p^2 of the form. Tables of plain numbers have functions of their
own, with few arguments: at eight features a call with the whole sweep costs a tenth of the pass.
"""

from __future__ import annotations

from immigrate.kernels.compiling import jit
from immigrate.kernels.layout import COMPLETE
from immigrate.kernels.microkernels import whole_vectors


@jit
def fill_row(D, at, x, X, columns, scale):
    """D[a, at + k] = scale_k |x_a - X_aj| for one sample against a run of columns j of X.

    Whole vectors, up to LANES - 1 columns too many: X must go on for that long.
    """
    first, n_pairs = columns[0], whole_vectors(columns[1] - columns[0])
    for a in range(x.shape[0]):
        d, x_a, X_a = D[a, at : at + n_pairs], x[a], X[a, first : first + n_pairs]
        for k in range(n_pairs):
            d[k] = abs(x_a - X_a[k]) * scale[k]


@jit
def fill_pairs(D, x, X, i, j, scale):
    """D[a, k] = scale_k |x_ai - X_aj| for pairs (i_k, j_k) picked one by one."""
    for a in range(X.shape[0]):
        d, x_a, X_a = D[a], x[a], X[a]
        for k in range(scale.shape[0]):
            d[k] = abs(x_a[i[k]] - X_a[j[k]]) * scale[k]


@jit
def fill_mixed_row(D, at, sweep, row, columns, scale):
    """`fill_row` for features of any kind: row i, features a : b."""
    i, a, b = row
    first, n_pairs = columns[0], whole_vectors(columns[1] - columns[0])
    for f in range(a, b):
        fill_run(D[f - a, at : at + n_pairs], sweep, f, (i, first), scale)


@jit
def fill_run(d, sweep, f, start, scale):
    """Differences of one feature of any kind, one row against a run of columns."""
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
def fill_mixed_pairs(D, sweep, features, i, j, scale):
    """`fill_pairs` for features of any kind, a : b."""
    a, b = features
    for f in range(a, b):
        d = D[f - a]
        for k in range(scale.shape[0]):
            d[k] = difference(sweep, f, i[k], j[k]) * scale[k]


@jit
def difference(sweep, f, i, j):
    """Difference of one pair in a feature of any kind."""
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
