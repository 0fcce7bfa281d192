"""The pairwise passes: ``reference`` (NumPy, readable) and ``fused`` (compiled, fast).

``neighbours_reference`` and ``neighbours`` are the same for nearest hits and misses.

``pair_kernel`` imports the compiled pass when it is first called, so that importing the
library does not import Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from immigrate.kernels.fused import PairKernel


def pair_kernel(
    X: np.ndarray, y: np.ndarray, anchor_weight: np.ndarray | None = None, *, n_threads: int = 1
) -> PairKernel:
    """Training table laid out for the pairwise passes; see ``fused.PairKernel``."""
    from immigrate.kernels.fused import PairKernel

    return PairKernel(X, y, anchor_weight, n_threads=n_threads)
