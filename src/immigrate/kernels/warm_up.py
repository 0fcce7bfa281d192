"""Compile the passes before they are needed, and say so where that takes a while."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from immigrate.core.forms import LINEAR, QUADRATIC, Form
from immigrate.kernels import pass_over
from immigrate.kernels.pieces import Pieces

WORTH_A_WORD = 3.0  # seconds


def warm_up(
    dtype: npt.DTypeLike = np.float64, form: Form = QUADRATIC, *, verbose: bool = False
) -> float:
    """Seconds until the training pass for this type of table and weights is ready to run.

    Parameters
    ----------
    dtype : float64 or float32
        Type of the table.
    form : Form
        Linear, as in IM4E, or quadratic, as in IMMIGRATE.
    verbose : bool
        Say how long it took, if more than a few seconds, and where the result is kept.

    Returns
    -------
    float
        About a millisecond once this process has compiled the pass, less than a second if an
        earlier one has.

    Examples
    --------
    >>> from immigrate.kernels.warm_up import warm_up
    >>> seconds = warm_up()
    """
    start = time.perf_counter()
    # The smallest table in which every sample has a hit and a miss.
    X, W = np.arange(8.0, dtype=dtype).reshape(4, 2), np.ones(2) if form == LINEAR else np.eye(2)
    pass_over(Pieces.of(X, np.array([0, 0, 1, 1]), form=form)).margin(W, 1.0)
    seconds = time.perf_counter() - start
    if verbose and seconds > WORTH_A_WORD:
        print(f"immigrate compiled its passes in {seconds:.0f} s; kept in {cache_folder()}.")
    return seconds


def cache_folder() -> str:
    """Where the compiled passes are kept between processes.

    Empty if nowhere can be written, and before the first pass of this process.
    """
    from immigrate.kernels.sweeps import energy_sweep

    return str(energy_sweep.stats.cache_path or "")
