"""The passes, compiled: what ``numpy_pass`` defines, at the speed of the machine.

For column differences, linear, quadratic and cubic forms and classes as targets. This file cuts
the tiles of a layout into parts for threads, calls the two sweeps (``sweeps`` says what they do)
and reads the results. What the first sweep leaves is called a state: (floor, Z, Y) of every
sample, by class or by hits and misses, with

    sum_j n_j exp(-q_ij / sigma) = Z_i exp(-floor_i / sigma) / n_i

because Z and Y of a sample are n_i times too large, see ``tile_energies``.

n^2 p^2 / 2 multiply-adds for a matrix W, n^2 more for each triple, and n^2 / 2 exponentials.
Boltzmann factors that do not fit in scikit-learn's ``working_memory`` are computed twice: up to
3/4 n^2 p^2 and n^2.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import sklearn

from immigrate.arrays import Array, Codes
from immigrate.core.targets import HIT, MISS
from immigrate.kernels import ClassScores, MarginPass
from immigrate.kernels.layout import (
    FIRST_PAIR,
    LANES,
    ROWS,
    Layout,
    pass_seconds,
    rectangular_tiles,
    symmetric_tiles,
    whole_vectors,
)
from immigrate.kernels.sweeps import (
    Anchors,
    Block,
    Buffers,
    EnergyBuffers,
    Places,
    ScatterBuffers,
    Stretch,
    Sums,
    Sweep,
    Tilt,
    Waiting,
    energy_sweep,
    scatter_sweep,
)
from immigrate.kernels.threads import n_threads, run_in_order
from immigrate.kernels.tile_energies import EMPTY, FLOOR, MOMENT, PARTITION, Tables, merge_states

# Every part has sums and a gradient of its own, which are added up at the end. How many parts
# there are depends on the work alone, so that any number of threads adds up the same parts.
MOST_PARTS = 32
PART_SECONDS = 1e-3
# Compiled code does not hear Ctrl-C: it comes back this often, by the estimate.
STRETCH_SECONDS = 0.2
ROWS_PER_BATCH = 256
WINDOW = 2**18  # numbers that are computed again at a time, if a tile is not larger
CACHE_LINE = 64  # bytes

# First and last of some consecutive tiles.
Part = tuple[int, int]


class Plan(NamedTuple):
    """How one pass is carried out. It depends on shapes only, never on the number of threads."""

    n_parts: int
    n_kept: int  # Boltzmann factors to keep between the sweeps
    n_stretch: int  # pairs of one call of compiled code


def plan_for(n_pairs: int, seconds: float, weights: Array, n_scores: int) -> Plan:
    """Keep what Boltzmann factors fit in memory; cut the tiles into parts of PART_SECONDS."""
    n_numbers = sklearn.get_config()["working_memory"] * 2**20 / 8
    n_problems = len(weights)
    # An eighth of the memory is for what parts need of their own, (floor, Z, Y) of every class and
    # sample or a gradient; seven eighths are for Boltzmann factors.
    in_memory = int(n_numbers / 8 / max(3 * n_problems * n_scores, weights.size))
    n_parts = max(1, min(int(seconds / PART_SECONDS), MOST_PARTS, in_memory))
    n_kept = min(n_pairs, int(n_numbers * 7 / 8 / n_problems))
    return Plan(n_parts, n_kept, max(1, int(n_pairs * min(1.0, STRETCH_SECONDS / seconds))))


class Store:
    """Where the Boltzmann factors of every tile live between the sweeps.

        tiles      0 1 2 3 4 5 | 6 7 8 9 ...                 n_places numbers are kept
                   kept        | first sweep:  each overwrites the one before
                               | second sweep: a window of some tiles is filled again, then read

    Parameters
    ----------
    first_pair : ndarray of shape (n_tiles + 1,)
        Place of the first pair of each tile, and the end.
    kept : ndarray of shape (n_problems, n_places)
        What can be kept: the first tiles, as many as fit.
    edges : list of int
        Where the tiles are cut into parts.
    n_stretch : int
        Pairs that are swept without a break, about.
    """

    def __init__(self, first_pair: Codes, kept: Array, edges: list[int], n_stretch: int) -> None:
        self.parts: list[Part] = list(pairwise(edges))
        self._first_pair, self._kept, self._n_stretch = first_pair, kept, n_stretch
        self._floor = np.empty((len(kept), len(first_pair)))
        # Tiles are kept whole; after t of them first_pair[t] places are taken.
        self._n_kept_tiles = int(np.searchsorted(first_pair, kept.shape[1], side="right")) - 1

    def for_first_sweep(self, part: Part) -> Iterator[Stretch]:
        """The tiles that are kept, then those that are not."""
        kept, others = self._kept_and_others(part)
        yield from kept
        if others[0] < others[1]:
            scratch = np.empty((len(self._kept), self._largest(others)))
            for first, last in self._cut(*others):
                yield Stretch(first, last, scratch, self._floor, 0, is_kept=False)

    def for_second_sweep(self, part: Part) -> Iterator[tuple[Stretch, bool]]:
        """The tiles that are kept, then windows; and whether they must be filled again."""
        kept, (first, last) = self._kept_and_others(part)
        yield from ((stretch, False) for stretch in kept)
        if first == last:
            return
        n_tiles = max(1, WINDOW // (len(self._kept) * self._largest((first, last))))
        window = np.empty((len(self._kept), n_tiles * self._largest((first, last))))
        for t in range(first, last, n_tiles):
            end, pair = min(t + n_tiles, last), int(self._first_pair[t])
            yield Stretch(t, end, window, self._floor, pair, is_kept=True), True

    def _kept_and_others(self, part: Part) -> tuple[list[Stretch], Part]:
        first, last = part
        middle = min(max(first, self._n_kept_tiles), last)
        kept = [
            Stretch(*tiles, self._kept, self._floor, 0, is_kept=True)
            for tiles in self._cut(first, middle)
        ]
        return kept, (middle, last)

    def _cut(self, first: int, last: int) -> Iterator[Part]:
        """Consecutive tiles in stretches of about `n_stretch` pairs, one tile at least."""
        while first < last:
            end = int(np.searchsorted(self._first_pair, self._first_pair[first] + self._n_stretch))
            end = min(max(end, first + 1), last)
            yield first, end
            first = end

    def _largest(self, part: Part) -> int:
        """Places of the largest tile of a part."""
        return int(np.diff(self._first_pair[part[0] : part[1] + 1]).max())


class CompiledPass:
    """The passes over one table.

    With a float32 table the differences and distances are float32, and so are sums over one buffer
    of pairs; all other sums, and results, are float64.

    Parameters
    ----------
    layout : Layout
    anchor_weight : ndarray of shape (n,)
        D of Eq. 10.
    n_threads : int
        Results do not depend on it.
    """

    def __init__(self, layout: Layout, anchor_weight: Array, *, n_threads: int = 1) -> None:
        self._layout, self._n_threads = layout, n_threads
        self._weight = self._in_order(anchor_weight)
        self._n_classes = len(layout.starts) - 1
        self._tiles: Codes | None = None  # predictions never need them
        self._last_store: tuple[tuple[Plan, int], Store] | None = None
        self._spare_buffers: list[Buffers] = []

    def with_anchor_weight(self, anchor_weight: Array) -> CompiledPass:
        """The same table with other anchor weights; nothing is laid out again."""
        # Laid out before the copy is made, so that both have the same ones.
        self._training_tiles()
        other = copy.copy(self)
        other._weight = self._in_order(anchor_weight)
        return other

    def with_threads(self, n_threads: int) -> CompiledPass:
        """The same table with another number of threads; nothing is laid out again."""
        other = copy.copy(self)
        other._n_threads = n_threads
        return other

    def release(self) -> None:
        """Free what only training needs: Boltzmann factors as large as the working memory."""
        self._last_store = self._tiles = None

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`, shaped as the form has it.

        The gradient is None, and its half of the work not done, if the cost is above
        `reject_above`.
        """
        return self.margins([W], [sigma], reject_above=reject_above)[0]

    def margins(
        self, Ws: Sequence[Array], sigmas: Sequence[float], *, reject_above: float = np.inf
    ) -> list[MarginPass]:
        """Cost, gradient and leave-one-out scores of several (W, sigma), in one sweep."""
        layout, tiles = self._layout, self._training_tiles()
        weights, sigma = layout.packed(Ws), np.array(sigmas, dtype=float)
        n_pairs = int(tiles[-1, FIRST_PAIR])
        seconds = len(sigma) * pass_seconds(n_pairs, weights[0].size)
        values, products = layout.table.values, layout.packing.products
        tables = Tables(values, values, layout.kinds, products)
        sweep = Sweep(tables, self._tilt(sigma), tiles, weights, sigma)
        plan = plan_for(n_pairs, seconds, weights, len(layout.order) * self._n_classes)
        # Not given back between passes: fresh pages cost as much as computing again.
        if self._last_store is None or self._last_store[0] != (plan, len(sigma)):
            # Parts with about the same number of pairs. A tile with more pairs than a part gives
            # the same edge twice.
            cuts = np.linspace(0, n_pairs, plan.n_parts + 1)
            edges = np.unique(np.searchsorted(tiles[:, FIRST_PAIR], cuts)).tolist()
            kept = np.empty((len(sigma), plan.n_kept))
            store = Store(tiles[:, FIRST_PAIR], kept, edges, plan.n_stretch)
            self._last_store = ((plan, len(sigma)), store)
        store = self._last_store[1]
        state = self._training_state(sweep, store)
        split = hits_and_misses(state, layout.starts, sigma)
        costs = [self._cost(one, s) for one, s in zip(split, sigma)]
        scores = [self._leave_one_out_scores(one, s) for one, s in zip(state, sigma)]
        gradients: list[Array | None] = [None] * len(costs)
        if min(costs) <= reject_above:
            gradients = list(layout.packing.unpacked(self._gradients(sweep, store, split)))
        return list(map(MarginPass, costs, gradients, scores))

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float], n_jobs: int | None = None
    ) -> list[ClassScores]:
        """Scores of every row of `X_new` against each class, of several (W, sigma) at once."""
        X_new = X_new.astype(self._layout.table.values.dtype, copy=False)
        layout = self._layout.with_gaps_of(X_new)
        weights, sigma = layout.packed(Ws), np.array(sigmas, dtype=float)
        batches = [X_new[i : i + ROWS_PER_BATCH] for i in range(0, len(X_new), ROWS_PER_BATCH)]
        states = run_in_order(
            lambda batch: self._new_sample_state(layout, batch, weights, sigma),
            batches,
            n_threads(n_jobs),
        )
        state = np.concatenate(states, axis=-1)
        return [class_scores(one, s, 0.0) for one, s in zip(state, sigma)]

    def _in_order(self, anchor_weight: Array) -> Array:
        """Anchor weights in the order of the layout, 0 of samples that are no anchors."""
        layout, weight = self._layout, np.zeros(len(anchor_weight))
        weight[layout.anchors] = anchor_weight[layout.order[layout.anchors]]
        return weight

    def _training_tiles(self) -> Codes:
        if self._tiles is None:
            self._tiles = symmetric_tiles(self._layout.runs, self._layout.shape)
        return self._tiles

    def _tilt(self, sigma: Array, n_new: int | None = None) -> Tilt | None:
        """Of the table against itself, or of new samples, which count once."""
        if self._layout.log_count is None:
            return None
        columns = np.concatenate([self._layout.log_count, np.zeros(LANES)])
        rows = columns if n_new is None else np.zeros(n_new + LANES)
        return Tilt(np.outer(sigma, rows), np.outer(sigma, columns))

    def _training_state(self, sweep: Sweep, store: Store) -> Array:
        """First sweep: (floor, Z, Y) of every class and sample."""

        def part_state(part: Part) -> Array:
            state = new_state(len(sweep.sigma), self._n_classes, len(self._layout.order))
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
        """Second sweep: the gradient of every problem, packed as the weights are."""
        # A contiguous copy: for a strided view the sweep would have to be compiled once more.
        floor, Z = split[:, :, FLOOR].copy(), split[:, :, PARTITION]
        # Samples that are no anchors have no pairs: their Z is 0, and so is their weight.
        everywhere = isinstance(self._layout.anchors, slice)
        pull = self._weight / (Z if everywhere else np.where(Z > 0, Z, 1.0))
        # Couplings below this do not change the gradient: all n^2 of them together stay below one
        # rounding error of the sum, because anchor weights sum to about 1.
        rounding = np.finfo(self._layout.table.values.dtype).eps
        negligible = float(rounding * self._weight.sum() / len(self._weight) ** 2)
        anchors = Anchors(floor, pull, negligible)

        def part_gradient(part: Part) -> Array:
            gradient = np.zeros(sweep.weights.shape)
            buffers = self._taken_buffers(len(sweep.sigma))
            for stretch, is_lost in store.for_second_sweep(part):
                if is_lost:
                    # The factors alone; their sums are known from the first sweep.
                    energy_sweep(sweep, stretch, buffers.energy, EMPTY_STATE)
                scatter_sweep(sweep, stretch, buffers.scatter, anchors, gradient)
            self._spare_buffers.append(buffers)
            return gradient

        return reduce(np.add, run_in_order(part_gradient, store.parts, self._n_threads))

    def _cost(self, split: Array, sigma: float) -> float:
        own = self._layout.anchors
        energy = free_energy(split[:, :, own], sigma, self._anchor_log_count())
        return float(self._weight[own] @ (energy[HIT] - energy[MISS]))

    def _leave_one_out_scores(self, state: Array, sigma: float) -> ClassScores:
        """Scores in the order of the table, NaN for samples that are no anchors."""
        own, order = self._layout.anchors, self._layout.order
        found = class_scores(state[:, :, own], sigma, self._anchor_log_count())
        energy, distance = np.empty((2, len(order), len(state)))
        if not isinstance(own, slice):
            energy[:], distance[:] = np.nan, np.nan
        energy[order[own]], distance[order[own]] = found.free_energy, found.distance
        return ClassScores(energy, distance)

    def _anchor_log_count(self) -> Array | float:
        log_count = self._layout.log_count
        return 0.0 if log_count is None else log_count[self._layout.anchors]

    def _new_sample_state(
        self, layout: Layout, X_new: Array, weights: Array, sigma: Array
    ) -> Array:
        """(floor, Z, Y) of new samples for every class."""
        rows, kinds = layout.new_rows(X_new)
        references = [run for run in layout.runs if run.is_reference]
        tiles = rectangular_tiles(len(X_new), references, layout.shape)
        # Several tiles per call of compiled code, but not so many that Ctrl-C has to wait.
        n_places = layout.shape.n_rows * whole_vectors(layout.shape.n_columns)
        per_tile = len(sigma) * pass_seconds(n_places, math.prod(weights.shape[1:]))
        n_together = max(1, int(STRETCH_SECONDS / per_tile))
        tables = Tables(rows.values, layout.table.values, kinds, layout.packing.products)
        sweep = Sweep(tables, self._tilt(sigma, len(X_new)), tiles, weights, sigma)
        n_tiles, scratch = len(tiles) - 1, np.empty((len(sigma), n_places))
        floor = np.empty((len(sigma), n_tiles))
        state = new_state(len(sigma), self._n_classes, len(X_new))
        buffers = self._taken_buffers(len(sigma))
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
        # Threads share the spare ones: between a look and a grip they may be gone.
        with suppress(IndexError):
            buffers = self._spare_buffers.pop()
            if len(buffers.energy.q) == n_problems:
                return buffers
        layout = self._layout
        shape, packing, dtype = layout.shape, layout.packing, layout.table.values.dtype
        places = Places(np.empty(shape.n_rows, np.int64), np.empty(shape.n_rows + 1, np.int64))
        has_products = packing.products is not None
        block = Block(
            _aligned(packing.n_together, shape.n_buffer, dtype),
            np.ones(shape.n_buffer, dtype),
            _aligned(ROWS, shape.n_buffer, dtype) if has_products else None,
        )
        sums = Sums(np.empty((3, shape.n_rows)), np.empty((3, shape.n_columns)))
        n_places = shape.n_rows * whole_vectors(shape.n_columns)
        q = _aligned(n_problems, n_places, dtype)
        # The same memory where nothing is counted: then the sweeps need not ask which to read.
        tilted = q if layout.log_count is None else _aligned(n_problems, n_places, dtype)
        coupling = _aligned(1, n_places, dtype)[0]
        i, j = np.zeros((2, shape.n_buffer), np.uint32)
        waiting = Waiting(i, j, np.empty(shape.n_buffer, dtype), np.zeros(2, np.int64))
        return Buffers(
            EnergyBuffers(places, block, sums, q, tilted),
            ScatterBuffers(places, block, sums, coupling, waiting),
        )


