"""Effects of terms that are in no model: one Newton step from the model without them.

With U = C'r and S its covariance, b = (S + P)^-1 U with a weak ridge P is what a fit of the
columns C would come to, to first order; K = (S + P)^-1 S (S + P)^-1 is its covariance. Where
samples are alike in what they say of a label, S is the mean square of the cleared columns but for
one factor, so that the size of the effect comes from the same numbers. A strong effect comes out
weaker in this way than it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.inference.effects import Sizes, sizes_of
from immigrate.inference.residuals import Contrast
from immigrate.inference.term_moments import Moments


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

    def taken(self, index: Codes) -> FirstOrder:
        """Those of some terms."""
        return FirstOrder(self.forms[:, index], self.gain[index])


def no_effects(n_terms: int) -> FirstOrder:
    """Effects of size 0, to be filled in."""
    return FirstOrder(np.zeros((4, n_terms)), np.zeros(n_terms))


def first_order(moments: list[Moments], penalty: Array, contrasts: list[Contrast]) -> FirstOrder:
    """The step of each contrast, and the mean over them."""
    steps = [_step(own, penalty, contrast) for own, contrast in zip(moments, contrasts)]
    forms = np.mean([forms for forms, _ in steps], axis=0)
    gain = np.sum([gain for _, gain in steps], axis=0)
    # K one-against-the-others contrasts say K / (K - 1) times what K classes do.
    n = len(contrasts)
    return FirstOrder(forms, gain * (n - 1) / n if n > 1 else gain)


def _step(moments: Moments, penalty: Array, contrast: Contrast) -> tuple[Array, Array]:
    """The four forms (4, b) and the gain (b,) of one contrast."""
    curvature, dispersion = contrast.curvature, contrast.dispersion
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
