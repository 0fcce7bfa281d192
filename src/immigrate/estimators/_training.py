"""Checks of where a fit starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.arrays import Array, Mask


def checked_start(init: Any, is_kept: Mask) -> Array:
    """A starting W as the paper wants it: square, symmetric, non-negative, not all zero.

    `init` covers all features; what comes back covers those of the mask `is_kept`.
    """
    n_features = len(is_kept)
    try:
        W = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init must be a matrix of {n_features} by {n_features} numbers, got {init!r}."
        ) from None
    if W.shape != (n_features, n_features):
        raise ValueError(
            f"init has shape {W.shape}; X has {n_features} features, so it must be "
            f"({n_features}, {n_features})."
        )
    if not np.isfinite(W).all():
        raise ValueError("init holds NaN or infinity; give finite weights.")
    # A matrix that was computed may be symmetric but for rounding; it is made so at the end.
    if not np.allclose(W, W.T, rtol=1e-10, atol=1e-12 * np.abs(W).max(initial=0)):
        raise ValueError("init is not symmetric; symmetrise it with (init + init.T) / 2.")
    if (W < 0).any():
        raise ValueError("init has negative weights; clip them with np.maximum(init, 0).")
    W = W[np.ix_(is_kept, is_kept)]
    if not W.any():
        raise ValueError(
            "init is all zero among the features in use, so every distance is 0; "
            "start from the identity."
        )
    return (W + W.T) / 2
