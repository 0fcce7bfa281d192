"""The pairwise passes: ``numpy_pass`` defines them, ``passes`` runs them fast.

=========================  ========================================================
``numpy_pass``             the pass, as plain as its equations
``whole_rows``             the same in one sweep, for numbers as outcome
``passes``                 the same as two compiled sweeps
``layout``                 how tables, pairs and weights lie in memory
``sweeps``                 the two sweeps, with an essay, and their memory
``threads``                parts in fixed order on any number of threads; BLAS
``tile_energies``          the first sweep on one tile: differences to soft sums
``tile_scatter``           the second sweep on one tile: couplings to the gradient
``microkernels``           arithmetic on one buffer of differences
``neighbours``             nearest hits and misses; ``neighbours_numpy`` defines them
``compiling``              how functions are compiled, and where that is kept
=========================  ========================================================

This file has what goes into a pass (``Pieces``), what comes out (``MarginPass``, ``ClassScores``)
and who runs it. Numba is imported with the first pass and not with the library.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.differences import ColumnDifferences, ColumnKinds, Samples
from immigrate.core.forms import LINEAR, QUADRATIC, Form
from immigrate.core.targets import ClassTarget, NumberTarget, Target
from immigrate.kernels.layout import layout_of
from immigrate.kernels.layout import pass_seconds as pass_seconds

LONG_WARM_UP = 3.0  # seconds after which it is said how long it took


@dataclass(frozen=True)
class Pairs:
    """Every anchor with every reference.

    Attributes
    ----------
    anchors, references : ndarray of int
        Rows of one table. An anchor's margin counts; references are its possible neighbours. A
        sample can be both, as all samples are in the paper.
    """

    anchors: Codes
    references: Codes

    def tiles(self, n_rows: int = 64, n_columns: int = 512) -> Iterator[tuple[Codes, Codes]]:
        """Blocks of anchors against blocks of references; together they hold every pair once."""
        for i in range(0, len(self.anchors), n_rows):
            for j in range(0, len(self.references), n_columns):
                yield self.anchors[i : i + n_rows], self.references[j : j + n_columns]


@dataclass(frozen=True)
class Pieces:
    """What a pass is made of, over one table of samples.

    ===============  ==============================================================
    differences      d between two samples, one number >= 0 per feature
    form             q from d and the weights, and its derivative
    target           how far a column is a hit, how far a miss, of a row
    pairs            which anchors meet which references
    ===============  ==============================================================
    """

    samples: Samples
    differences: ColumnDifferences
    form: Form
    target: Target
    pairs: Pairs

    @classmethod
    def of(
        cls,
        X: Array,
        y: np.ndarray,
        *,
        form: Form = QUADRATIC,
        kinds: ColumnKinds | None = None,
        count: Array | None = None,
        is_anchor: Mask | None = None,
    ) -> Pieces:
        """The pieces over labelled samples; by default numbers, and all pairs.

        Parameters
        ----------
        y : ndarray of shape (n,)
            Class codes, or numbers as floats.
        count : ndarray of shape (n,), optional
            How often each sample counts as a reference, 0 for none. 1 each by default.
        is_anchor : ndarray of shape (n,), optional
            Whose margin counts. All by default.
        """
        count = np.ones(len(X)) if count is None else count
        d = ColumnDifferences.of(X, kinds, count=count)
        anchors = np.arange(len(X)) if is_anchor is None else np.flatnonzero(is_anchor)
        target = ClassTarget(y, count) if y.dtype.kind == "i" else NumberTarget(y, count)
        return cls(d.samples(X), d, form, target, Pairs(anchors, np.flatnonzero(count > 0)))

    @property
    def n_samples(self) -> int:
        """Number of samples in the table."""
        return len(self.samples.values)


@dataclass(frozen=True)
class ClassScores:
    """How far each sample is from each class; in both measures the smallest wins.

    Attributes
    ----------
    free_energy : ndarray of shape (n, n_classes)
        -sigma log sum_{j in c} exp(-q_nj / sigma).
    distance : ndarray of shape (n, n_classes)
        The expected distance of Eq. 9.
    """

    free_energy: Array
    distance: Array

    def rows(self, chosen: Mask | None) -> ClassScores:
        """Scores of some of the samples; None is all."""
        if chosen is None:
            return self
        return ClassScores(self.free_energy[chosen], self.distance[chosen])


@dataclass(frozen=True)
class MarginPass:
    """One sweep over the pairs of the training set at one W.

    Attributes
    ----------
    cost : float
        C(W), Eq. 10.
    gradient : ndarray
        Sigma, shaped like W. None where the sweep stopped early because the cost was above
        the caller's limit.
    scores : ClassScores
        Leave-one-out scores: no sample counts as its own neighbour.
    """

    cost: float
    gradient: Array | None
    scores: ClassScores


class Pass(Protocol):
    """The passes over one table, whoever runs them: NumPy, compiled sweeps, a cluster."""

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores; no gradient for a cost above the limit."""
        ...

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None = None
    ) -> list[ClassScores]:
        """Scores of new samples under several (W, sigma), on so many threads of this process."""
        ...

    def with_anchor_weight(self, anchor_weight: Array) -> Pass:
        """The same table with other anchor weights; nothing is laid out again."""
        ...

    def with_threads(self, n_threads: int) -> Pass:
        """The same table with another number of threads; nothing is laid out again."""
        ...

    def release(self) -> None:
        """Free the memory that only training needs."""
        ...


