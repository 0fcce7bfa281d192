"""I-RELIEF's cost: soft margins in which likely outliers count less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from immigrate.core.objective import hit_and_miss
from immigrate.kernels.results import MarginPass
from immigrate.problems.margin import MarginProblem
from immigrate.typing import Array


class InlierProblem(MarginProblem):
    """Margins weighed by gamma_n, the probability that the nearest sample of n is a hit.

    With f(d) = exp(-d / sigma), gamma_n = sum_hit f / sum_all f, and I-RELIEF's fixed point is
    that of full steps on

        C(w) = sigma sum_n D_n log(1 - gamma_n),    dC/dw = sum_n D_n gamma_n (h_n - m_n),

    h_n and m_n the expected differences from the hits and from the misses.

    Parameters
    ----------
    columns : ndarray of shape (n, q)
        The table, a categorical feature as one column a category.
    y : ndarray of shape (n,)
    owner : ndarray of shape (q,)
        Which feature, and so which weight, each column belongs to.
    anchor_weight : ndarray of shape (n,), optional
    n_threads : int
    """

    def __init__(
        self,
        columns: Array,
        y: NDArray[np.intp],
        *,
        owner: NDArray[np.intp],
        anchor_weight: Array | None = None,
        n_threads: int = 1,
    ) -> None:
        super().__init__(columns, y, anchor_weight=anchor_weight, n_threads=n_threads)
        n = len(columns)
        self._columns, self._y, self._owner = columns, y, owner
        self._anchor_weight = np.full(n, 1 / n) if anchor_weight is None else anchor_weight
        self._n_threads = n_threads

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost and gradient at `W`, one weight a feature."""
        w = W[self._owner]
        scores = super().evaluate(w, sigma, reject_above=-np.inf).scores
        hit, miss = hit_and_miss(scores.free_energy, self._y, sigma)
        # log(1 - gamma), gamma = 1 / (1 + exp((hit - miss) / sigma)), with nothing overflowing.
        log_outlier = -np.logaddexp(0.0, (miss - hit) / sigma)
        cost = float(sigma * (self._anchor_weight @ log_outlier))
        if cost > reject_above:
            return MarginPass(cost, None, scores)
        inliers = MarginProblem(
            self._columns,
            self._y,
            anchor_weight=self._anchor_weight * -np.expm1(log_outlier),
            n_threads=self._n_threads,
        )
        slope = inliers.evaluate(w, sigma).gradient
        assert slope is not None
        return MarginPass(cost, np.bincount(self._owner, slope, W.size), scores)
