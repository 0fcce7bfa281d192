"""The pairwise passes: ``reference`` defines them in NumPy, ``compiled`` runs them fast.

=======================  ========================================================
``pieces``               differences, form, target, pairs: what a pass is made of
``reference``            the pass, as plain as its equations
``compiled``             the same as two compiled sweeps: ``sweeps`` has the essay
``layout``, ``tiles``    how tables and pairs lie in memory
``tile_*``               the work on one tile, in the order of the sweeps
``microkernels``         arithmetic on one buffer of differences
``neighbours``           nearest hits and misses, with their own plain version
=======================  ========================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from immigrate.core.forms import LINEAR, QUADRATIC
from immigrate.kernels.pieces import Pieces
from immigrate.kernels.reference import PlainPass
from immigrate.typing import Array

if TYPE_CHECKING:
    from immigrate.kernels.compiled import CompiledPass


def pass_over(
    pieces: Pieces, anchor_weight: Array | None = None, *, n_threads: int = 1
) -> CompiledPass | PlainPass:
    """Who runs the passes: the compiled sweeps for the forms that they know, else plain NumPy.

    The compiled pass is imported when it is first needed, so that importing the library does not
    import Numba.
    """
    if anchor_weight is None:
        anchor_weight = np.full(pieces.n_samples, 1.0 / len(pieces.pairs.anchors))
    if pieces.form not in (LINEAR, QUADRATIC):
        return PlainPass(pieces, anchor_weight)
    from immigrate.kernels.compiled import CompiledPass

    return CompiledPass(pieces, anchor_weight, n_threads=n_threads)
