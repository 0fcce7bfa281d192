"""Arithmetic on one buffer of differences, compiled to vector instructions.

A buffer D holds the differences of K pairs, one feature per row: D[a, k] = d_a of pair k. On it
stand the two sums of a pass,

    q_k   = sum_{a <= b} U_ab D_ak D_bk        p^2 / 2 multiply-adds per pair, or sum_a w_a D_ak
    S_ab  = sum_k c_k D_ak D_bk,  a <= b       p^2 / 2 multiply-adds per pair, or sum_k c_k D_ak

both in blocks of 4 x 4 features held in registers (triangles on the diagonal, columns for the
features left over), with the pairs along the vector lanes.

Cubic forms are the same with products in place of features. With P_r = d_a for a feature and
P_r = d_a d_b for a pair (``layout`` has the table of rows),

    q_k   = sum_r P_rk sum_c M_rc D_ck                   one multiply-add per weight and pair
    S_rc  = sum_k c_k P_rk D_ck                          one multiply-add per weight and pair

which are a quadratic form and a scatter between products and features. ROWS products at a time are
formed in a small buffer and meet the features in the blocks of the quadratic kernels, from the
first column of the group on. A row that begins later has weights of 0 in between, and the sums of
its gradient there are never read.
"""

from __future__ import annotations

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from immigrate.kernels import layout
from immigrate.kernels.compiling import jit, jit_in_order, jit_inlined
from immigrate.kernels.layout import FEATURE, FIRST_PRODUCT, PARTNER, ROWS

LOWEST_EXPONENT = -708.0  # below, exp is subnormal or zero and taken as zero

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROUNDER = 1.5 * 2.0**52  # x + ROUNDER has round(x) in its last bits
# Taylor coefficients of exp, as single numbers: each look into a tuple compiles all of it.
C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13 = (
    1.0 / math.factorial(k) for k in range(2, 14)
)

whole_vectors = jit(layout.whole_vectors)


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


def _without_nan(name):
    """LLVM's minimum or maximum with the promise of no NaN: Python's own does not vectorise."""

    @intrinsic
    def extremum(typing_context, x, y):
        def codegen(context, builder, signature, args):
            kind = args[0].type
            function = builder.module.declare_intrinsic(
                name, [kind], ir.FunctionType(kind, [kind, kind])
            )
            return builder.call(function, args, fastmath=("nnan", "nsz"))

        return x(x, x), codegen

    return extremum


lower, higher = _without_nan("llvm.minnum"), _without_nan("llvm.maxnum")


@jit
def extent(q):
    """Smallest and largest element."""
    low = high = q[0]
    for k in range(q.shape[0]):
        low, high = lower(low, q[k]), higher(high, q[k])
    return low, high


@jit_in_order
def exponential(x):
    """exp(x) to 1 ulp for x <= 700, exactly 0 below -708; made of operations that vectorise.

    x = m ln 2 + r with integer m and |r| <= ln(2) / 2; the Taylor series to degree 13 of
    exp(r) is good to the last bit there, and 2^m is put together from its exponent bits.
    """
    # Kept in range, so that the bits of 2^m below are those of a number; the last line returns 0
    # for what was below.
    y = max(x, LOWEST_EXPONENT)
    shifted = y * LOG2_E + ROUNDER
    m = shifted - ROUNDER
    r = (y - m * LN2_HIGH) - m * LN2_LOW
    s = r * r
    high = (C8 + C9 * r) + s * ((C10 + C11 * r) + s * (C12 + C13 * r))
    middle = (C4 + C5 * r) + s * ((C6 + C7 * r) + s * high)
    series = 1.0 + (r + s * ((C2 + C3 * r) + s * middle))
    # 1023 is the bias of the exponent of a float64, which begins at bit 52.
    power = _from_bits((_bits(shifted) + 1023) << 52)
    return series * power if x > LOWEST_EXPONENT else 0.0


