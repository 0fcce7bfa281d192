"""Distances of single samples from many, written as the paper writes them."""

from __future__ import annotations

import numpy as np

from immigrate.core.forms import QUADRATIC
from immigrate.typing import Array


def absolute_differences(X: Array, x: Array) -> Array:
    """Element-wise |X_j - x| of every row of `X` to one sample `x`."""
    return np.abs(X - x)  # (n, p)


def quadratic_manhattan(d: Array, W: Array) -> Array:
    """D' W d of each row of `d`: the paper's quadratic-Manhattan measurement, Eq. 3."""
    return QUADRATIC.distance(W, d.T[:, None, :])[0]  # (n,)
