"""The exact statistics of chosen pairs or triples.

For a term (a, b) the columns are C_kl = phi_ak phi_bl / (kl), the product of the normal scores
of a and b, and that of the sides of their medians. With U = C'r and S its null covariance,

    kernel   U'U over the C_kl, a mixture of chi2 with weights the eigenvalues of S: the cosine
             expansion of sum_nj r_n r_j D_a(n, j) D_b(n, j), D the doubly centred |u_n - u_j|;
    score    U'S^-1 U over the C_kl with k, l <= 2, a chi2: catches pairs whose leading column
             is empty, such as those that depend on |x|;
    product  U^2 / S of the normal scores, a chi2: the pair of which the tails say most;
    halves   U^2 / S of the sides of the medians, a chi2: steps, as in "both high".

A triple has the score form only, k <= 2. What the main effects G of the term's own features
would still explain is taken out of U and S first, as if G were in the null model without
penalty: a strong ridge leaves enough of them to look like products of correlated features.

Cost per pair: 50 n (rows of F + 27) operations; memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.inference.encoding import (
    MOST_ORDERED_COLUMNS,
    N_FUNCTIONS,
    N_SMOOTH,
    Encoded,
    Functions,
)
from immigrate.inference.null_distributions import (
    cauchy_combination,
    log_chi2_tail,
    log_saddlepoint_tail,
    log_three_moment_tail,
)
from immigrate.inference.residuals import Contrast
from immigrate.typing import Array, Codes, Mask

N_SINGLE = 2
"""Columns with a form of their own, the last of each pair."""

BLOCK_BYTES = 16e6
# Below this p the three-moment match hands over to the saddlepoint.
TAIL_STARTS_AT = 0.01
# A column of which the main effects explain more than this has no interaction left to show,
# only what the ridge left behind.
MOST_EXPLAINED = 0.99
# Excess kurtosis of a column of U beyond which a few samples decide it, and chi2 is no guide.
LARGEST_KURTOSIS = 0.1
SMALLEST_RELATIVE_EIGENVALUE = 1e-6
# Of the size of a main-effect column; below that nothing of it is left to take out.
SMALLEST_MAIN_EFFECT = 1e-6


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


def phi_products(phi: Array, terms: Codes) -> Array:
    """All products of one phi of each feature of a term: (b, k^order, n) from (p, k, n)."""
    columns = phi[terms[:, 0]]
    for feature in terms[:, 1:].T:
        columns = columns[:, :, None] * phi[feature][:, None]
        columns = columns.reshape(len(terms), -1, columns.shape[-1])
    return columns


def term_columns(functions: Functions, terms: Codes) -> Array:
    """C of each pair: phi products, then those of the single functions: (b, k^2 + 2, n).

    Of a triple the phi products with k <= 2: (b, 8, n).
    """
    if terms.shape[1] == 3:
        return phi_products(functions.phi[:, :N_SMOOTH], terms)
    last = functions.single[terms[:, 0]] * functions.single[terms[:, 1]]
    return np.concatenate([phi_products(functions.phi, terms), last], axis=1)


def low_columns(functions: Functions, terms: Codes) -> Mask:
    """Which phi products of each pair enter the score form: (b, k^2)."""
    left, right = functions.is_low[terms[:, 0]], functions.is_low[terms[:, 1]]
    return (left[:, :, None] & right[:, None, :]).reshape(len(terms), -1)


def own_main_effects(data: Encoded, terms: Codes) -> Array:
    """G of each term: additive columns of its features, on the samples where all are known.

    (b, m, n), zero rows where there are fewer.
    """
    features, position = np.unique(terms, return_inverse=True)
    own = [data.additive_columns(a).values for a in features]
    columns = np.zeros((len(features), max(map(len, own)), len(data.weight)))
    for row, values in zip(columns, own):
        row[: len(values)] = values
    G = columns[position.reshape(terms.shape)].reshape(len(terms), -1, len(data.weight))
    is_known = np.array([data.levels[a].code >= 0 for a in features])
    if is_known.all():
        return G
    # Where one is missing, its correlates stand in for it: only there are their effects stronger.
    is_complete = np.all(is_known[position.reshape(terms.shape)], axis=1, keepdims=True)
    return np.concatenate([G * is_complete, is_complete], axis=1)


def blocks(n_terms: int, bytes_per_term: float) -> Iterator[slice]:
    """Slices of the list of terms whose columns fit in one block of memory."""
    size = int(np.clip(BLOCK_BYTES // bytes_per_term, 1, n_terms or 1))
    return (slice(start, start + size) for start in range(0, n_terms, size))


@dataclass(frozen=True)
class Moments:
    """U = C'r of each term and its null covariance S, zero for columns that cannot be tested.

    `raw` is what S would be, were nothing cleared: CVC'.
    """

    U: Array  # (b, k, d)
    S: Array  # (b, k, k)
    raw: Array  # (b, k, k)

    @property
    def is_used(self) -> Mask:
        """Which columns can be tested: (b, k)."""
        return np.einsum("bkk->bk", self.S) > 0


def raw_covariance(A: Array, contrast: Contrast) -> Array:
    """Covariance AVA' of the rows A of each term with residuals that nothing was fitted to."""
    return np.matmul(A * contrast.variance, A.transpose(0, 2, 1))


