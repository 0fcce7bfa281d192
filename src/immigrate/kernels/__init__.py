"""The pairwise passes: ``reference`` defines them in NumPy, ``compiled`` runs them fast.

=======================  ========================================================
``pieces``               differences, form, target, pairs: what a pass is made of
``reference``            the pass, as plain as its equations
``compiled``             the same as two compiled sweeps: ``sweeps`` has the essay
``layout``, ``tiles``    how tables and pairs lie in memory
``packing``              how weights do, by the form that they belong to
``tile_*``               the work on one tile, in the order of the sweeps
``microkernels``         arithmetic on one buffer of differences
``products``             the same with products of differences, for triples
``neighbours``           nearest hits and misses, with their own plain version
=======================  ========================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np

from immigrate.arrays import Array
from immigrate.kernels.packing import packing_for
from immigrate.kernels.pieces import Pieces
from immigrate.kernels.reference import PlainPass
from immigrate.kernels.results import ClassScores, MarginPass


class Pass(Protocol):
    """The passes over one table, whoever runs them: NumPy, compiled sweeps, a cluster."""

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores; no gradient for a cost above the limit."""
        ...

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float]
    ) -> list[ClassScores]:
        """Scores of new samples under several (W, sigma)."""
        ...

    def with_anchor_weight(self, anchor_weight: Array) -> Pass:
        """The same table with other anchor weights."""
        ...

    def release(self) -> None:
        """Free the memory that only training needs."""
        ...


class Runner(Protocol):
    """Runs passes outside this process."""

    def __call__(self, pieces: Pieces, anchor_weight: Array, *, n_threads: int) -> Pass:
        """The passes over one table."""
        ...


# Of this thread; None is this process itself.
_runner: ContextVar[Runner | None] = ContextVar("_runner", default=None)


def current_runner() -> Runner | None:
    """The runner of passes in this thread; None is this process itself."""
    return _runner.get()


@contextmanager
def passes_run_by(runner: Runner | None) -> Iterator[None]:
    """Inside the block, let `runner` run the passes over tables that this thread lays out."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def pass_over(pieces: Pieces, anchor_weight: Array | None = None, *, n_threads: int = 1) -> Pass:
    """The passes over one table, run by the current runner.

    By default every anchor weighs the same.
    """
    if anchor_weight is None:
        anchor_weight = np.full(pieces.n_samples, 1.0 / len(pieces.pairs.anchors))
    return (current_runner() or local_pass)(pieces, anchor_weight, n_threads=n_threads)


def local_pass(pieces: Pieces, anchor_weight: Array, *, n_threads: int = 1) -> Pass:
    """The passes in this process: the compiled sweeps for forms that they know, else plain NumPy.

    The compiled pass is imported when it is first needed, so that importing the library does not
    import Numba.
    """
    packing = packing_for(pieces.form, pieces.samples.values.shape[1])
    if packing is None:
        return PlainPass(pieces, anchor_weight)
    from immigrate.kernels.compiled import CompiledPass

    return CompiledPass(pieces, anchor_weight, packing, n_threads=n_threads)
