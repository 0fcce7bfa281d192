"""The exact statistics of chosen pairs or triples.

For a term (a, b) the columns are C_kl = phi_ak phi_bl / (kl). With U = C'r and S its null
covariance,

    kernel  U'U, a mixture of chi2 with weights the eigenvalues of S: the cosine expansion of
            sum_nj r_n r_j D_a(n, j) D_b(n, j), D the doubly centred |u_n - u_j|;
    score   U'S^-1 U over the columns with k, l <= 2, a chi2: catches pairs whose leading
            column is empty, such as those that depend on |x|.

A triple has the score form only, k <= 2. Cost per pair: 32 n (rows of F + 16) operations;
memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.core.distances import Array
from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
)
from immigrate.inference.residuals import Contrast

N_SCORE_FUNCTIONS = 2
BLOCK_BYTES = 16e6
# Below this p the three-moment match hands over to the saddlepoint.
TAIL_STARTS_AT = 0.01
# A column of which the main effects explain more than this has no interaction left to show,
# only what the ridge left behind.
MOST_EXPLAINED = 0.99
# Excess kurtosis of a column of U beyond which a few samples decide it, and chi2 is no guide.
LARGEST_KURTOSIS = 0.1
SMALLEST_RELATIVE_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class TermResult:
    """Evidence for each term of a list.

    Attributes
    ----------
    statistic : ndarray of shape (n_terms,)
        U'U over its null mean, averaged over the contrasts: about 1 without interaction.
    log_p : ndarray of shape (n_terms,)
        Natural logarithm of the p-value.
    smallest_null_log_p : ndarray of shape (n_draws,)
        The smallest log p over all terms for each label set drawn from the null model.
    """

    statistic: Array
    log_p: Array
    smallest_null_log_p: Array


def products(functions: Array, terms: np.ndarray) -> Array:
    """Product columns of each term: (b, k^order, n) from functions (p, k, n)."""
    if terms.shape[1] == 3:
        functions = functions[:, :N_SCORE_FUNCTIONS]
    columns = functions[terms[:, 0]]
    for feature in terms[:, 1:].T:
        columns = columns[:, :, None] * functions[feature][:, None]
        columns = columns.reshape(len(terms), -1, columns.shape[-1])
    return columns


def score_columns(n_functions: int, order: int) -> np.ndarray:
    """Which columns of `products` have every k <= 2."""
    if order == 3:
        return np.ones(min(n_functions, N_SCORE_FUNCTIONS) ** 3, dtype=bool)
    is_low = np.arange(n_functions) < N_SCORE_FUNCTIONS
    return np.outer(is_low, is_low).ravel()


def blocks(n_terms: int, bytes_per_term: float) -> Iterator[slice]:
    """Slices of the list of terms whose columns fit in one block of memory."""
    size = int(np.clip(BLOCK_BYTES // bytes_per_term, 1, n_terms or 1))
    return (slice(start, start + size) for start in range(0, n_terms, size))


def covariance(C: Array, contrast: Contrast) -> Array:
    """S = CVC' - (CF')(CF')', zero for columns that cannot be tested."""
    raw = np.matmul(C * contrast.variance, C.transpose(0, 2, 1))
    G = (C.reshape(-1, C.shape[-1]) @ contrast.explained.T).reshape(*C.shape[:2], -1)
    S = raw - np.matmul(G, G.transpose(0, 2, 1))
    size, left = np.einsum("bkk->bk", raw), np.einsum("bkk->bk", S)
    is_testable = left > (1 - MOST_EXPLAINED) * size
    is_testable &= np.square(C * C) @ contrast.fourth_cumulant <= LARGEST_KURTOSIS * size**2
    return S * is_testable[:, :, None] * is_testable[:, None, :]


def kernel_log_p(U: Array, S: Array) -> Array:
    """Log p of U'U against its null distribution: (b, d) from U (b, k, d)."""
    square = np.matmul(S, S)
    moments = (
        np.einsum("bkk->b", S)[:, None],
        np.einsum("bkk->b", square)[:, None],
        np.einsum("bkl,blk->b", square, S)[:, None],
    )
    q = np.sum(U**2, axis=1)
    log_p = log_three_moment_tail(q, moments)
    term, draw = np.nonzero(log_p < np.log(TAIL_STARTS_AT))
    if len(term):
        needed, row = np.unique(term, return_inverse=True)
        eigenvalues = np.asarray(np.linalg.eigvalsh(S[needed]), dtype=np.float64)
        log_p[term, draw] = log_saddlepoint_tail(q[term, draw], eigenvalues[row])
    return log_p


def score_log_p(U: Array, S: Array) -> Array:
    """Log p of U'S^-1 U against chi2: (b, d). Directions without variance do not count."""
    diagonal = np.einsum("bkk->bk", S)
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    eigenvalues, vectors = np.linalg.eigh(scale[:, :, None] * S * scale[:, None, :])
    is_real = eigenvalues > SMALLEST_RELATIVE_EIGENVALUE
    root = np.where(is_real, 1 / np.sqrt(np.where(is_real, eigenvalues, 1.0)), 0.0)
    whitened = np.matmul(
        root[:, :, None] * vectors.transpose(0, 2, 1) * scale[:, None, :], U
    )  # (b, k, d)
    df = is_real.sum(axis=1)[:, None]
    return np.where(df > 0, log_chi2_tail(np.sum(whitened**2, axis=1), np.maximum(df, 1)), 0.0)


def block_log_p(U: Array, S: Array, order: int, is_score: np.ndarray) -> list[Array]:
    """The p-values of one contrast: kernel and score for pairs, score for triples."""
    score = score_log_p(U[:, is_score], S[:, is_score][:, :, is_score])
    return [kernel_log_p(U, S), score] if order == 2 else [score]


def term_results(functions: Array, terms: np.ndarray, contrasts: list[Contrast]) -> TermResult:
    """Statistic and p-value of every term (rows of feature indices)."""
    n_sets = contrasts[0].residual.shape[1]
    is_score = score_columns(functions.shape[1], terms.shape[1])
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(n_sets - 1)
    bytes_per_term = 8.0 * len(is_score) * (functions.shape[2] + n_sets)
    for block in blocks(len(terms), bytes_per_term):
        C = products(functions, terms[block])
        parts: list[Array] = []
        for contrast in contrasts:
            S = covariance(C, contrast)
            size = np.einsum("bkk->bk", S)
            U = np.matmul(C, contrast.residual) * (size > 0)[:, :, None]
            parts += block_log_p(U, S, terms.shape[1], is_score)
            mean = size.sum(axis=1)
            statistic[block] += np.sum(U[:, :, 0] ** 2, axis=1) / np.where(mean > 0, mean, 1.0)
        combined = cauchy_combination(np.stack(parts))  # (b, d)
        log_p[block] = combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
    return TermResult(statistic / len(contrasts), log_p, smallest)
