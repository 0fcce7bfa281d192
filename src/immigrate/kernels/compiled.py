"""The passes, compiled: what ``reference`` defines, at the speed of the machine.

For column differences, linear, quadratic and cubic forms and classes as targets. This file lays
out the table, cuts the tiles into parts for threads, calls the two sweeps (``sweeps`` says what
they do) and reads the results.

n^2 p^2 / 2 multiply-adds for a matrix W, n^2 more for each triple, and n^2 / 2 exponentials.
Boltzmann factors that do not fit in scikit-learn's ``working_memory`` are computed twice: up to
3/4 n^2 p^2 and n^2.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
import sklearn

from immigrate.arrays import Array, Codes
from immigrate.core.differences import gaps
from immigrate.core.targets import HIT, MISS
from immigrate.kernels.buffers import Buffers, new_buffers
from immigrate.kernels.costs import pass_seconds
from immigrate.kernels.layout import Table, kinds_of, table_of
from immigrate.kernels.packing import Packing
from immigrate.kernels.pieces import Pieces
from immigrate.kernels.results import ClassScores, MarginPass
from immigrate.kernels.states import (
    class_scores,
    free_energy,
    hits_and_misses,
    new_state,
)
from immigrate.kernels.store import Part, Store
from immigrate.kernels.sweeps import Anchors, Stretch, Sweep, Tilt, energy_sweep, scatter_sweep
from immigrate.kernels.threads import run_in_order
from immigrate.kernels.tile_differences import Tables
from immigrate.kernels.tile_energies import FLOOR, PARTITION, merge_states
from immigrate.kernels.tiles import (
    FIRST_PAIR,
    LANES,
    TileShape,
    rectangular_tiles,
    runs_of,
    symmetric_tiles,
)

# Every part has sums and a gradient of its own, which are added up at the end. How many parts
# there are depends on the work alone, so that any number of threads adds up the same parts.
MOST_PARTS = 32
PART_SECONDS = 1e-3
# Compiled code does not hear Ctrl-C: it comes back this often, by the estimate.
STRETCH_SECONDS = 0.2
ROWS_PER_BATCH = 256
NOBODY = new_state(0, 0, 0)  # whose sums are not wanted


class Plan(NamedTuple):
    """How one pass is carried out. It depends on shapes only, never on the number of threads."""

    n_parts: int
    n_kept: int  # Boltzmann factors to keep between the sweeps
    n_stretch: int  # pairs of one call of compiled code


def tile_shape(n_features: int, itemsize: int) -> TileShape:
    """Tiles whose buffer of differences stays in the second-level cache."""
    # 512 pairs of 1,200 bytes are 600 KB; wider tables have half as many pairs in the buffer.
    is_narrow = n_features * itemsize <= 1200
    return TileShape(n_rows=32, n_columns=128, n_buffer=512 if is_narrow else 256)


def plan_for(n_pairs: int, weights: Array, n_scores: int) -> Plan:
    """Keep what Boltzmann factors fit in memory; cut the tiles into parts of PART_SECONDS."""
    n_numbers = sklearn.get_config()["working_memory"] * 2**20 / 8
    n_problems, *features = weights.shape
    seconds = n_problems * pass_seconds(n_pairs, math.prod(features))
    # An eighth of the memory is for what parts need of their own, (floor, Z, Y) of every class and
    # sample or a gradient; seven eighths are for Boltzmann factors.
    in_memory = int(n_numbers / 8 / max(3 * n_problems * n_scores, weights.size))
    n_parts = max(1, min(int(seconds / PART_SECONDS), MOST_PARTS, in_memory))
    n_kept = min(n_pairs, int(n_numbers * 7 / 8 / n_problems))
    return Plan(n_parts, n_kept, max(1, int(n_pairs * min(1.0, STRETCH_SECONDS / seconds))))


class CompiledPass:
    """The passes over one table, laid out once.

    Parameters
    ----------
    pieces : Pieces
        Values scaled by the caller so that differences are of the order of 1, float64 or float32.
        With float32 the differences and distances are float32, and so are sums over one buffer of
        pairs; all other sums, and results, are float64. Every anchor has a hit and a miss.
    anchor_weight : ndarray of shape (n,)
        D of Eq. 10.
    packing : Packing
        How the sweeps take the weights of the form.
    n_threads : int
        Results do not depend on it.
    """

    def __init__(
        self, pieces: Pieces, anchor_weight: Array, packing: Packing, *, n_threads: int = 1
    ) -> None:
        self._pieces, self._n_threads, self._packing = pieces, n_threads, packing
        values, target = pieces.samples.values, pieces.target
        is_anchor = np.zeros(len(values), dtype=bool)
        is_anchor[pieces.pairs.anchors] = True
        is_reference = target.count > 0
        # By class, then samples that are both, mere anchors, mere references.
        self._order = np.lexsort((~is_anchor, ~is_reference, target.y))
        self._runs = runs_of(
            target.y[self._order], is_anchor[self._order], is_reference[self._order]
        )
        # Where the anchors are; a slice if they are everywhere, because that copies nothing.
        self._anchors = slice(None) if is_anchor.all() else np.flatnonzero(is_anchor[self._order])
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(target.y))])
        self._table = table_of(pieces.samples.take(self._order))
        # Samples that are no references count 0, which has no logarithm; as anchors they are not
        # tilted.
        self._log_count = np.log(np.where(is_reference, target.count, 1.0))[self._order]
        self._is_counted = bool(self._log_count.any())
        self._weight = self._sorted_weight(anchor_weight)
        self._rounding = np.finfo(values.dtype).eps
        self._shape = tile_shape(values.shape[1], values.itemsize)
        self._last_store: tuple[tuple[Plan, int], Store] | None = None
        self._spare_buffers: list[Buffers] = []

    @cached_property
    def _tiles(self) -> Codes:
        # Not laid out for predictions, which never need them.
        return symmetric_tiles(self._runs, self._shape)

    def with_anchor_weight(self, anchor_weight: Array) -> CompiledPass:
        """The same table with other anchor weights; nothing is laid out again."""
        # Laid out before the copy is made, so that both have the same ones.
        _ = self._tiles
        other = copy.copy(self)
        other._weight = self._sorted_weight(anchor_weight)
        return other

    def _sorted_weight(self, anchor_weight: Array) -> Array:
        weight = np.zeros(len(anchor_weight))
        weight[self._anchors] = anchor_weight[self._order[self._anchors]]
        return weight

    @property
    def _negligible(self) -> float:
        """Couplings below this do not change the gradient; anchor weights sum to about 1."""
        # All n^2 of them together then stay below one rounding error of the sum.
        return float(self._rounding * self._weight.sum() / len(self._order) ** 2)

    def release(self) -> None:
        """Free what only training needs: Boltzmann factors as large as the working memory."""
        self._last_store = None
        vars(self).pop("_tiles", None)

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`, shaped as the form has it.

        The gradient is None, and its half of the work not done, if the cost is above
        `reject_above`.
        """
        return self._margins([W], [sigma], reject_above)[0]

    def margins(self, Ws: Sequence[Array], sigmas: Sequence[float]) -> list[MarginPass]:
        """`margin` of several (W, sigma) in one sweep: the differences are shared."""
        return self._margins(Ws, sigmas, np.inf)

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float]
    ) -> list[ClassScores]:
        """Scores of every row of `X_new` against each class, of several (W, sigma) at once."""
        X_new = X_new.astype(self._table.values.dtype, copy=False)
        table = self._against(X_new)
        weights, sigma = self._problems(Ws, sigmas)
        batches = [X_new[i : i + ROWS_PER_BATCH] for i in range(0, len(X_new), ROWS_PER_BATCH)]
        states = run_in_order(
            lambda batch: table._new_sample_state(batch, weights, sigma), batches, self._n_threads
        )
        state = np.concatenate(states, axis=-1)
        return [class_scores(one, s, 0.0) for one, s in zip(state, sigma)]

    def _margins(
        self, Ws: Sequence[Array], sigmas: Sequence[float], reject_above: float
    ) -> list[MarginPass]:
        weights, sigma = self._problems(Ws, sigmas)
        sweep = self._sweep(self._table, self._tiles, weights, sigma)
        n_scores = len(self._order) * (len(self._starts) - 1)
        plan = plan_for(int(self._tiles[-1, FIRST_PAIR]), weights, n_scores)
        store = self._store(plan, len(sigma))
        state = self._training_state(sweep, store)
        split = hits_and_misses(state, self._starts, sigma)
        costs = [self._cost(one, s) for one, s in zip(split, sigma)]
        gradients: list[Array | None] = [None] * len(costs)
        if min(costs) <= reject_above:
            gradients = list(self._gradients(sweep, store, split))
        return [
            MarginPass(cost, gradient, self._leave_one_out_scores(one, s))
            for cost, gradient, one, s in zip(costs, gradients, state, sigma)
        ]

    def _cost(self, split: Array, sigma: float) -> float:
        own = self._anchors
        energy = free_energy(split[:, :, own], sigma, self._anchor_log_count)
        return float(self._weight[own] @ (energy[HIT] - energy[MISS]))

    def _leave_one_out_scores(self, state: Array, sigma: float) -> ClassScores:
        """Scores in the order of the table, NaN for samples that are no anchors."""
        own = self._anchors
        found = class_scores(state[:, :, own], sigma, self._anchor_log_count)
        energy, distance = np.empty((2, len(self._order), len(state)))
        if not isinstance(own, slice):
            energy[:], distance[:] = np.nan, np.nan
        rows = self._order[own]
        energy[rows], distance[rows] = found.free_energy, found.distance
        return ClassScores(energy, distance)

    @property
    def _anchor_log_count(self) -> Array | float:
        return self._log_count[self._anchors] if self._is_counted else 0.0

    def _problems(self, Ws: Sequence[Array], sigmas: Sequence[float]) -> tuple[Array, Array]:
        """Weights and sigmas as the sweeps read them."""
        weights = self._packing.packed(Ws)
        return weights.astype(self._table.values.dtype, copy=False), np.array(sigmas, dtype=float)

    def _sweep(self, rows: Table, tiles: Codes, weights: Array, sigma: Array) -> Sweep:
        """Some rows against the table."""
        return Sweep(
            Tables(
                rows.values,
                self._table.values,
                kinds_of(self._pieces.differences, rows, self._table),
                self._packing.products,
            ),
            self._tilt(rows, sigma) if self._is_counted else None,
            tiles,
            weights,
            sigma,
        )

    def _tilt(self, rows: Table, sigma: Array) -> Tilt:
        """New samples count once."""
        columns = np.concatenate([self._log_count, np.zeros(LANES)])
        own = columns if rows is self._table else np.zeros(rows.values.shape[1])
        return Tilt(np.outer(sigma, own), np.outer(sigma, columns))

    def _store(self, plan: Plan, n_problems: int) -> Store:
        """Where Boltzmann factors are kept between the sweeps, and the parts of the tiles."""
        # Not given back between passes: fresh pages cost as much as computing again.
        if self._last_store is None or self._last_store[0] != (plan, n_problems):
            first_pair = self._tiles[:, FIRST_PAIR]
            kept = np.empty((n_problems, plan.n_kept))
            edges = _even_edges(first_pair, plan.n_parts)
            store = Store(first_pair, kept, edges, plan.n_stretch)
            self._last_store = ((plan, n_problems), store)
        return self._last_store[1]

    def _training_state(self, sweep: Sweep, store: Store) -> Array:
        """First sweep: (floor, Z, Y) of every class and sample."""

        def part_state(part: Part) -> Array:
            state = new_state(len(sweep.sigma), len(self._starts) - 1, len(self._order))
            buffers = self._taken_buffers(len(sweep.sigma))
            for stretch in store.for_first_sweep(part):
                energy_sweep(sweep, stretch, buffers.energy, state)
            self._spare_buffers.append(buffers)
            return state

        # In the order of the parts, whichever thread was ready first: sums have the same last bit.
        state, *others = run_in_order(part_state, store.parts, self._n_threads)
        for other in others:
            merge_states(state, other, sweep.sigma)
        return state

    def _gradients(self, sweep: Sweep, store: Store, split: Array) -> Array:
        """Second sweep: the gradient of every problem."""
        # A contiguous copy: for a strided view the sweep would have to be compiled once more.
        floor, Z = split[:, :, FLOOR].copy(), split[:, :, PARTITION]
        # Samples that are no anchors have met nobody: their Z is 0, and so is their weight.
        pull = self._weight / (Z if isinstance(self._anchors, slice) else np.where(Z > 0, Z, 1.0))
        anchors = Anchors(floor, pull, self._negligible)

        def part_gradient(part: Part) -> Array:
            gradient = np.zeros(sweep.weights.shape)
            buffers = self._taken_buffers(len(sweep.sigma))
            for stretch, is_lost in store.for_second_sweep(part):
                if is_lost:
                    # The factors alone; their sums are known from the first sweep.
                    energy_sweep(sweep, stretch, buffers.energy, NOBODY)
                scatter_sweep(sweep, stretch, buffers.scatter, anchors, gradient)
            self._spare_buffers.append(buffers)
            return gradient

        gradient = reduce(np.add, run_in_order(part_gradient, store.parts, self._n_threads))
        return self._packing.unpacked(gradient)

    def _against(self, X_new: Array) -> CompiledPass:
        """The same table with room for the gaps of new samples."""
        if not (gaps(X_new) & ~self._pieces.differences.has_gap).any():
            return self
        differences = self._pieces.differences.with_gaps_of(X_new)
        other = copy.copy(self)
        samples = differences.samples(self._pieces.samples.values)
        other._pieces = replace(self._pieces, samples=samples, differences=differences)
        other._table = table_of(samples.take(self._order))
        return other

    def _new_sample_state(self, X_new: Array, weights: Array, sigma: Array) -> Array:
        """(floor, Z, Y) of new samples for every class."""
        references = [run for run in self._runs if run.is_reference]
        tiles = rectangular_tiles(len(X_new), references, self._shape)
        rows = table_of(self._pieces.differences.samples(X_new))
        sweep = self._sweep(rows, tiles, weights, sigma)
        n_tiles, scratch = len(tiles) - 1, np.empty((len(sigma), self._shape.n_places))
        floor = np.empty((len(sigma), n_tiles))
        state = new_state(len(sigma), len(self._starts) - 1, len(X_new))
        buffers = self._taken_buffers(len(sigma))
        # Several tiles per call of compiled code, but not so many that Ctrl-C has to wait.
        per_tile = len(sigma) * pass_seconds(self._shape.n_places, math.prod(weights.shape[1:]))
        n_together = max(1, int(STRETCH_SECONDS / per_tile))
        for first in range(0, n_tiles, n_together):
            last = min(first + n_together, n_tiles)
            stretch = Stretch(first, last, scratch, floor, first_pair=0, is_kept=False)
            energy_sweep(sweep, stretch, buffers.energy, state)
        self._spare_buffers.append(buffers)
        return state

    def _taken_buffers(self, n_problems: int) -> Buffers:
        """Scratch memory for one part, handed on from part to part: small tables notice.

        Whoever takes it gives it back to the spare ones; what an error keeps is not missed.
        """
        n_together, dtype = self._packing.n_together, self._table.values.dtype
        # Threads share the spare ones: between a look and a grip they may be gone.
        with suppress(IndexError):
            buffers = self._spare_buffers.pop()
            if buffers.fits(n_problems, n_together, dtype):
                return buffers
        return new_buffers(
            self._shape,
            n_problems,
            n_together,
            dtype,
            is_counted=self._is_counted,
            has_products=self._packing.products is not None,
        )


def _even_edges(first_pair: Codes, n_parts: int) -> list[int]:
    """Where to cut the tiles into parts with about the same number of pairs."""
    cuts = np.linspace(0, first_pair[-1], n_parts + 1)
    # A tile with more pairs than a part gives the same edge twice.
    return np.unique(np.searchsorted(first_pair, cuts)).tolist()
