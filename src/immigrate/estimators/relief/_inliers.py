"""I-RELIEF's cost: soft margins in which likely outliers count less."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from immigrate.arrays import Array, Codes
from immigrate.core.couplings import hit_and_miss
from immigrate.kernels import MarginPass
from immigrate.margin.problem import MarginProblem


class InlierProblem:
    """Margins weighed by gamma_n, the probability that the nearest sample of n is a hit.

    With f(d) = exp(-d / sigma), gamma_n = sum_hit f / sum_all f, and I-RELIEF's fixed point is
    that of full steps on

        C(w) = sigma sum_n D_n log(1 - gamma_n),    dC/dw = sum_n D_n gamma_n (h_n - m_n),

    h_n and m_n the expected differences from the hits and from the misses. The gradient is that
    of a margin problem whose anchors weigh D_n gamma_n.

    Parameters
    ----------
    margin : MarginProblem
    y : ndarray of shape (n,)
        Its class codes.
    anchor_weight : ndarray of shape (n,), optional
        D; by default 1 / n each.
    """

    def __init__(
        self, margin: MarginProblem, y: Codes, *, anchor_weight: Array | None = None
    ) -> None:
        self._margin, self._y = margin, y
        n = margin.n_samples
        self._anchor_weight = np.full(n, 1 / n) if anchor_weight is None else anchor_weight

    def with_anchor_weight(self, anchor_weight: Array) -> InlierProblem:
        """The same samples with other anchor weights."""
        return InlierProblem(self._margin, self._y, anchor_weight=anchor_weight)

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`."""
        scores = self._margin.loo_scores(W, sigma)
        hit, miss = hit_and_miss(scores.free_energy, self._y, sigma)
        with np.errstate(over="ignore"):  # infinity is what a tiny sigma stands for
            ratio = (miss - hit) / sigma
        # -sigma log(1 - gamma), gamma = 1 / (1 + exp(-ratio)): for a tiny sigma the part above 0
        # of miss - hit, which sigma times a logarithm could not say.
        energy = np.maximum(miss - hit, 0.0) + sigma * np.log1p(np.exp(-np.abs(ratio)))
        cost = -float(self._anchor_weight @ energy)
        if cost > reject_above:
            return MarginPass(cost, None, scores)
        inliers = self._margin.with_anchor_weight(self._anchor_weight * expit(ratio))
        return MarginPass(cost, inliers.evaluate(W, sigma).gradient, scores)

    def cost_rounding(self, sigma: float) -> float:
        """Size of the rounding error of a cost."""
        return self._margin.cost_rounding(sigma)
