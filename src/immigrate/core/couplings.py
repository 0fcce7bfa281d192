"""Soft nearest neighbours: who is the nearest hit, who the nearest miss, with what probability."""

from __future__ import annotations

import numpy as np

from immigrate.typing import Array

# exp(-x) is zero in float64 beyond this; capping the exponent here keeps huge
# q / sigma from overflowing on its way to zero.
LARGEST_EXPONENT = 750.0


def _boltzmann(q: Array, sigma: float) -> Array:
    """exp(-(q - min q) / sigma), along the last axis: no exponent above 0, none overflows."""
    excess = q - q.min(axis=-1, keepdims=True)
    return np.exp(-np.minimum(excess, LARGEST_EXPONENT * sigma) / sigma)


def soft_coupling(q: Array, sigma: float) -> Array:
    """Probability of each candidate being the nearest one: Eq. 4, a softmax of -q / sigma."""
    weight = _boltzmann(q, sigma)
    return weight / weight.sum(axis=-1, keepdims=True)


def soft_minimum(q: Array, sigma: float) -> Array:
    """-sigma log sum_j exp(-q_j / sigma), along the last axis: the free energy of a candidate set.

    It is what expected distance minus sigma times entropy comes to at the coupling of
    Eq. 4, stays in the units of q for every sigma, and tends to min q as sigma tends to 0.
    """
    return q.min(axis=-1) - sigma * np.log(_boltzmann(q, sigma).sum(axis=-1))
