"""Soft nearest neighbours: who is the nearest hit, who the nearest miss, with what probability."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immigrate.arrays import Array

# exp(-x) is zero in float64 beyond this.
LARGEST_EXPONENT = 750.0


class SoftSum(NamedTuple):
    """sum_j share_j exp(-q_j / sigma) = total exp(-floor / sigma), for any size of q / sigma.

    Sums over parts of the candidates merge into the sum over all of them, in any grouping.

    Attributes
    ----------
    floor : ndarray
        The smallest q of the candidates, infinite where there are none.
    total : ndarray
        Between the smallest share and the sum of all shares; 0 where there are no candidates.
    """

    floor: Array
    total: Array

    def free_energy(self, sigma: float) -> Array:
        """-sigma log of the sum: a soft minimum of q."""
        is_anybody = self.total > 0
        log = np.log(np.where(is_anybody, self.total, 1.0))
        return np.where(is_anybody, self.floor - sigma * log, np.inf)

    def merged(self, other: SoftSum, sigma: float) -> SoftSum:
        """The sum over the candidates of both."""
        floor = np.minimum(self.floor, other.floor)
        parts = [one.total * boltzmann(one.floor, floor, sigma) for one in (self, other)]
        return SoftSum(floor, parts[0] + parts[1])

    def coupling(self, q: Array, share: Array, sigma: float | Array) -> Array:
        """Probability of each candidate, on one more axis, being the nearest one: Eq. 4."""
        floor, total = self.floor[..., None], self.total[..., None]
        weight = share * boltzmann(np.where(share > 0, q, np.inf), floor, sigma)
        return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def boltzmann(q: Array, floor: Array, sigma: float | Array) -> Array:
    """exp(-(q - floor) / sigma) for q >= floor, 0 where q is infinite; nothing overflows."""
    excess = np.where(np.isfinite(q), q, 0.0) - np.where(np.isfinite(floor), floor, 0.0)
    height = np.where(np.isfinite(q), excess, np.inf)
    # Beyond this the exponential is 0 in float64; capping keeps q / sigma from overflowing.
    return np.exp(-np.minimum(height, LARGEST_EXPONENT * sigma) / sigma) * np.isfinite(q)


def soft_sum(q: Array, sigma: float | Array, share: Array | float = 1.0) -> SoftSum:
    """Sum of share exp(-q / sigma) over the candidates along the last axis."""
    share = np.broadcast_to(share, q.shape)
    floor = np.min(q, axis=-1, where=share > 0, initial=np.inf)
    weight = share * boltzmann(np.where(share > 0, q, np.inf), floor[..., None], sigma)
    return SoftSum(floor, weight.sum(axis=-1))


def soft_coupling(q: Array, sigma: float | Array) -> Array:
    """Probability of each candidate being the nearest one: Eq. 4, a softmax of -q / sigma.

    Several sigmas have axes of their own, before those of q.
    """
    return soft_sum(q, sigma).coupling(q, np.ones_like(q), sigma)


def soft_minimum(q: Array, sigma: float) -> Array:
    """-sigma log sum_j exp(-q_j / sigma), along the last axis: the free energy of a candidate set.

    It is what expected distance minus sigma times entropy comes to at the coupling of
    Eq. 4, stays in the units of q for every sigma, and tends to min q as sigma tends to 0.
    """
    return soft_sum(q, sigma).free_energy(sigma)