def explained_covariance(A: Array, contrast: Contrast) -> Array:
    """(AF')(AF')', the part of it that the refit of the null model takes out of A'r."""
    explained = (A.reshape(-1, A.shape[-1]) @ contrast.explained.T).reshape(*A.shape[:2], -1)
    return np.matmul(explained, explained.transpose(0, 2, 1))


def cleared_moments(C: Array, G: Array, contrast: Contrast) -> Moments:
    """U and S given G'r: what is left of C'r when the columns G may explain what they can."""
    k, A = C.shape[1], np.concatenate([C, G], axis=1)
    U, raw = np.matmul(A, contrast.residual), raw_covariance(A, contrast)
    S = raw - explained_covariance(A, contrast)
    square = A * A
    size = square @ contrast.variance  # (b, k + m)
    inner = S[:, k:, k:].copy()
    own = np.arange(inner.shape[1])
    inner[:, own, own] += np.where(size[:, k:] > 0, SMALLEST_MAIN_EFFECT * size[:, k:], 1.0)
    slope = np.linalg.solve(inner, S[:, k:, :k])  # (b, m, k)
    U = U[:, :k] - np.matmul(slope.transpose(0, 2, 1), U[:, k:])
    S = S[:, :k, :k] - np.matmul(S[:, :k, k:], slope)
    is_testable = np.einsum("bkk->bk", S) > (1 - MOST_EXPLAINED) * size[:, :k]
    kurtosis = np.square(square[:, :k]) @ contrast.fourth_cumulant
    is_testable &= kurtosis <= LARGEST_KURTOSIS * size[:, :k] ** 2
    is_block = is_testable[:, :, None] & is_testable[:, None, :]
    return Moments(U * is_testable[:, :, None], S * is_block, raw[:, :k, :k] * is_block)


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


