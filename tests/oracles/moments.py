"""U and S of columns written out for all samples at once, beside the sums over rows."""

from __future__ import annotations

import numpy as np

from immigrate.additive.moments import moments_of, sums_of

ALL = slice(None)


def raw_covariance(A, contrast):
    """Covariance AVA' of the rows A of each term with residuals that nothing was fitted to."""
    return np.matmul(A * contrast.variance, A.transpose(0, 2, 1))


def explained_covariance(A, contrast):
    """(AF')(AF')', the part that the refit of the null model takes out of A'r."""
    return contrast.explained.covariance(contrast.explained.partial(A, ALL))


def cleared_moments(C, G, contrast):
    """The moments of columns C (b, k, n) with main effects G (b, m, n), all samples at once."""
    return moments_of(sums_of(C, G, [contrast], ALL), [contrast])[0]
