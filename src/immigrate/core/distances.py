"""Distances between samples, from the element-wise differences d = |x_i - x_j|."""

from __future__ import annotations

import numpy as np

from immigrate.typing import Array


def absolute_differences(X: Array, x: Array) -> Array:
    """Element-wise |X_j - x| of every row of `X` to one sample `x`."""
    return np.abs(X - x)  # (n, p)


def quadratic_manhattan(d: Array, W: Array) -> Array:
    """Q = d' W d of each row of `d`: the paper's quadratic-Manhattan measurement, Eq. 3."""
    return np.einsum("ja,ab,jb->j", d, W, d, optimize=True)  # (n,)


def weighted_manhattan(d: Array, w: Array) -> Array:
    """W' d of each row of `d`: the weighted Manhattan distance of Eq. 1, used by IM4E."""
    return d @ w  # (n,)


def pair_distance(d: Array, W: Array) -> Array:
    """Distance of each row of differences: quadratic for a matrix, Manhattan for a vector."""
    return quadratic_manhattan(d, W) if W.ndim == 2 else weighted_manhattan(d, W)


def scatter(d: Array, weight: Array, W: Array) -> Array:
    """Derivative of sum_j weight_j distance(d_j) in `W`: weighted sum of d d', or of d."""
    return (d * weight[:, None]).T @ d if W.ndim == 2 else weight @ d
