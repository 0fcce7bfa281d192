"""The pairwise passes, compiled: what ``reference`` computes, at the speed of the machine.

    C(W)   = sum_n D_n [F_hit(n) - F_miss(n)],  F_c(n) = -sigma log sum_{j in c} exp(-q_nj / sigma)
    dC/dW  = sum_n D_n [sum_h alpha_nh d d' - sum_m beta_nm d d'],  d = |x_n - x_j|

n^2 p^2 / 2 multiply-adds for a matrix W and n^2 / 2 exponentials. Boltzmann factors that do not
fit in scikit-learn's ``working_memory`` are computed twice: up to 3/4 n^2 p^2 and n^2.
``sweeps`` says how; this file lays out the table, cuts the work into parts and reads the results.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple

import numpy as np
import sklearn

from immigrate.kernels.buffers import Buffers, new_buffers
from immigrate.kernels.results import ClassScores, MarginPass
from immigrate.kernels.sweeps import Anchors, Store, Sweep, energy_sweep, scatter_sweep
from immigrate.kernels.threads import run_in_order
from immigrate.kernels.tile_energies import (
    FAR,
    HIT,
    LEVEL,
    MISS,
    MOMENT,
    PARTITION,
    merge_states,
    split_hits_and_misses,
)
from immigrate.kernels.tiles import (
    FIRST_PAIR,
    LANES,
    TileShape,
    rectangular_tiles,
    symmetric_tiles,
)
from immigrate.typing import Array

MOST_PARTS = 32
PART_SECONDS = 1e-3
ROWS_PER_BATCH = 256


class Plan(NamedTuple):
    """How one pass is carried out. It depends on shapes only, never on the number of threads."""

    n_parts: int
    n_kept: int  # Boltzmann factors to keep between the sweeps


def tile_shape(n_features: int, itemsize: int) -> TileShape:
    """Tiles whose buffer of differences stays in the second-level cache."""
    is_narrow = n_features * itemsize <= 1200
    return TileShape(n_rows=32, n_columns=128, n_buffer=512 if is_narrow else 256)


def plan_for(n_pairs: int, weights: Array, n_scores: int) -> Plan:
    """Keep what Boltzmann factors fit in memory; cut the tiles into parts of PART_SECONDS."""
    n_numbers = sklearn.get_config()["working_memory"] * 2**20 / 8
    n_problems, *features = weights.shape
    seconds = n_problems * n_pairs * (5e-9 + 5e-11 * math.prod(features))
    in_memory = int(n_numbers / 8 / max(3 * n_problems * n_scores, weights.size))
    n_parts = max(1, min(int(seconds / PART_SECONDS), MOST_PARTS, in_memory))
    return Plan(n_parts, n_kept=min(n_pairs, int(n_numbers * 7 / 8 / n_problems)))


class PairKernel:
    """Training table laid out for the pairwise passes.

    Parameters
    ----------
    X : ndarray of shape (n, p), float64 or float32
        Scaled by the caller so that differences are of the order of 1. With float32 the
        differences and distances are float32; sums and results are always float64.
    y : ndarray of shape (n,)
        Class codes 0 .. C - 1, every class with two samples or more.
    anchor_weight : ndarray of shape (n,), optional
        D of Eq. 10; 1 / n each by default.
    n_threads : int
        Results do not depend on it.
    """

    def __init__(self, X, y, anchor_weight=None, *, n_threads: int = 1) -> None:
        n = len(X)
        self._order = np.argsort(y, kind="stable")
        self._y = y[self._order]
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(y))])
        self._table = feature_major(X[self._order])
        self._weight = np.full(n, 1.0 / n) if anchor_weight is None else anchor_weight[self._order]
        self._n_threads = n_threads
        self._shape = tile_shape(X.shape[1], X.itemsize)
        self._tiles = symmetric_tiles(self._starts, self._shape)
        self._kept = np.empty((0, 0))
        self._edges: dict[int, list[int]] = {}
        self._spare_buffers: list[Buffers] = []

    def with_anchor_weight(self, anchor_weight: Array) -> PairKernel:
        """The same table with other anchor weights; nothing is laid out again."""
        other = copy.copy(self)
        other._weight = anchor_weight[self._order]
        return other

    def margin(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`, a symmetric matrix or a vector.

        The gradient is None, and its half of the work not done, if the cost is above
        `reject_above`.
        """
        return self._margins([W], [sigma], reject_above)[0]

    def margins(self, Ws: Sequence[Array], sigmas: Sequence[float]) -> list[MarginPass]:
        """`margin` of several (W, sigma) in one sweep: the differences are shared."""
        return self._margins(Ws, sigmas, np.inf)

    def scores(self, X_new: Array, W: Array, sigma: float) -> ClassScores:
        """Scores of every row of `X_new` against each class of the training table."""
        return self.scores_many(X_new, [W], [sigma])[0]

    def scores_many(
        self, X_new: Array, Ws: Sequence[Array], sigmas: Sequence[float]
    ) -> list[ClassScores]:
        """`scores` of several (W, sigma) in one sweep: the differences are shared."""
        X_new = X_new.astype(self._table.dtype, copy=False)
        weights, sigma = self._problems(Ws, sigmas)
        batches = [X_new[i : i + ROWS_PER_BATCH] for i in range(0, len(X_new), ROWS_PER_BATCH)]
        states = run_in_order(
            lambda batch: self._new_sample_state(batch, weights, sigma), batches, self._n_threads
        )
        state = np.concatenate(states, axis=-1)
        return [_class_scores(state[m], s, slice(None)) for m, s in enumerate(sigma)]

    def _margins(self, Ws, sigmas, reject_above):
        weights, sigma = self._problems(Ws, sigmas)
        sweep = Sweep(self._table, self._table, self._tiles, weights, sigma, self._shape, True)
        n_scores = len(self._order) * (len(self._starts) - 1)
        plan = plan_for(int(self._tiles[-1, FIRST_PAIR]), weights, n_scores)
        parts = self._parts(plan, sigma)
        state = self._training_state(sweep, parts)
        split = _new_state(len(sigma), 2, len(self._order))
        split_hits_and_misses(state, self._starts, sigma, split)
        costs = [self._cost(one, s) for one, s in zip(split, sigma)]
        gradients = [None] * len(costs)
        if min(costs) <= reject_above:
            gradients = self._gradients(sweep, parts, split)
        return [
            MarginPass(costs[m], gradients[m], _class_scores(state[m], s, self._order))
            for m, s in enumerate(sigma)
        ]

    def _cost(self, split, sigma):
        free_energy = _free_energy(split, sigma)
        return float(self._weight @ (free_energy[HIT] - free_energy[MISS]))

    def _problems(self, Ws, sigmas):
        """Weights and sigmas as the sweeps read them; of a matrix, U with d'Ud = d'Wd."""
        weights = np.array(Ws, dtype=np.float64)
        if weights.ndim == 3:
            weights *= 2.0 * self._upper_half
        return weights.astype(self._table.dtype, copy=False), np.array(sigmas, dtype=np.float64)

    @cached_property
    def _upper_half(self):
        """1 above the diagonal, 1/2 on it: W = A + A' for A = W * _upper_half."""
        p = len(self._table)
        return np.triu(np.ones((p, p))) - 0.5 * np.eye(p)

    def _parts(self, plan, sigma):
        """Ranges of tiles with about the same number of pairs, and the store of each."""
        level = np.empty((len(sigma), len(self._tiles)))
        if plan.n_parts not in self._edges:
            self._edges[plan.n_parts] = _even_edges(self._tiles[:, FIRST_PAIR], plan.n_parts)
        kept_shape = (len(sigma), plan.n_kept + plan.n_parts * self._shape.n_places)
        # Not given back between passes: fresh pages cost as much as computing again.
        if self._kept.shape != kept_shape:
            self._kept = np.empty(kept_shape)
        return [
            (part, Store(self._kept, level, plan.n_kept, plan.n_kept + k * self._shape.n_places))
            for k, part in enumerate(itertools.pairwise(self._edges[plan.n_parts]))
        ]

    def _training_state(self, sweep, parts):
        def part_state(part):
            tiles, store = part
            state = _new_state(len(sweep.sigma), len(self._starts) - 1, len(self._order))
            with self._buffers(sweep.weights) as buffers:
                energy_sweep(sweep, tiles, store, buffers, state)
            return state

        state, *others = run_in_order(part_state, parts, self._n_threads)
        for other in others:
            merge_states(state, other, sweep.sigma)
        return state

    def _gradients(self, sweep, parts, split):
        n = len(self._order)
        negligible = float(np.finfo(self._table.dtype).eps * self._weight.sum() / n**2)
        level, pull = split[:, :, LEVEL].copy(), self._weight / split[:, :, PARTITION]
        anchors = Anchors(level, pull, negligible)

        def part_gradient(part):
            tiles, store = part
            gradient = np.zeros(sweep.weights.shape)
            with self._buffers(sweep.weights) as buffers:
                scatter_sweep(sweep, tiles, store, buffers, anchors, gradient)
            return gradient

        gradient = sum(run_in_order(part_gradient, parts, self._n_threads))
        if gradient.ndim == 2:
            return gradient
        gradient *= self._upper_half
        return gradient + gradient.transpose(0, 2, 1)

    def _new_sample_state(self, X_new, weights, sigma):
        tiles = rectangular_tiles(len(X_new), self._starts, self._shape)
        rows = feature_major(X_new)
        sweep = Sweep(rows, self._table, tiles, weights, sigma, self._shape, False)
        scratch = np.empty((len(sigma), self._shape.n_places))
        store = Store(scratch, np.empty((len(sigma), len(tiles))), n_kept=0, scratch=0)
        state = _new_state(len(sigma), len(self._starts) - 1, len(X_new))
        with self._buffers(weights) as buffers:
            energy_sweep(sweep, (0, len(tiles) - 1), store, buffers, state)
        return state

    @contextmanager
    def _buffers(self, weights):
        """Scratch memory for one part, handed on from part to part: small tables notice."""
        try:
            buffers = self._spare_buffers.pop()
        except IndexError:
            buffers = None
        if buffers is None or not buffers.fits(weights):
            buffers = new_buffers(self._shape, weights)
        yield buffers
        self._spare_buffers.append(buffers)


