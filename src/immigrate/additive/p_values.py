"""From U and S of terms to p-values, by four quadratic forms, and from several p-values to one.

    kernel   U'U over the C_kl, a mixture of chi2 with weights the eigenvalues of S: the cosine
             expansion of sum_nj r_n r_j D_a(n, j) D_b(n, j), D the doubly centred |u_n - u_j|;
    score    U'S^-1 U over the C_kl with k, l <= 2, a chi2: catches pairs whose leading column
             is empty, such as those that depend on |x|;
    product  U^2 / S of the normal scores, a chi2: the pair of which the tails say most;
    halves   U^2 / S of the sides of the medians, a chi2: steps, as in "both high".

A triple has the score form only, k <= 2. Everything is in logarithms: among millions of pairs the
interesting p-values are tiny, and those below the smallest float must still be ranked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import Design
from immigrate.additive.moments import MOST_EXPLAINED, Moments
from immigrate.arrays import Array, Codes, Mask

# Below this p the three-moment match hands over to the saddlepoint.
TAIL_STARTS_AT = 0.01
SMALLEST_RELATIVE_EIGENVALUE = 1e-6
# Where gammaincc nears underflow the continued fraction takes over.
SMALLEST_DIRECT_P = 1e-290
FRACTION_DEPTH = 8
NEWTON_STEPS, BISECTIONS = 12, 60
# A p-value of exactly 1 has an infinite Cauchy score that would veto any other evidence.
LARGEST_P = 0.999
# P-values above this are those of the body of the distribution.
BODY_STARTS_AT = 0.2
# Below this tan(pi (1/2 - p)) = 1 / (pi p) to machine precision.
SMALL_P = 1e-7
TINY = np.finfo(np.float64).tiny


class FormResult(NamedTuple):
    """Evidence of each form of each term."""

    log_p: Array  # (n_forms, n_terms, n_sets)
    weight: Array  # (n_forms, n_terms, 1): 1, or 0 where no column of the form can be tested


def form_results(moments: Moments, is_low: Mask | None = None) -> FormResult:
    """The forms of one contrast: all four for pairs and features, score for triples.

    `is_low` (b, k^2) says which columns of a pair enter the score; None is for triples.
    """
    U, S, raw, is_used = moments.U, moments.S, moments.raw, moments.is_used
    if is_low is None:
        weight = np.any(is_used, axis=1).astype(np.float64)
        score = score_log_p(U, S, raw, moments.kurtosis, moments.most_explained)
        return FormResult(score[None], weight[None, :, None])
    k = is_low.shape[1]
    # The score over the columns that `is_low` names for each term.
    needed = np.flatnonzero(is_low.any(axis=0))
    mask = is_low[:, needed]
    block, places = mask[:, :, None] & mask[:, None, :], np.ix_(np.arange(len(U)), needed, needed)
    low_U, low_S, low_raw = U[:, needed] * mask[:, :, None], S[places] * block, raw[places] * block
    low_kurtosis = moments.kurtosis[:, needed] * mask
    score = score_log_p(low_U, low_S, low_raw, low_kurtosis, moments.most_explained)
    log_p = [kernel_log_p(U[:, :k], S[:, :k, :k], moments.kurtosis[:, :k]), score]
    for one in (slice(s, s + 1) for s in range(k, k + N_SINGLE)):
        own = (U[:, one], S[:, one, one], raw[:, one, one], moments.kurtosis[:, one])
        log_p.append(score_log_p(*own, moments.most_explained))
    # Where no direction is left to test, p is 1 for every set of labels.
    has_score = np.any(is_used[:, :k] & is_low, axis=1) & np.any(score < 0, axis=1)
    weights = [np.any(is_used[:, :k], axis=1), has_score, *is_used[:, k:].T]
    return FormResult(np.stack(log_p), np.stack(weights)[:, :, None].astype(np.float64))


def low_columns(design: Design, terms: Codes, k: int | None = None) -> Mask:
    """Which phi products of each pair, or functions of each feature, enter the score form."""
    of_features = design.is_low[:, :k]
    is_low = of_features[terms[:, 0]]
    for feature in terms[:, 1:].T:
        is_low = is_low[:, :, None] & of_features[feature][:, None, :]
        is_low = is_low.reshape(len(terms), -1)
    return is_low


def combined_log_p(forms: list[FormResult]) -> Array:
    """One log p per term and label set from all forms of all contrasts: (b, d).

    NaN for a term of which no form could be tested.
    """
    log_p = np.concatenate([form.log_p for form in forms])
    weight = np.concatenate([form.weight for form in forms])
    combined = cauchy_combination(log_p, weight)
    return np.where(np.any(weight > 0, axis=0), combined, np.nan)


def kernel_log_p(U: Array, S: Array, kurtosis: Array | float = 0.0) -> Array:
    """Log p of U'U against its null distribution: (b, d) from U (b, k, d)."""
    square = np.matmul(S, S)
    first, second = np.einsum("bkk->b", S)[:, None], np.einsum("bkk->b", square)[:, None]
    moments = (first, second, np.einsum("bkl,blk->b", square, S)[:, None])
    q = np.sum(U**2, axis=1)
    log_p = log_three_moment_tail(q, moments)
    added = np.zeros_like(log_p)
    # In the units of U, as the variances are.
    kurtosis = np.asarray(kurtosis * np.einsum("bkk->bk", S) ** 2)
    few = np.flatnonzero(np.any(kurtosis > 0, axis=1))
    if len(few):
        own = tuple(moment[few] for moment in moments)
        added[few] = log_three_moment_tail(q[few], widened(own, kurtosis[few])) - log_p[few]
    term, draw = np.nonzero(log_p < np.log(TAIL_STARTS_AT))
    if len(term):
        # Eigenvalues are needed once for each term, however many sets of labels are in its tail.
        needed, row = np.unique(term, return_inverse=True)
        eigenvalues = np.asarray(np.linalg.eigvalsh(S[needed]), dtype=np.float64)
        log_p[term, draw] = log_saddlepoint_tail(q[term, draw], eigenvalues[row])
    return np.minimum(log_p + added, 0.0)