def new_state(n_problems: int, n_classes: int, n: int) -> Array:
    """(floor, Z, Y) before any pair was visited."""
    state = np.zeros((n_problems, n_classes, 3, n))
    state[:, :, FLOOR] = EMPTY
    return state


EMPTY_STATE = new_state(0, 0, 0)  # where sums are not wanted


def hits_and_misses(state: Array, starts: Codes, sigma: Array) -> Array:
    """(floor, Z, Y) of each sample's misses and hits, (problem, 2, 3, n), from those by class.

    The samples of class c are starts[c] : starts[c + 1].
    """
    n_problems, n_classes, _, n = state.shape
    split = np.empty((n_problems, 2, 3, n))
    for c, (first, last) in enumerate(pairwise(starts.tolist())):
        split[:, HIT, :, first:last] = state[:, c, :, first:last]
        # The first class that is not one's own: 1 for class 0, else 0. Later ones are added below.
        split[:, MISS, :, first:last] = state[:, int(c == 0), :, first:last]
    # Two classes end here: the first fit of a process does not wait for `merge_states`.
    if n_classes > 2:
        misses, own = split[:, MISS, None].copy(), np.repeat(np.arange(n_classes), np.diff(starts))
        for k in range(1, n_classes - 1):
            other = k + (k >= own)  # the k-th class that is not one's own
            merge_states(misses, np.take_along_axis(state, other[None, None, None], 1), sigma)
        split[:, MISS] = misses[:, 0]
    return split


def free_energy(state: Array, sigma: float, log_count: Array | float) -> Array:
    """F of every (class, sample) of one problem."""
    return state[:, FLOOR] - sigma * (np.log(state[:, PARTITION]) - log_count)


def class_scores(state: Array, sigma: float, log_count: Array | float) -> ClassScores:
    """Scores of every sample of one problem."""
    energy = free_energy(state, sigma, log_count)
    distance = state[:, MOMENT] / state[:, PARTITION]
    return ClassScores(energy.T, distance.T)


def _aligned(n_rows: int, n_columns: int, dtype: np.dtype) -> np.ndarray:
    """Empty rows that start on cache lines: no vector straddles two.

    Rows are an odd number of lines apart; at a power of two they would compete for the same few
    places of the cache.
    """
    per_line = CACHE_LINE // np.dtype(dtype).itemsize
    width = (-(-n_columns // per_line) | 1) * per_line
    flat = np.empty(n_rows * width + per_line, dtype)
    skip = -flat.ctypes.data % CACHE_LINE // flat.itemsize
    return flat[skip : skip + n_rows * width].reshape(n_rows, width)