def _even_edges(first_pair, n_parts):
    """Where to cut the tiles into parts with about the same number of pairs."""
    cuts = np.linspace(0, first_pair[-1], n_parts + 1)
    return np.unique(np.searchsorted(first_pair, cuts)).tolist()


def _new_state(n_problems, n_classes, n):
    """(level, Z, Y) of samples that have met nobody yet."""
    state = np.zeros((n_problems, n_classes, 3, n))
    state[:, :, LEVEL] = FAR
    return state


def feature_major(X):
    """(p, n + LANES) copy of `X`, so that a vector that starts at a sample stays inside."""
    n, p = X.shape
    table = np.zeros((p, n + LANES), dtype=X.dtype)
    table[:, :n] = X.T
    return table


def _free_energy(state, sigma):
    """F of every (class, sample) of one problem."""
    return state[:, LEVEL] - sigma * np.log(state[:, PARTITION])


def _class_scores(state, sigma, order) -> ClassScores:
    """Scores of one problem from its (level, Z, Y), rows put back by `order`."""
    free_energy, distance = np.empty((2, state.shape[-1], len(state)))
    free_energy[order] = _free_energy(state, sigma).T
    distance[order] = (state[:, MOMENT] / state[:, PARTITION]).T
    return ClassScores(free_energy, distance)