def widened(moments: tuple[Array, Array, Array], kurtosis: Array) -> tuple[Array, Array, Array]:
    """Moments of U'U where few samples decide U.

    Fourth cumulants of the columns, (b, k), add the sum over the samples of kappa_i |c_i|^4 to the
    variance of U'U: what single columns have, and for two columns at most the root of the product
    of theirs, of which products of functions have about a half. The third cumulant grows with the
    square of that, as a gamma distribution's does.
    """
    first, second, third = moments
    own = np.maximum(kurtosis, 0.0)
    excess = (own.sum(axis=1) + np.sqrt(own).sum(axis=1) ** 2)[:, None] / 2
    ratio = 1 + excess / 2 / np.maximum(second, TINY)
    return first, second * ratio, third * ratio**2


def score_log_p(
    U: Array,
    S: Array,
    raw: Array,
    kurtosis: Array | float = 0.0,
    most_explained: float = MOST_EXPLAINED,
) -> Array:
    """Log p of U'S^-1 U against chi2, of fewer degrees of freedom where few samples decide."""
    T = whitening(S, raw, most_explained)
    df = np.any(T != 0, axis=2).sum(axis=1)[:, None]
    # In units of the variances of the columns all moments are the number of directions.
    k = np.maximum(df, 1).astype(np.float64)
    _, second, _ = widened((k, k, k), np.broadcast_to(kurtosis, S.shape[:2]))
    whitened = np.matmul(T, U)  # (b, k, d)
    square, share = np.sum(whitened**2, axis=1), k / second
    return np.where(df > 0, log_chi2_tail(share * square, share * k), 0.0)