def score_log_p(U: Array, S: Array, raw: Array) -> Array:
    """Log p of U'S^-1 U against chi2: (b, d).

    Directions without variance do not count, and neither do those of which main effects explain
    nearly all of `raw`, as for single columns. S^-1 would blow up the little that is left there,
    to which a ridge and a first-order refit are no guide. A nominal feature with a few samples
    per level has many such directions, although none of its columns is explained.
    """
    diagonal = np.einsum("bkk->bk", S)
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    eigenvalues, vectors = np.linalg.eigh(scale[:, :, None] * S * scale[:, None, :])
    before = np.einsum(
        "bki,bkl,bli->bi",
        vectors,
        scale[:, :, None] * raw * scale[:, None, :],
        vectors,
        optimize=True,
    )
    smallest = np.maximum(SMALLEST_RELATIVE_EIGENVALUE, (1 - MOST_EXPLAINED) * before)
    is_real = eigenvalues > smallest
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
        1, or 0 where no column of the form can be tested.
    """

    log_p: Array
    weight: Array


def form_results(moments: Moments, is_low: Mask | None = None) -> FormResult:
    """The forms of one contrast: all four for pairs, score for triples.

    `is_low` (b, k^2) says which columns of a pair enter the score; None is for triples.
    """
    U, S, raw, is_used = moments.U, moments.S, moments.raw, moments.is_used
    if is_low is None:
        weight = np.any(is_used, axis=1).astype(np.float64)
        return FormResult(score_log_p(U, S, raw)[None], weight[None, :, None])
    k = is_low.shape[1]
    log_p = [
        kernel_log_p(U[:, :k], S[:, :k, :k]),
        _masked_score_log_p(moments, is_low),
        *(
            score_log_p(U[:, [s]], S[:, [s]][:, :, [s]], raw[:, [s]][:, :, [s]])
            for s in range(k, k + N_SINGLE)
        ),
    ]
    weight = [
        np.any(is_used[:, :k], axis=1),
        np.any(is_used[:, :k] & is_low, axis=1),
        *is_used[:, k:].T,
    ]
    return FormResult(np.stack(log_p), np.stack(weight)[:, :, None].astype(np.float64))


def _masked_score_log_p(moments: Moments, is_low: Mask) -> Array:
    """`score_log_p` over the columns that `is_low` names for each term."""
    needed = np.flatnonzero(is_low.any(axis=0))
    mask = is_low[:, needed]
    block = mask[:, :, None] & mask[:, None, :]
    S, raw = (one[:, needed][:, :, needed] * block for one in (moments.S, moments.raw))
    return score_log_p(moments.U[:, needed] * mask[:, :, None], S, raw)


def combined_log_p(forms: list[FormResult]) -> Array:
    """One log p per term and label set from all forms of all contrasts: (b, d)."""
    log_p = np.concatenate([form.log_p for form in forms])
    return cauchy_combination(log_p, np.concatenate([form.weight for form in forms]))


def term_results(data: Encoded, terms: Codes, contrasts: list[Contrast]) -> TermResult:
    """Statistic and p-value of every term (rows of feature indices)."""
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(contrasts[0].n_sets - 1)
    for block in _blocks_of_a_kind(data, terms, contrasts[0].n_sets):
        forms, statistic[block] = _block_forms(data, terms[block], contrasts)
        combined = combined_log_p(forms)
        log_p[block] = combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
    return TermResult(statistic, log_p, smallest)


def _blocks_of_a_kind(data: Encoded, terms: Codes, n_sets: int) -> Iterator[Codes]:
    """Positions of terms that are all wide or all narrow, so many that they fit in memory.

    All terms of a block are padded to the widest. One nominal feature with 100 levels would
    make every pair of the table as wide as its own.
    """
    order, (n_features, k, n) = terms.shape[1], data.functions.phi.shape
    n_own = np.array([data.n_additive_columns(a) for a in range(n_features)], dtype=np.intp)
    is_wide = (data.functions.n_own > N_FUNCTIONS) | (n_own > MOST_ORDERED_COLUMNS)
    for kind in (False, True):
        positions = np.flatnonzero(is_wide[terms].any(axis=1) == kind)
        n_columns = k**2 + N_SINGLE + order * n_own[terms[positions]].max(initial=0)
        for block in blocks(len(positions), 8.0 * n_columns * (n + n_sets)):
            yield positions[block]


def _block_forms(
    data: Encoded, terms: Codes, contrasts: list[Contrast]
) -> tuple[list[FormResult], Array]:
    """The forms of each contrast, and U'U over its null mean, averaged over the contrasts."""
    order = terms.shape[1]
    functions = data.functions.first(max(int(data.functions.n_own[terms].max()), N_FUNCTIONS))
    C, G = term_columns(functions, terms), own_main_effects(data, terms)
    is_low = low_columns(functions, terms) if order == 2 else None
    moments = (cleared_moments(C, G, contrast) for contrast in contrasts)
    results = [(form_results(one, is_low), _kernel_statistic(one, order)) for one in moments]
    statistic = np.sum([statistic for _, statistic in results], axis=0) / len(contrasts)
    return [forms for forms, _ in results], statistic


def _kernel_statistic(moments: Moments, order: int) -> Array:
    """U'U of the observed labels over its null mean."""
    kernel = slice(0, -N_SINGLE if order == 2 else None)
    mean = np.einsum("bkk->b", moments.S[:, kernel, kernel])
    square = np.sum(moments.U[:, kernel, 0] ** 2, axis=1)
    return square / np.where(mean > 0, mean, 1.0)
