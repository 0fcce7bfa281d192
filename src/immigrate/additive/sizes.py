"""How large an effect is, with an interval; and effects of terms that are in no model.

The size of an effect f = C b is s = sqrt(b'Mb), the root of its mean square over the samples. M
holds the mean products of the columns C, for a pair cleared of the main effects of its features.
An estimate of b with covariance K makes q = b'Mb too large by tr(MK), which is taken off. The
interval holds every s that makes the q seen no surprise: given s, q is distributed as a chi2 with
noncentrality, scaled so that mean and variance,

    s^2 + tr(MK)   and   2 tr(MKMK) + 4 s^2 g,   g = b'MKMb / b'Mb,

are right. Near s = 0 such an interval starts at 0, which a standard error around s could not say.

Terms that are in no model are one Newton step from the model without them. With U = C'r and S its
covariance, b = (S + P)^-1 U with a weak ridge P is what a fit of the columns C would come to, to
first order; K = (S + P)^-1 S (S + P)^-1 is its covariance. Where samples are alike in what they
say of a label, S is the mean square of the cleared columns but for one factor, so that the size
of the effect comes from the same numbers. A strong effect comes out weaker in this way than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from immigrate.additive.design import Design
from immigrate.additive.moments import Contrast, Moments
from immigrate.arrays import Array, Codes

CONFIDENCE = 0.95
BISECTIONS = 50
# A weak ridge on columns that are in no model.
SMOOTH_PENALTY, LEVEL_PENALTY = 1.0, 0.3
TINY = np.finfo(np.float64).tiny


class Sizes(NamedTuple):
    """Sizes of several effects, each with the ends of its 95 % interval."""

    size: Array
    low: Array
    high: Array

    def times(self, unit: float) -> Sizes:
        """The same in another unit."""
        return Sizes(unit * self.size, unit * self.low, unit * self.high)


def sizes_of(q: Array, trace: Array, second: Array, along: Array) -> Sizes:
    """Sizes from b'Mb, tr(MK), tr(MKMK) and b'MKMb, arrays of one length.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.additive.sizes import sizes_of
    >>> one = sizes_of(np.array([1.0]), np.array([0.01]), np.array([0.0001]), np.array([0.01]))
    >>> one.size.round(3), one.low.round(2), one.high.round(2)
    (array([0.995]), array([0.8]), array([1.2]))
    """
    trace, second = np.maximum(trace, TINY), np.maximum(second, TINY)
    along = along / np.maximum(q, TINY)
    tail = (1 - CONFIDENCE) / 2
    # No end of an interval is further out than that.
    largest = 3 * np.sqrt(np.maximum(q, 0.0)) + 6 * np.sqrt(trace + along)

    def share_below(s: Array) -> Array:
        scale = (second + 2 * s**2 * along) / (trace + 2 * s**2)
        return special.chndtr(q / scale, trace / scale, s**2 / scale)

    def end(share: float) -> Array:
        low, high = np.zeros_like(q), largest
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            is_above = share_below(middle) > share
            # The share below falls as the size grows: where it is too large, the end is above.
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return low

    return Sizes(np.sqrt(np.maximum(q - trace, 0.0)), end(1 - tail), end(tail))


@dataclass(frozen=True)
class FirstOrder:
    """What one step says of each term of a list, before it is put into words.

    Attributes
    ----------
    forms : ndarray of shape (4, n_terms)
        b'Mb, tr(MK), tr(MKMK) and b'MKMb, the mean over the contrasts.
    gain : ndarray of shape (n_terms,)
        By how much the deviance of new samples, as many as there are, would fall.
    """

    forms: Array
    gain: Array

    def sizes(self) -> Sizes:
        """Sizes and their intervals."""
        return sizes_of(*self.forms)


def first_order(
    moments: list[Moments], penalty: Array, contrasts: Sequence[Contrast]
) -> FirstOrder:
    """The step of each contrast, and the mean over them."""
    steps = [_step(own, penalty, contrast) for own, contrast in zip(moments, contrasts)]
    forms = np.mean([forms for forms, _ in steps], axis=0)
    gain = np.sum([gain for _, gain in steps], axis=0)
    # K one-against-the-others contrasts say K / (K - 1) times what K classes do.
    n = len(contrasts)
    return FirstOrder(forms, gain * (n - 1) / n if n > 1 else gain)


def column_penalty(design: Design, terms: Codes, sizes: Array) -> Array:
    """A weak ridge on the columns of features or pairs: (b, k), given their mean squares.

    Columns of features with an order already weigh by smoothness, phi_k / k. Those of a few
    levels are taken back to one size each: no level is rougher than another.
    """
    has_order = np.any(design.has_single[terms], axis=1)
    return np.where(has_order[:, None], SMOOTH_PENALTY, LEVEL_PENALTY * sizes)


def _step(moments: Moments, penalty: Array, contrast: Contrast) -> tuple[Array, Array]:
    """The four forms (4, b) and the gain (b,) of one contrast."""
    dispersion = contrast.dispersion
    curvature = float(contrast.variance.sum()) / dispersion
    # Of the observed labels alone: sets that were drawn have no effect to be measured.
    M, U = moments.S / (dispersion * curvature), moments.U[:, :, 0] / curvature
    penalised, own = M.copy(), np.arange(M.shape[1])
    # 1 for columns that cannot be tested, which are 0: the matrix stays regular.
    penalised[:, own, own] += np.where(moments.is_used, penalty / curvature, 1.0)
    inverse = np.linalg.inv(penalised)
    b = np.matmul(inverse, U[:, :, None])[:, :, 0]
    shrinkage = np.matmul(inverse, M)
    K = np.matmul(shrinkage, inverse) * (dispersion / curvature)
    Mb, MK = np.matmul(M, b[:, :, None])[:, :, 0], np.matmul(M, K)
    forms = [
        np.sum(b * Mb, axis=1),
        np.einsum("bkk->b", MK),
        np.einsum("bkl,blk->b", MK, MK),
        np.einsum("bk,bkl,bl->b", Mb, K, Mb, optimize=True),
    ]
    # What a fit gains on its own samples it has by chance to the amount of its parameters.
    optimism = 2 * dispersion * np.einsum("bkk->b", shrinkage)
    gain = curvature * (2 * np.sum(U * b, axis=1) - forms[0]) - optimism
    return np.array(forms), gain