def whitening(S: Array, raw: Array, most_explained: float = MOST_EXPLAINED) -> Array:
    """T with TST' = 1 in the directions that count, (b, k, k); rows of zeros for the others.

    Directions without variance do not count, and neither do those of which main effects explain
    nearly all of `raw`, as for single columns. S^-1 would blow up the little that is left there,
    to which a ridge and a first-order refit are no guide. A nominal feature with a few samples
    per level has many such directions, although none of its columns is explained.
    """
    diagonal = np.einsum("bkk->bk", S)
    # In units of the columns' own deviations, so that an eigenvalue can be called small.
    scale = np.where(diagonal > 0, 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    eigenvalues, vectors = np.linalg.eigh(scale[:, :, None] * S * scale[:, None, :])
    scaled = scale[:, :, None] * raw * scale[:, None, :]
    before = np.einsum("bki,bkl,bli->bi", vectors, scaled, vectors, optimize=True)
    smallest = np.maximum(SMALLEST_RELATIVE_EIGENVALUE, (1 - most_explained) * before)
    is_real = eigenvalues > smallest
    root = np.where(is_real, 1 / np.sqrt(np.where(is_real, eigenvalues, 1.0)), 0.0)
    return np.asarray(root[:, :, None] * vectors.transpose(0, 2, 1) * scale[:, None, :])


def log_chi2_tail(x: Array, df: Array) -> Array:
    """Log P(chi2_df > x), finite however far out x is."""
    a, half = np.broadcast_arrays(np.asarray(df) / 2.0, np.maximum(x, 0.0) / 2.0)
    tail = special.gammaincc(a, half)
    is_far = tail < SMALLEST_DIRECT_P
    # 1 in place of what has underflowed: its logarithm is replaced below.
    log_tail = np.log(np.where(is_far, 1.0, tail))
    if np.any(is_far):
        log_tail = np.where(is_far, _log_far_tail(a, np.where(is_far, half, 1.0)), log_tail)
    return log_tail


def _log_far_tail(a: Array, x: Array) -> Array:
    """Log of Gamma(a, x) / Gamma(a) for x far above a: Legendre's continued fraction."""
    fraction = x + 2 * FRACTION_DEPTH + 1 - a
    for j in reversed(range(FRACTION_DEPTH)):
        fraction = x + 2 * j + 1 - a - (j + 1) * (j + 1 - a) / fraction
    return a * np.log(x) - x - special.gammaln(a) - np.log(fraction)


def log_three_moment_tail(q: Array, moments: tuple[Array, Array, Array]) -> Array:
    """Log P(sum_i s_i chi2_1 > q) from sum s_i, sum s_i^2, sum s_i^3: good to p = .01 or so.

    Pearson's match [1]_: mean, variance and skewness of a shifted and scaled chi2 with
    h = (sum s^2)^3 / (sum s^3)^2 degrees of freedom. A form with nothing in it has p = 1.

    References
    ----------
    .. [1] J. P. Imhof, "Computing the distribution of quadratic forms in normal variables",
       Biometrika 48 (1961). :doi:`10.1093/biomet/48.3-4.419`
    """
    mean, second, third = moments
    is_empty = third <= 0
    mean, second, third = (np.where(is_empty, 1.0, moment) for moment in (mean, second, third))
    # Equal eigenvalues give their number back: then the match is exact.
    df = second**3 / third**2
    log_p = log_chi2_tail((q - mean) * np.sqrt(df / second) + df, df)
    # The shifted chi2 starts above 0, so a tenth of the p-values would be exactly 1; the scaled
    # chi2 with two moments (Satterthwaite) starts at 0 but has too light a tail.
    p, body = np.exp(log_p), np.exp(log_chi2_tail(q * mean / second, mean**2 / second))
    # The body alone at p = 1 and the tail alone at BODY_STARTS_AT, without a step in between.
    share = np.clip((body - BODY_STARTS_AT) / (1 - BODY_STARTS_AT), 0.0, 1.0)
    slid = np.log(np.maximum(p + share * (body - p), BODY_STARTS_AT))
    return np.where(is_empty, 0.0, np.where(share > 0, slid, log_p))


def log_saddlepoint_tail(q: Array, eigenvalues: Array) -> Array:
    """Log P(sum_i s_i chi2_1 > q) for q above the mean, to a few per cent however far out.

    Lugannani and Rice's formula for quadratic forms [1]_, at the t with K'(t) = q. Three
    moments fall off too fast: at p = 1e-8 they are a factor of 5 too small.

    References
    ----------
    .. [1] D. Kuonen, "Saddlepoint approximations for distributions of quadratic forms in
       normal variables", Biometrika 86 (1999). :doi:`10.1093/biomet/86.4.929`
    """
    largest = eigenvalues.max(axis=-1, keepdims=True)
    s, q = np.maximum(eigenvalues, 0.0) / largest, q / largest[..., 0]
    # The gap d = 1 - 2t in (0, 1) with sum_i s_i / (1 - (1 - d) s_i) = q, by Newton's method on
    # the reciprocal, which is nearly linear in d. The leading term alone gives 1 / q; if all
    # eigenvalues were 1 the gap would be their number over q.
    lowest, highest = 1 / q, np.minimum(s.shape[-1] / q, 1.0)
    gap = lowest
    for _ in range(NEWTON_STEPS):
        terms = s / (1 - (1 - gap[..., None]) * s)
        value = terms.sum(axis=-1)
        slope = np.sum(terms**2, axis=-1) / value**2
        gap = np.clip(gap - (1 / value - 1 / q) / slope, lowest, highest)
    t = (1 - gap) / 2
    # The eigenvalues are relative to the largest, so that t is below 1/2.
    shrunk = 1 - 2 * t[..., None] * s
    cumulant = -np.log(shrunk).sum(axis=-1) / 2
    # Names of the formula: w is the signed root, v the standardised saddlepoint.
    w = np.sqrt(2 * (t * q - cumulant))
    v = t * np.sqrt(2 * np.sum((s / shrunk) ** 2, axis=-1))
    return special.log_ndtr(-(w + np.log(v / w) / w))


def log_f_tail(x: Array, df: Array, residual_df: Array) -> Array:
    """Log P(F > x) of Fisher's F, finite however far out x is."""
    halves = np.asarray(residual_df) / 2.0, np.asarray(df) / 2.0
    a, b, x = np.broadcast_arrays(*halves, np.maximum(x, 0.0))
    share = a / (a + b * x)
    tail = special.betainc(a, b, share)
    is_far = tail < SMALLEST_DIRECT_P
    log_tail = np.log(np.where(is_far, 1.0, tail))
    if np.any(is_far):
        a, b, share = a[is_far], b[is_far], share[is_far]
        # The incomplete beta function as a power times a series that is near 1.
        series = np.log(special.hyp2f1(a + b, 1.0, a + 1, share))
        power = a * np.log(share) + b * np.log1p(-share)
        log_tail[is_far] = power - np.log(a) - special.betaln(a, b) + series
    return log_tail


def log_ratio_tail(q: Array, eigenvalues: Array, residual_df: Array) -> Array:
    """Log P(sum_i s_i chi2_1 > q chi2_f / f) for q above the mean, f residual degrees of freedom.

    Lugannani and Rice's formula at 0 for the difference of the two sides, as in
    `log_saddlepoint_tail`, which is the case of f without end. (t,) from (t,), (t, k) and (t,).
    """
    largest = eigenvalues.max(axis=-1, keepdims=True)
    s, q, f = np.maximum(eigenvalues, 0.0) / largest, q / largest[..., 0], residual_df
    # The share 2t in (0, 1) at which the slope of the cumulant is 0; the slope rises with it.
    low, high = np.zeros_like(q), np.ones_like(q)
    for _ in range(BISECTIONS):
        share = (low + high) / 2
        slope = np.sum(s / (1 - share[:, None] * s), axis=1) - q / (1 + share * q / f)
        low, high = np.where(slope < 0, share, low), np.where(slope < 0, high, share)
    shrunk = 1 - low[:, None] * s
    cumulant = -np.log(shrunk).sum(axis=1) / 2 - f / 2 * np.log1p(low * q / f)
    curvature = 2 * np.sum((s / shrunk) ** 2, axis=1) + 2 * q**2 / f / (1 + low * q / f) ** 2
    w, v = np.sqrt(np.maximum(-2 * cumulant, TINY)), low / 2 * np.sqrt(curvature)
    return special.log_ndtr(-(w + np.log(np.maximum(v, TINY) / w) / w))


def cauchy_combination(log_p: Array, weight: Array | float = 1.0) -> Array:
    """Log of one p-value from several dependent ones, along the first axis.

    ACAT [1]_: a weighted mean of tan(pi (1/2 - p)) is Cauchy in the tail whatever the
    dependence. For small p the tangent is 1 / (pi p), so there the mean is taken in
    logarithms. A p-value of weight 0 does not count; without any the result is 1.

    References
    ----------
    .. [1] Y. Liu and J. Xie, "Cauchy combination test", JASA 115 (2020).
       :doi:`10.1080/01621459.2018.1554485`
    """
    weight = np.broadcast_to(weight, log_p.shape)
    share = weight / np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
    # Whatever it is: p = 1 and weight 0 leave no trace in a sum.
    log_p = np.where(weight > 0, log_p, 0.0)
    smallest = log_p.min(axis=0)
    log_p = np.minimum(log_p, np.log(LARGEST_P))
    p = np.exp(log_p)
    score = np.sum(share * np.tan(np.pi * (0.5 - np.maximum(p, SMALL_P))), axis=0)
    log_direct = np.log(0.5 - np.arctan(score) / np.pi)
    log_harmonic_mean = -special.logsumexp(-log_p, axis=0, b=share)
    log_combined = np.where(smallest < np.log(SMALL_P), log_harmonic_mean, log_direct)
    return np.where(smallest >= np.log(LARGEST_P), 0.0, log_combined)
