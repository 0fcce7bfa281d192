"""From U and S of a term to p-values, by four quadratic forms.

    kernel   U'U over the C_kl, a mixture of chi2 with weights the eigenvalues of S: the cosine
             expansion of sum_nj r_n r_j D_a(n, j) D_b(n, j), D the doubly centred |u_n - u_j|;
    score    U'S^-1 U over the C_kl with k, l <= 2, a chi2: catches pairs whose leading column
             is empty, such as those that depend on |x|;
    product  U^2 / S of the normal scores, a chi2: the pair of which the tails say most;
    halves   U^2 / S of the sides of the medians, a chi2: steps, as in "both high".

A triple has the score form only, k <= 2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from immigrate.inference.encoding import N_SINGLE
from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
)
from immigrate.inference.term_moments import Moments
from immigrate.typing import Array, Mask

# Below this p the three-moment match hands over to the saddlepoint.
TAIL_STARTS_AT = 0.01
SMALLEST_RELATIVE_EIGENVALUE = 1e-6


@dataclass(frozen=True)
class FormResult:
    """Evidence of each form of each term.

    Attributes
    ----------
    log_p : ndarray of shape (n_forms, n_terms, n_sets)
    weight : ndarray of shape (n_forms, n_terms, 1)
        1, or 0 where no column of the form can be tested.
    """

    log_p: Array
    weight: Array


def form_results(moments: Moments, is_low: Mask | None = None) -> FormResult:
    """The forms of one contrast: all four for pairs, score for triples.

    `is_low` (b, k^2) says which columns of a pair enter the score; None is for triples.
    """
    is_used = moments.is_used
    if is_low is None:
        weight = np.any(is_used, axis=1).astype(np.float64)
        return FormResult(score_log_p(moments)[None], weight[None, :, None])
    k = is_low.shape[1]
    score = _masked_score_log_p(moments, is_low)
    log_p = [
        kernel_log_p(moments.U[:, :k], moments.S[:, :k, :k]),
        score,
        *(score_log_p(moments.columns(slice(s, s + 1))) for s in range(k, k + N_SINGLE)),
    ]
    weight = [
        np.any(is_used[:, :k], axis=1),
        # Where no direction is left to test, p is 1 for every set of labels.
        np.any(is_used[:, :k] & is_low, axis=1) & np.any(score < 0, axis=1),
        *is_used[:, k:].T,
    ]
    return FormResult(np.stack(log_p), np.stack(weight)[:, :, None].astype(np.float64))


def combined_log_p(forms: list[FormResult]) -> Array:
    """One log p per term and label set from all forms of all contrasts: (b, d)."""
    log_p = np.concatenate([form.log_p for form in forms])
    return cauchy_combination(log_p, np.concatenate([form.weight for form in forms]))


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
        # Eigenvalues are needed once for each term, however many sets of labels are in its tail.
        needed, row = np.unique(term, return_inverse=True)
        eigenvalues = np.asarray(np.linalg.eigvalsh(S[needed]), dtype=np.float64)
        log_p[term, draw] = log_saddlepoint_tail(q[term, draw], eigenvalues[row])
    return log_p


def score_log_p(moments: Moments) -> Array:
    """Log p of U'S^-1 U against chi2: (b, d).

    Directions without variance do not count, and neither do those of which main effects explain
    nearly all of `raw`, as for single columns. S^-1 would blow up the little that is left there,
    to which a ridge and a first-order refit are no guide. A nominal feature with a few samples
    per level has many such directions, although none of its columns is explained.
    """
    U, S, raw = moments.U, moments.S, moments.raw
    diagonal = np.einsum("bkk->bk", S)
    # In units of the columns' own deviations, so that an eigenvalue can be called small.
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    eigenvalues, vectors = np.linalg.eigh(scale[:, :, None] * S * scale[:, None, :])
    before = np.einsum(
        "bki,bkl,bli->bi",
        vectors,
        scale[:, :, None] * raw * scale[:, None, :],
        vectors,
        optimize=True,
    )
    smallest = np.maximum(SMALLEST_RELATIVE_EIGENVALUE, (1 - moments.most_explained) * before)
    is_real = eigenvalues > smallest
    root = np.where(is_real, 1 / np.sqrt(np.where(is_real, eigenvalues, 1.0)), 0.0)
    whitened = np.matmul(
        root[:, :, None] * vectors.transpose(0, 2, 1) * scale[:, None, :], U
    )  # (b, k, d)
    df = is_real.sum(axis=1)[:, None]
    return np.where(df > 0, log_chi2_tail(np.sum(whitened**2, axis=1), np.maximum(df, 1)), 0.0)


def _masked_score_log_p(moments: Moments, is_low: Mask) -> Array:
    """`score_log_p` over the columns that `is_low` names for each term."""
    needed = np.flatnonzero(is_low.any(axis=0))
    mask = is_low[:, needed]
    block = mask[:, :, None] & mask[:, None, :]
    low = moments.columns(needed)
    return score_log_p(
        replace(low, U=low.U * mask[:, :, None], S=low.S * block, raw=low.raw * block)
    )