class Runner(Protocol):
    """Runs passes outside this process."""

    def __call__(self, pieces: Pieces, anchor_weight: Array, *, n_threads: int) -> Pass:
        """The passes over one table."""
        ...


# Who runs the passes over tables that this thread lays out; None is this process itself.
RUNNER: ContextVar[Runner | None] = ContextVar("RUNNER", default=None)


@contextmanager
def passes_run_by(runner: Runner | None) -> Iterator[None]:
    """Inside the block, let `runner` run the passes over tables that this thread lays out."""
    token = RUNNER.set(runner)
    try:
        yield
    finally:
        RUNNER.reset(token)


def pass_over(pieces: Pieces, anchor_weight: Array | None = None, *, n_threads: int = 1) -> Pass:
    """The passes over one table, run by the current runner.

    By default every anchor weighs the same.
    """
    if anchor_weight is None:
        anchor_weight = np.full(len(pieces.samples.values), 1.0 / len(pieces.pairs.anchors))
    return (RUNNER.get() or local_pass)(pieces, anchor_weight, n_threads=n_threads)


def local_pass(pieces: Pieces, anchor_weight: Array, *, n_threads: int = 1) -> Pass:
    """The passes in this process: the compiled sweeps where they know all pieces, else NumPy.

    Both are imported when they are first needed: the compiled ones import Numba.
    """
    layout = layout_of(pieces)
    if layout is None:
        from immigrate.kernels.whole_rows import WholeRowPass

        return WholeRowPass(pieces, anchor_weight)
    from immigrate.kernels.passes import CompiledPass

    return CompiledPass(layout, anchor_weight, n_threads=n_threads)


def warm_up(
    dtype: npt.DTypeLike = np.float64, form: Form = QUADRATIC, *, verbose: bool = False
) -> float:
    """Compile the training pass before it is needed; the seconds that this took.

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
    >>> from immigrate.kernels import warm_up
    >>> seconds = warm_up()
    """
    start = time.perf_counter()
    # The smallest table in which every sample has a hit and a miss.
    X, W = np.arange(8.0, dtype=dtype).reshape(4, 2), np.ones(2) if form == LINEAR else np.eye(2)
    pass_over(Pieces.of(X, np.array([0, 0, 1, 1]), form=form)).margin(W, 1.0)
    seconds = time.perf_counter() - start
    if verbose and seconds > LONG_WARM_UP:
        print(f"immigrate compiled its passes in {seconds:.0f} s; kept in {cache_folder()}.")
    return seconds


def cache_folder() -> str:
    """Where the compiled passes are kept between processes.

    Empty if nowhere can be written, and before the first pass of this process.
    """
    from immigrate.kernels.sweeps import energy_sweep

    return str(energy_sweep.stats.cache_path or "")
