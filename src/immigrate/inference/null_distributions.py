"""From quadratic forms to p-values, and from several p-values to one.

Everything is in logarithms: among millions of pairs the interesting p-values are tiny, and
those below the smallest float must still be ranked.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from immigrate.typing import Array

# Where gammaincc nears underflow the continued fraction takes over.
SMALLEST_DIRECT_P = 1e-290
FRACTION_DEPTH = 8
NEWTON_STEPS = 12
# A p-value of exactly 1 has an infinite Cauchy score that would veto any other evidence.
LARGEST_P = 0.999
# P-values above this are those of the body of the distribution.
BODY_STARTS_AT = 0.2
# Below this tan(pi (1/2 - p)) = 1 / (pi p) to machine precision.
SMALL_P = 1e-7


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
    return np.where(is_empty, 0.0, _with_body(log_p, q, mean, second))


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
    t = (1 - _saddlepoint_gap(s, q)) / 2
    # The eigenvalues are relative to the largest, so that t is below 1/2.
    shrunk = 1 - 2 * t[..., None] * s
    cumulant = -np.log(shrunk).sum(axis=-1) / 2
    # Names of the formula: w is the signed root, v the standardised saddlepoint.
    w = np.sqrt(2 * (t * q - cumulant))
    v = t * np.sqrt(2 * np.sum((s / shrunk) ** 2, axis=-1))
    return special.log_ndtr(-(w + np.log(v / w) / w))


def _saddlepoint_gap(s: Array, q: Array) -> Array:
    """The gap d = 1 - 2t in (0, 1) with sum_i s_i / (1 - (1 - d) s_i) = q; largest s is 1.

    Newton on the reciprocal, which is nearly linear in d: the leading term alone is 1 / d.
    """
    # The leading term alone gives 1 / q; if all eigenvalues were 1 the gap would be their number
    # over q.
    lowest, highest = 1 / q, np.minimum(s.shape[-1] / q, 1.0)
    gap = lowest
    for _ in range(NEWTON_STEPS):
        terms = s / (1 - (1 - gap[..., None]) * s)
        value = terms.sum(axis=-1)
        slope = np.sum(terms**2, axis=-1) / value**2
        gap = np.clip(gap - (1 / value - 1 / q) / slope, lowest, highest)
    return gap


def _with_body(log_p: Array, q: Array, mean: Array, second: Array) -> Array:
    """Three moments in the tail, sliding to two (Satterthwaite) in the body.

    The shifted chi2 starts above 0, so a tenth of the p-values would be exactly 1; the
    scaled chi2 with two moments starts at 0 but has too light a tail.
    """
    df = mean**2 / second
    body = np.exp(log_chi2_tail(q * mean / second, df))
    p = np.exp(log_p)
    # The body alone at p = 1 and the tail alone at BODY_STARTS_AT, without a step in between.
    share = np.clip((body - BODY_STARTS_AT) / (1 - BODY_STARTS_AT), 0.0, 1.0)
    return np.where(share > 0, np.log(np.maximum(p + share * (body - p), BODY_STARTS_AT)), log_p)


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
