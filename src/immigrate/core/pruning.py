"""Weight pruning, section 3.4.3 of the paper."""

from __future__ import annotations

import numpy as np

from immigrate.arrays import Array
from immigrate.core.cones import unit


def pruned(W: Array, below: float) -> Array:
    """`W` with every weight of size below `below` set to 0, back at unit Frobenius norm.

    If no weight would survive, the largest ones stay: a zero matrix is not a distance.
    """
    size = np.abs(W)
    is_kept = size >= min(below, size.max())
    return unit(np.where(is_kept, W, 0.0))
