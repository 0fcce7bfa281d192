"""The Frank-Wolfe gap: a certificate of convergence that costs nothing beyond the oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.core.cones import WeightSet, norm
from immigrate.typing import Array

# A projection this small against what was projected is rounding, not a direction.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class Oracle:
    """The best W of the set for the cost linearised at the present one.

    Attributes
    ----------
    weights : ndarray or None
        V = P_K(-Sigma), scaled: Theorem 3.1 for the PSD cone. None where the projection is
        0 and so no direction improves the margin.
    gap : float
        1 - <-Sigma, W> / <-Sigma, V>, with V scaled to the norm of W and the penalty, if
        there is one, taken from both: non-negative, and 0 exactly where W is the oracle's own
        answer, a stationary point on its sphere. NaN where `prox` is no projection.
    """

    weights: Array | None
    gap: float


def oracle(W: Array, gradient: Array, weight_set: WeightSet) -> Oracle:
    """Theorem 3.1 for any weight set, and how far `W` is from its own answer."""
    size = norm(gradient)
    if size == 0:
        return Oracle(None, np.nan)
    direction = -gradient / size
    # In units of the gradient, so that neither its square nor that of the answer overflows.
    best = weight_set.prox(direction, 1 / size)
    if norm(best) <= NEGLIGIBLE:
        return Oracle(None, np.nan)
    best = weight_set.scaled(best)
    if not weight_set.is_projection:
        return Oracle(best, np.nan)
    same_size = best * (norm(W) / norm(best))
    here = np.vdot(direction, W) - weight_set.value(W) / size
    there = np.vdot(direction, same_size) - weight_set.value(same_size) / size
    return Oracle(best, float(1 - here / there))
