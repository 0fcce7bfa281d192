"""Compile the passes before they are needed, and say so where that takes a while."""

from __future__ import annotations

import time

import numpy as np

from immigrate.core.forms import LINEAR, QUADRATIC, Form
from immigrate.kernels import pass_over
from immigrate.kernels.pieces import Pieces

WORTH_A_WORD = 3.0  # seconds


def warm_up(dtype=np.float64, form: Form = QUADRATIC, *, verbose=False) -> float:
    """Seconds until the training pass for this type of table and weights is ready to run.

    About a millisecond once this process or, through Numba's cache, an earlier one has compiled
    it. When `verbose`, a first time of more than a few seconds is explained.
    """
    start = time.perf_counter()
    X, W = np.arange(8.0, dtype=dtype).reshape(4, 2), np.ones(2) if form == LINEAR else np.eye(2)
    pass_over(Pieces.of(X, np.array([0, 0, 1, 1]), form=form)).margin(W, 1.0)
    seconds = time.perf_counter() - start
    if verbose and seconds > WORTH_A_WORD:
        print(f"immigrate compiled its passes in {seconds:.0f} s; kept in {cache_folder()}.")
    return seconds


def cache_folder() -> str:
    """Where the compiled passes are kept between processes; empty if nowhere can be written."""
    from immigrate.kernels.sweeps import energy_sweep

    return energy_sweep.stats.cache_path or ""
