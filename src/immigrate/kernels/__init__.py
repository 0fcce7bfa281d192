"""Sweeps over all pairs of samples: cost, gradient and class scores.

``reference`` says in plain NumPy what is computed; the fused kernel computes the same
fast, with bounded memory. The compiler behind it is imported only when a kernel is made.
"""

from __future__ import annotations

from immigrate.kernels.reference import ReferenceKernel


def pair_kernel(X, y, anchor_weight=None, *, n_threads: int = 1) -> ReferenceKernel:
    """The training table laid out for the fast pairwise passes."""
    return ReferenceKernel(X, y, anchor_weight, n_threads=n_threads)