@jit_inlined
def add_linear_form(q, D, w):
    """q_k += sum_a w_a D_ak."""
    whole = w.shape[0] // 4 * 4
    for a in range(0, whole, 4):
        d0, d1, d2, d3 = D[a], D[a + 1], D[a + 2], D[a + 3]
        w0, w1, w2, w3 = w[a], w[a + 1], w[a + 2], w[a + 3]
        for k in range(q.shape[0]):
            q[k] += (w0 * d0[k] + w1 * d1[k]) + (w2 * d2[k] + w3 * d3[k])
    for a in range(whole, w.shape[0]):
        d, w_a = D[a], w[a]
        for k in range(q.shape[0]):
            q[k] += w_a * d[k]


@jit_inlined
def add_quadratic_form(q, D, U):
    """q_k += sum_{a <= b} U_ab D_ak D_bk for an upper triangular U."""
    whole = U.shape[0] // 4 * 4
    for a in range(0, whole, 4):
        _form_triangle(q, D[a : a + 4], U[a : a + 4, a : a + 4])
        for b in range(a + 4, whole, 4):
            form_square(q, D[a : a + 4], D[b : b + 4], U[a : a + 4, b : b + 4])
        for b in range(whole, U.shape[0]):
            form_column(q, D[a : a + 4], D[b], U[a : a + 4, b])
    for a in range(whole, U.shape[0]):
        for b in range(a, U.shape[0]):
            x, y, u = D[a], D[b], U[a, b]
            for k in range(q.shape[0]):
                q[k] += u * x[k] * y[k]


@jit
def _form_triangle(q, A, U):
    """q_k += sum_{a <= b < 4} U_ab A_ak A_bk: 14 multiply-adds for 4 loads."""
    u00, u01, u02, u03 = U[0, 0], U[0, 1], U[0, 2], U[0, 3]
    u11, u12, u13, u22, u23, u33 = U[1, 1], U[1, 2], U[1, 3], U[2, 2], U[2, 3], U[3, 3]
    for k in range(q.shape[0]):
        x0, x1, x2, x3 = A[0, k], A[1, k], A[2, k], A[3, k]
        q[k] += (
            x0 * (u00 * x0 + u01 * x1 + u02 * x2 + u03 * x3)
            + x1 * (u11 * x1 + u12 * x2 + u13 * x3)
            + x2 * (u22 * x2 + u23 * x3)
            + x3 * (u33 * x3)
        )


@jit
def form_square(q, A, B, U):
    """q_k += sum_{a, b < 4} U_ab A_ak B_bk: 20 multiply-adds for 8 loads."""
    u00, u01, u02, u03 = U[0, 0], U[0, 1], U[0, 2], U[0, 3]
    u10, u11, u12, u13 = U[1, 0], U[1, 1], U[1, 2], U[1, 3]
    u20, u21, u22, u23 = U[2, 0], U[2, 1], U[2, 2], U[2, 3]
    u30, u31, u32, u33 = U[3, 0], U[3, 1], U[3, 2], U[3, 3]
    for k in range(q.shape[0]):
        y0, y1, y2, y3 = B[0, k], B[1, k], B[2, k], B[3, k]
        q[k] += (
            A[0, k] * (u00 * y0 + u01 * y1 + u02 * y2 + u03 * y3)
            + A[1, k] * (u10 * y0 + u11 * y1 + u12 * y2 + u13 * y3)
            + A[2, k] * (u20 * y0 + u21 * y1 + u22 * y2 + u23 * y3)
            + A[3, k] * (u30 * y0 + u31 * y1 + u32 * y2 + u33 * y3)
        )


@jit
def form_column(q, A, b, u):
    """q_k += sum_{a < 4} u_a A_ak b_k: a feature left over against a block."""
    u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
    for k in range(q.shape[0]):
        q[k] += b[k] * ((u0 * A[0, k] + u1 * A[1, k]) + (u2 * A[2, k] + u3 * A[3, k]))


@jit_inlined
def add_sums(S, D, sign, n_pairs):
    """S_a += sign sum_k D_ak; the coupling is already in D."""
    for a in range(S.shape[0]):
        d, total = D[a], D.dtype.type(0)
        for k in range(n_pairs):
            total += d[k]
        S[a] += sign * total


