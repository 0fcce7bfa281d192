"""Arithmetic on one buffer of differences, compiled to vector instructions.

A buffer D holds the differences of K pairs, one feature a row: D[a, k] = |x_ai - x_aj|, the
number of features padded with zeros to a multiple of 4. On it stand the two sums of a pass,

    q_k   = sum_{a <= b} U_ab D_ak D_bk          p^2 / 2 multiply-adds a pair, or sum_a w_a D_ak
    S_ab  = sum_k c_k D_ak D_bk,  a <= b         p^2 / 2 multiply-adds a pair, or sum_k c_k D_ak

both in blocks of 4 x 4 features held in registers, with the pairs along the vector lanes.

Numba decides from a function's own file alone whether its cached machine code is stale. After
an edit here, delete the ``*.nbi`` files of ``sweeps`` (see docs/performance.md).
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

# Sums may be reordered, which is what vector lanes do; infinities keep their meaning.
REORDER = {"reassoc", "contract", "nsz", "arcp"}
jit = njit(cache=True, nogil=True, fastmath=REORDER, error_model="numpy")
# The exponential rounds by adding and taking away a large number: no reordering there.
jit_in_order = njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")

LANES = 8  # pairs are padded to whole vectors of this many where that is free
LOWEST_EXPONENT = -708.0  # below, exp is subnormal or zero and taken as zero

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUNDER = 1.5 * 2.0**52  # x + ROUNDER has round(x) in its last bits


@intrinsic
def _bits(typing_context, x):
    """The 64 bits of a float as an integer."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _from_bits(typing_context, i):
    """The float that has these 64 bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@jit_in_order
def exponential(x):
    """exp(x) to 2 ulp for x <= 700, exactly 0 below -708; made of operations that vectorise.

    x = m ln 2 + r with integer m and |r| <= ln(2) / 2; the Taylor series to degree 12 of
    exp(r) is good to the last bit there, and 2^m is put together from its exponent bits.
    """
    y = max(x, LOWEST_EXPONENT)
    shifted = y * LOG2_E + ROUNDER
    m = shifted - ROUNDER
    r = (y - m * LN2_HIGH) - m * LN2_LOW
    s = r * r
    tail = (1 / 40320 + r / 362880) + s * ((1 / 3628800 + r / 39916800) + s / 479001600)
    tail = (1 / 24 + r / 120) + s * ((1 / 720 + r / 5040) + s * tail)
    series = (1.0 + r) + s * ((0.5 + r / 6) + s * tail)
    power = _from_bits((_bits(shifted) + 1023) << 52)
    return series * power if x > LOWEST_EXPONENT else 0.0


@jit
def difference(x_i, x_j):
    """Difference of one feature between two samples."""
    return abs(x_i - x_j)


@jit
def fill_row(D, x, X, columns, scale):
    """D[a, k] = scale_k |x_a - X_aj| for one sample against a run of columns j of X."""
    first, last = columns
    for a in range(x.shape[0]):
        d, x_a, X_a = D[a], x[a], X[a, first:last]
        for k in range(last - first):
            d[k] = difference(x_a, X_a[k]) * scale[k]


@jit
def fill_pairs(D, X, i, j, scale):
    """D[a, k] = scale_k |X_ai - X_aj| for pairs (i_k, j_k) picked one by one."""
    for a in range(X.shape[0]):
        d, X_a = D[a], X[a]
        for k in range(scale.shape[0]):
            d[k] = difference(X_a[i[k]], X_a[j[k]]) * scale[k]


@jit
def add_linear_form(q, D, w):
    """q_k += sum_a w_a D_ak."""
    for a in range(0, w.shape[0], 4):
        d0, d1, d2, d3 = D[a], D[a + 1], D[a + 2], D[a + 3]
        w0, w1, w2, w3 = w[a], w[a + 1], w[a + 2], w[a + 3]
        for k in range(q.shape[0]):
            q[k] += (w0 * d0[k] + w1 * d1[k]) + (w2 * d2[k] + w3 * d3[k])


@jit
def add_quadratic_form(q, D, U):
    """q_k += sum_{a <= b} U_ab D_ak D_bk for an upper triangular U."""
    for a in range(0, U.shape[0], 4):
        for b in range(a, U.shape[0], 4):
            _add_form_block(q, D[a : a + 4], D[b : b + 4], U[a : a + 4, b : b + 4])


@jit
def _add_form_block(q, A, B, U):
    """q_k += sum_{a, b < 4} U_ab A_ak B_bk: 20 multiply-adds for 8 loads."""
    a0, a1, a2, a3 = A[0], A[1], A[2], A[3]
    b0, b1, b2, b3 = B[0], B[1], B[2], B[3]
    u00, u01, u02, u03 = U[0, 0], U[0, 1], U[0, 2], U[0, 3]
    u10, u11, u12, u13 = U[1, 0], U[1, 1], U[1, 2], U[1, 3]
    u20, u21, u22, u23 = U[2, 0], U[2, 1], U[2, 2], U[2, 3]
    u30, u31, u32, u33 = U[3, 0], U[3, 1], U[3, 2], U[3, 3]
    for k in range(q.shape[0]):
        x0, x1, x2, x3 = b0[k], b1[k], b2[k], b3[k]
        q[k] += (
            a0[k] * (u00 * x0 + u01 * x1 + u02 * x2 + u03 * x3)
            + a1[k] * (u10 * x0 + u11 * x1 + u12 * x2 + u13 * x3)
            + a2[k] * (u20 * x0 + u21 * x1 + u22 * x2 + u23 * x3)
            + a3[k] * (u30 * x0 + u31 * x1 + u32 * x2 + u33 * x3)
        )


@jit
def add_sums(S, D, sign, n_pairs):
    """S_a += sign sum_k D_ak; the coupling is already in D."""
    for a in range(S.shape[0]):
        d, total = D[a], D.dtype.type(0)
        for k in range(n_pairs):
            total += d[k]
        S[a] += sign * total


@jit
def add_scatter(S, D, sign, n_pairs):
    """S_ab += sign sum_k D_ak D_bk for the blocks a <= b; the root of the coupling is in D."""
    for a in range(0, S.shape[0], 4):
        for b in range(a, S.shape[0], 4):
            _add_scatter_block(S[a : a + 4, b : b + 4], D[a : a + 4], D[b : b + 4], sign, n_pairs)


@jit
def _add_scatter_block(S, A, B, sign, n_pairs):
    """S_ab += sign sum_k A_ak B_bk, a, b < 4: 16 sums in registers, 16 multiply-adds for 8 loads."""
    a0, a1, a2, a3 = A[0], A[1], A[2], A[3]
    b0, b1, b2, b3 = B[0], B[1], B[2], B[3]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = A.dtype.type(0)
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = A.dtype.type(0)
    for k in range(n_pairs):
        x0, x1, x2, x3 = a0[k], a1[k], a2[k], a3[k]
        y0, y1, y2, y3 = b0[k], b1[k], b2[k], b3[k]
        s00, s01, s02, s03 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2, s03 + x0 * y3
        s10, s11, s12, s13 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2, s13 + x1 * y3
        s20, s21, s22, s23 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2, s23 + x2 * y3
        s30, s31, s32, s33 = s30 + x3 * y0, s31 + x3 * y1, s32 + x3 * y2, s33 + x3 * y3
    sums = ((s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33))
    for a in range(4):
        for b in range(4):
            S[a, b] += sign * sums[a][b]


@jit
def aligned_buffer(n_rows, n_columns, like):
    """Zeros of the type of `like`, rows on 64-byte boundaries: vector loads straddle no line."""
    per_line = 64 // like.itemsize
    width = -(-n_columns // per_line) * per_line
    flat = np.zeros(n_rows * width + per_line, like.dtype)
    skip = (-flat.ctypes.data % 64) // like.itemsize
    return flat[skip : skip + n_rows * width].reshape((n_rows, width))
