"""Distances of single samples from many, written as the paper writes them."""

from __future__ import annotations

from immigrate.arrays import Array
from immigrate.core.forms import QUADRATIC


def quadratic_manhattan(d: Array, W: Array) -> Array:
    """D' W d of each row of `d`: the paper's quadratic-Manhattan measurement, Eq. 3."""
    return QUADRATIC.distance(W, d.T[:, None, :])[0]  # (n,)
