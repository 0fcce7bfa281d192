"""Where W may live, and the best W for a linear cost.

Each constraint set of the paper is a convex cone K cut by the unit sphere. Two maps are
all a solver needs:

* the projection P_K onto the cone, and
* the oracle: the W in K with norm 1 that minimises <Sigma, W>, which is
  P_K(-Sigma) / |P_K(-Sigma)|. For K = PSD this is Theorem 3.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from immigrate.core.distances import Array

Projection = Callable[[Array], Array]

DYKSTRA_ROUNDS = 200
DYKSTRA_TOLERANCE = 1e-12


def norm(A: Array) -> float:
    """Euclidean (Frobenius) norm that neither overflows nor underflows on the way."""
    largest = float(np.abs(A).max(initial=0.0))
    return largest * float(np.linalg.norm(A / largest)) if largest > 0 else 0.0


def unit(A: Array) -> Array:
    """`A` scaled to norm 1."""
    largest = np.abs(A).max()
    A = A / largest
    return A / np.linalg.norm(A)


def psd_part(A: Array) -> Array:
    """Nearest positive semi-definite matrix: the positive part of the spectrum."""
    eigenvalues, vectors = linalg.eigh(A, check_finite=False)
    is_positive = eigenvalues > 0
    root = vectors[:, is_positive] * np.sqrt(eigenvalues[is_positive])
    return root @ root.T


def nonnegative_part(A: Array) -> Array:
    """Nearest array with no negative element; for a vector this is Relief's (.)^+."""
    return np.maximum(A, 0.0)


def doubly_nonnegative_part(A: Array) -> Array:
    """Nearest matrix that is both positive semi-definite and element-wise non-negative.

    Dykstra's alternating projections [1]_: like projecting on the two cones in turn, but
    each turn first adds back what the same cone took away the time before, which makes the
    limit the projection onto the intersection and not just some point of it.

    References
    ----------
    .. [1] J. P. Boyle and R. L. Dykstra, "A method for finding projections onto the
       intersection of convex sets in Hilbert spaces", 1986.
       :doi:`10.1007/978-1-4613-9940-7_3`
    """
    scale = norm(A)
    if scale == 0:
        return A
    current, taken_by_psd, taken_by_sign = A / scale, np.zeros_like(A), np.zeros_like(A)
    for _ in range(DYKSTRA_ROUNDS):
        psd = psd_part(current + taken_by_psd)
        taken_by_psd = current + taken_by_psd - psd
        current = nonnegative_part(psd + taken_by_sign)
        taken_by_sign = psd + taken_by_sign - current
        if norm(current - psd) <= DYKSTRA_TOLERANCE:
            break
    return current * scale


def clipped_psd_part(A: Array) -> Array:
    """What the R package does: the PSD part, then negative elements to 0.

    Not a projection onto any set, so a step along it need not lower the cost.
    """
    return nonnegative_part(psd_part(A))


PROJECTIONS: dict[str, Projection] = {
    "psd": psd_part,
    "nonnegative": nonnegative_part,
    "both": doubly_nonnegative_part,
    "clip": clipped_psd_part,
}
