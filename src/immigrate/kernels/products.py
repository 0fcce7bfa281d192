"""Cubic forms on one buffer of differences: ``microkernels`` with products in place of features.

With P_r = d_a for a feature and P_r = d_a d_b for a pair (``packing`` has the table of rows),

    q_k   = sum_r P_rk sum_c M_rc D_ck                   one multiply-add per weight and pair
    S_rc  = sum_k c_k P_rk D_ck                          one multiply-add per weight and pair

which are a quadratic form and a scatter between products and features. ROWS products at a time are
formed in a small buffer and meet the features in the blocks of the quadratic kernels, from the
first column of the group on. A row that begins later has weights of 0 in between, and the sums of
its gradient there are never read.
"""

from __future__ import annotations

from immigrate.kernels.compiling import jit
from immigrate.kernels.microkernels import (
    add_block,
    form_column,
    form_square,
    scatter_column,
    scatter_square,
)
from immigrate.kernels.packing import FEATURE, FIRST_COLUMN, PARTNER, ROWS


@jit
def add_product_form(q, block, M, rows):
    """q_k += sum_r P_rk sum_c M_rc D_ck."""
    D, P, p = block.D, block.products, M.shape[1]
    for r in range(0, rows.shape[0], ROWS):
        fill_products(P, D, rows[r : r + ROWS], block.ones[: q.shape[0]])
        first, u = rows[r, FIRST_COLUMN], M[r : r + ROWS]
        # Blocks of four features from the first column that counts, and single ones at the end.
        whole = first + (p - first) // 4 * 4
        for c in range(first, whole, 4):
            form_square(q, P, D[c : c + 4], u[:, c : c + 4])
        for c in range(whole, p):
            form_column(q, P, D[c], u[:, c])


@jit
def add_product_scatter(S, block, rows, coupling, sign):
    """S_rc += sign sum_k c_k P_rk D_ck."""
    D, P, p, n_pairs = block.D, block.products, S.shape[1], coupling.shape[0]
    for r in range(0, rows.shape[0], ROWS):
        fill_products(P, D, rows[r : r + ROWS], coupling)
        first, s = rows[r, FIRST_COLUMN], S[r : r + ROWS]
        whole = first + (p - first) // 4 * 4
        for c in range(first, whole, 4):
            add_block(s[:, c : c + 4], scatter_square(P, D[c : c + 4], n_pairs), sign)
        for c in range(whole, p):
            s0, s1, s2, s3 = scatter_column(P, D[c], n_pairs)
            add_block(s[:, c : c + 1], ((s0,), (s1,), (s2,), (s3,)), sign)


@jit
def fill_products(P, D, rows, scale):
    """P_rk = scale_k d_a, or scale_k d_a d_b, for the rows of one group."""
    for r in range(ROWS):
        # A negative partner is NONE: a row of the matrix, whose product is the feature alone.
        out, x, b = P[r], D[rows[r, FEATURE]], rows[r, PARTNER]
        if b < 0:
            for k in range(scale.shape[0]):
                out[k] = scale[k] * x[k]
        else:
            y = D[b]
            for k in range(scale.shape[0]):
                out[k] = scale[k] * (x[k] * y[k])
