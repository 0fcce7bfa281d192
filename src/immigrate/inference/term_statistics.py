"""The exact statistics of chosen pairs or triples.

For a term (a, b) the columns are C_kl = phi_ak phi_bl / (kl), and the product of the normal
scores of a and b. With U = C'r and S its null covariance,

    kernel   U'U over the C_kl, a mixture of chi2 with weights the eigenvalues of S: the cosine
             expansion of sum_nj r_n r_j D_a(n, j) D_b(n, j), D the doubly centred |u_n - u_j|;
    score    U'S^-1 U over the C_kl with k, l <= 2, a chi2: catches pairs whose leading column
             is empty, such as those that depend on |x|;
    product  U^2 / S of the normal scores, a chi2: the pair of which the tails say most.

A triple has the score form only, k <= 2. Cost per pair: 32 n (rows of F + 16) operations;
memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.core.distances import Array
from immigrate.inference.encoding import Functions
from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
)
from immigrate.inference.residuals import Contrast

N_SCORE_FUNCTIONS = 2
KERNEL_WEIGHT, SCORE_WEIGHT, PRODUCT_WEIGHT = 2.0, 1.0, 1.0
"""Shares of the forms in the combined p-value, measured: docs/interaction-test.md."""

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


def phi_products(phi: Array, terms: np.ndarray) -> Array:
    """All products of one phi of each feature of a term: (b, k^order, n) from (p, k, n)."""
    columns = phi[terms[:, 0]]
    for feature in terms[:, 1:].T:
        columns = columns[:, :, None] * phi[feature][:, None]
        columns = columns.reshape(len(terms), -1, columns.shape[-1])
    return columns


def term_columns(functions: Functions, terms: np.ndarray) -> Array:
    """C of each pair: phi products, then that of the normal scores: (b, k^2 + 1, n).

    Of a triple the phi products with k <= 2: (b, 8, n).
    """
    if terms.shape[1] == 3:
        return phi_products(functions.phi[:, :N_SCORE_FUNCTIONS], terms)
    last = functions.score[terms[:, 0]] * functions.score[terms[:, 1]]
    return np.concatenate([phi_products(functions.phi, terms), last[:, None]], axis=1)


def _is_low(n_columns: int) -> np.ndarray:
    """Which of k^2 phi products have both k <= 2."""
    is_low = np.arange(round(n_columns**0.5)) < N_SCORE_FUNCTIONS
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


@dataclass(frozen=True)
class FormResult:
    """Evidence of each form of each term.

    Attributes
    ----------
    log_p : ndarray of shape (n_forms, n_terms, n_sets)
    weight : ndarray of shape (n_forms, n_terms, 1)
        Share of the form in the combined p-value; 0 where no column of it can be tested.
    """

    log_p: Array
    weight: Array


def form_results(U: Array, S: Array, order: int) -> FormResult:
    """The forms of one contrast: kernel, score and product for pairs, score for triples."""
    is_used = np.einsum("bkk->bk", S) > 0
    if order == 3:
        return FormResult(score_log_p(U, S)[None], is_used.any(axis=1)[None, :, None] * 1.0)
    low = np.flatnonzero(_is_low(U.shape[1] - 1))
    log_p = [
        kernel_log_p(U[:, :-1], S[:, :-1, :-1]),
        score_log_p(U[:, low], S[:, low][:, :, low]),
        score_log_p(U[:, -1:], S[:, -1:, -1:]),
    ]
    weight = [
        KERNEL_WEIGHT * is_used[:, :-1].any(axis=1),
        SCORE_WEIGHT * is_used[:, low].any(axis=1),
        PRODUCT_WEIGHT * is_used[:, -1],
    ]
    return FormResult(np.stack(log_p), np.stack(weight)[:, :, None])


def combined_log_p(forms: list[FormResult]) -> Array:
    """One log p per term and label set from all forms of all contrasts: (b, d)."""
    log_p = np.concatenate([form.log_p for form in forms])
    return cauchy_combination(log_p, np.concatenate([form.weight for form in forms]))


def term_results(functions: Functions, terms: np.ndarray, contrasts: list[Contrast]) -> TermResult:
    """Statistic and p-value of every term (rows of feature indices)."""
    order, (_, k, n), n_sets = terms.shape[1], functions.phi.shape, contrasts[0].residual.shape[1]
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(n_sets - 1)
    for block in blocks(len(terms), 8.0 * (k**2 + 1) * (n + n_sets)):
        C = term_columns(functions, terms[block])
        forms: list[FormResult] = []
        for contrast in contrasts:
            S = covariance(C, contrast)
            size = np.einsum("bkk->bk", S)
            U = np.matmul(C, contrast.residual) * (size > 0)[:, :, None]
            forms.append(form_results(U, S, order))
            kernel = slice(0, -1 if order == 2 else None)
            mean = size[:, kernel].sum(axis=1)
            statistic[block] += np.sum(U[:, kernel, 0] ** 2, axis=1) / np.where(mean > 0, mean, 1)
        combined = combined_log_p(forms)
        log_p[block] = combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
    return TermResult(statistic / len(contrasts), log_p, smallest)