@jit_inlined
def add_scatter(S, D, sign, n_pairs):
    """S_ab += sign sum_k D_ak D_bk for a <= b; the root of the coupling is already in D."""
    whole = S.shape[0] // 4 * 4
    for a in range(0, whole, 4):
        A = D[a : a + 4]
        add_block(S[a : a + 4, a : a + 4], _scatter_triangle(A, n_pairs), sign)
        for b in range(a + 4, whole, 4):
            sums = scatter_square(A, D[b : b + 4], n_pairs)
            add_block(S[a : a + 4, b : b + 4], sums, sign)
        for b in range(whole, S.shape[0]):
            s0, s1, s2, s3 = scatter_column(A, D[b], n_pairs)
            add_block(S[a : a + 4, b : b + 1], ((s0,), (s1,), (s2,), (s3,)), sign)
    for a in range(whole, S.shape[0]):
        for b in range(a, S.shape[0]):
            x, y, total = D[a], D[b], D.dtype.type(0)
            for k in range(n_pairs):
                total += x[k] * y[k]
            S[a, b] += sign * total


@jit
def add_block(S, sums, sign):
    """S_ab += sign times a block of sums."""
    for a in range(len(sums)):
        for b in range(len(sums[0])):
            S[a, b] += sign * sums[a][b]


@jit
def _scatter_triangle(A, n_pairs):
    """sum_k A_ak A_bk, a <= b < 4: 10 sums in registers; what is below the diagonal is 0."""
    s00 = s01 = s02 = s03 = s11 = s12 = s13 = s22 = s23 = s33 = o = A.dtype.type(0)
    for k in range(n_pairs):
        x0, x1, x2, x3 = A[0, k], A[1, k], A[2, k], A[3, k]
        s00, s01, s02, s03 = s00 + x0 * x0, s01 + x0 * x1, s02 + x0 * x2, s03 + x0 * x3
        s11, s12, s13 = s11 + x1 * x1, s12 + x1 * x2, s13 + x1 * x3
        s22, s23, s33 = s22 + x2 * x2, s23 + x2 * x3, s33 + x3 * x3
    return (s00, s01, s02, s03), (o, s11, s12, s13), (o, o, s22, s23), (o, o, o, s33)


@jit
def scatter_square(A, B, n_pairs):
    """sum_k A_ak B_bk, a, b < 4: 16 sums in registers, 16 multiply-adds for 8 loads."""
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = A.dtype.type(0)
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = A.dtype.type(0)
    for k in range(n_pairs):
        x0, x1, x2, x3 = A[0, k], A[1, k], A[2, k], A[3, k]
        y0, y1, y2, y3 = B[0, k], B[1, k], B[2, k], B[3, k]
        s00, s01, s02, s03 = s00 + x0 * y0, s01 + x0 * y1, s02 + x0 * y2, s03 + x0 * y3
        s10, s11, s12, s13 = s10 + x1 * y0, s11 + x1 * y1, s12 + x1 * y2, s13 + x1 * y3
        s20, s21, s22, s23 = s20 + x2 * y0, s21 + x2 * y1, s22 + x2 * y2, s23 + x2 * y3
        s30, s31, s32, s33 = s30 + x3 * y0, s31 + x3 * y1, s32 + x3 * y2, s33 + x3 * y3
    return (s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33)


@jit
def scatter_column(A, b, n_pairs):
    """sum_k A_ak b_k, a < 4: a feature left over against a block."""
    s0 = s1 = s2 = s3 = A.dtype.type(0)
    for k in range(n_pairs):
        y = b[k]
        s0, s1, s2, s3 = s0 + A[0, k] * y, s1 + A[1, k] * y, s2 + A[2, k] * y, s3 + A[3, k] * y
    return s0, s1, s2, s3


@jit
def add_product_form(q, block, M, rows):
    """q_k += sum_r P_rk sum_c M_rc D_ck."""
    D, P, p = block.D, block.products, M.shape[1]
    for r in range(0, rows.shape[0], ROWS):
        fill_products(P, D, rows[r : r + ROWS], block.ones[: q.shape[0]])
        first, u = rows[r, FIRST_PRODUCT], M[r : r + ROWS]
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
        first, s = rows[r, FIRST_PRODUCT], S[r : r + ROWS]
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
