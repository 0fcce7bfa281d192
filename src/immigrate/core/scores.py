"""From distances to classes: Eq. 9, probabilities, leave-one-out."""

from __future__ import annotations

from functools import reduce

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.couplings import boltzmann, soft_coupling


def expected_distance(q: Array, sigma: float) -> float:
    """V = sum_j alpha_j q_j with alpha of Eq. 4: the bracket of Eq. 9 for one class."""
    return float(soft_coupling(q, sigma) @ q)


def class_probability(score: Array, sigma: float | Array) -> Array:
    """Softmax of -score / sigma over classes (the last axis); the smallest score is likeliest.

    With free energies as scores this is the class posterior of a kernel density estimate
    exp(-q / sigma); with expected distances it is the same map applied to Eq. 9.
    """
    return soft_coupling(score, sigma)


def own_class_probability(score: Array, sigma: float | Array, y: Codes) -> Array:
    """`class_probability` of each sample's own class y, without those of the others.

    Several sigmas have axes of their own, before that of the samples. One class after the other:
    NumPy takes a multiple of the time for sums along so short an axis.
    """
    classes, own = np.moveaxis(score, -1, 0), score[..., np.arange(len(y)), y]
    floor = reduce(np.minimum, classes)
    total = reduce(np.add, (boltzmann(one, floor, sigma) for one in classes))
    weight = boltzmann(own, floor, sigma)
    return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def distance_share(distance: Array) -> Array:
    """Each class's share of the summed expected distances; the *smallest* wins.

    This is what the R package prints as probabilities.
    """
    total = distance.sum(axis=-1, keepdims=True)
    even = np.full_like(distance, 1.0 / distance.shape[-1])
    return np.divide(distance, total, out=even, where=total > 0)
