"""The pairwise passes: ``reference`` (NumPy, readable) and ``fused`` (compiled, fast).

``pair_kernel`` imports the compiled pass when it is first called, so that importing the
library does not import Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from immigrate.kernels.fused import PairKernel


def pair_kernel(X, y, anchor_weight=None, *, n_threads=1) -> PairKernel:
    """Training table laid out for the pairwise passes; see ``fused.PairKernel``."""
    from immigrate.kernels.fused import PairKernel

    return PairKernel(X, y, anchor_weight, n_threads=n_threads)
