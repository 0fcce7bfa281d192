"""The constants of the optimisation: labelled samples and whose margins count how much."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from immigrate.kernels import pair_kernel
from immigrate.kernels.results import ClassScores, MarginPass
from immigrate.typing import Array

# Squares of larger spans leave the range of float64.
LARGEST_SPAN = 1e151
SIGMA_RANGE = (1e-300, 1e300)
# How far from the training samples new ones may lie, by the bytes of a number.
LARGEST_REACH = {8: 1e150, 4: 1e15}


class MarginProblem:
    """Labelled samples whose soft margin is to be made large.

    The table is held in units of its own span, rounded to a power of two, so that squares
    neither overflow nor vanish whatever the user's units; scaling by a power of two is
    exact. Everything that goes in or comes out is in the user's units.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,)
        Class codes 0, 1, ..., each with at least two samples.
    anchor_weight : ndarray of shape (n,), optional
        D of Eq. 10, non-negative with sum 1. By default 1 / n each.
    n_threads : int
    """

    def __init__(
        self,
        X: Array,
        y: NDArray[np.intp],
        *,
        anchor_weight: Array | None = None,
        n_threads: int = 1,
    ) -> None:
        self.n_samples, self.n_features = X.shape
        self._dtype = X.dtype
        self._exponent = _span_exponent(X)
        self._kernel = pair_kernel(self._scaled(X), y, anchor_weight, n_threads=n_threads)

    def with_anchor_weight(self, anchor_weight: Array) -> MarginProblem:
        """The same samples with other anchor weights, as boosting needs them every round."""
        other = copy.copy(self)
        other._kernel = self._kernel.with_anchor_weight(anchor_weight)
        return other

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`.

        The gradient is left out (None) when the cost is above `reject_above`: a line search
        that refuses a point has no use for the second half of the work.
        """
        unit = self._distance_unit(W)
        result = self._kernel.margin(W, _clipped(sigma / unit), reject_above=reject_above / unit)
        return replace(
            result,
            cost=result.cost * unit,
            gradient=None if result.gradient is None else result.gradient * unit,
            scores=_in_units(result.scores, unit),
        )

    def loo_scores(self, W: Array, sigma: float) -> ClassScores:
        """Scores of each training sample against all the others, without the gradient."""
        return self.evaluate(W, sigma, reject_above=-np.inf).scores

    def class_scores(self, X_new: Array, W: Array, sigma: float) -> ClassScores:
        """Scores of new samples against each class of the training samples."""
        return self.class_scores_many(X_new, [W], [sigma])[0]

    def class_scores_many(
        self, X_new: Array, weights: Sequence[Array], sigmas: Sequence[float]
    ) -> list[ClassScores]:
        """`class_scores` of several models in one sweep: the differences are shared."""
        unit = self._distance_unit(weights[0])
        scaled = [_clipped(sigma / unit) for sigma in sigmas]
        many = self._kernel.scores_many(self._within_reach(X_new), weights, scaled)
        return [_in_units(scores, unit) for scores in many]

    def cost_rounding(self, sigma: float) -> float:
        """Size of the rounding error of a cost: its logarithms come multiplied by sigma."""
        return 8 * float(np.finfo(np.float64).eps) * sigma * float(np.log(self.n_samples))

    def _scaled(self, X: Array) -> Array:
        return np.ldexp(X, -self._exponent)

    def _within_reach(self, X_new: Array) -> Array:
        """New samples in the units of the table, unless squares of differences would overflow."""
        scaled = self._scaled(np.asarray(X_new, dtype=np.float64))
        largest = float(np.abs(scaled).max(initial=0.0))
        if largest > LARGEST_REACH[self._dtype.itemsize]:
            raise ValueError(
                f"X holds values {largest:.3g} times as large as the span of the training "
                "features; distances would overflow. Check the units, or scale the features."
            )
        return scaled.astype(self._dtype)

    def _distance_unit(self, W: Array) -> float:
        # q is of degree 2 in the differences for a matrix, of degree 1 for a vector.
        return float(np.ldexp(1.0, W.ndim * self._exponent))


def _span_exponent(X: Array) -> int:
    span = 2 * float((X.max(axis=0) / 2 - X.min(axis=0) / 2).max())
    if span > LARGEST_SPAN:
        raise ValueError(
            f"A feature of X spans {span:.3g}; squared distances would overflow. "
            "Scale the features first, for example with StandardScaler."
        )
    return int(np.frexp(span)[1])


def _clipped(sigma: float) -> float:
    """Beyond these limits sigma acts as 0 or infinity to the last digit."""
    return min(max(sigma, SIGMA_RANGE[0]), SIGMA_RANGE[1])


def _in_units(scores: ClassScores, unit: float) -> ClassScores:
    return ClassScores(scores.free_energy * unit, scores.distance * unit)
