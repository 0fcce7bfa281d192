"""The pairwise passes, compiled: what ``reference`` computes, at the speed of the machine.

    C(W)   = sum_n D_n [F_hit(n) - F_miss(n)],   F_c(n) = -sigma log sum_{j in c} exp(-q_nj / sigma)
    dC/dW  = sum_n D_n [sum_h alpha_nh d d' - sum_m beta_nm d d'],   d = |x_n - x_j|

n^2 p^2 / 2 multiply-adds for a matrix W and n^2 / 2 exponentials; 3/4 n^2 p^2 and n^2 where the
n^2 / 2 Boltzmann factors do not fit in scikit-learn's ``working_memory`` and are computed again.
``sweeps`` says how; this file lays out the table, cuts the work into parts and reads the results.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import sklearn

from immigrate.core.distances import Array
from immigrate.core.objective import hit_and_miss
from immigrate.kernels.results import ClassScores, MarginPass
from immigrate.kernels.sweeps import (
    FAR,
    Anchors,
    Store,
    Sweep,
    energy_sweep,
    merge_states,
    scatter_sweep,
)
from immigrate.kernels.threads import run_in_order
from immigrate.kernels.tiles import FIRST_PAIR, TileShape, rectangular_tiles, symmetric_tiles

REGISTER_BLOCK = 4
MOST_PARTS = 32
PART_SECONDS = 2e-4
ROWS_PER_BATCH = 256


class Plan(NamedTuple):
    """How one pass is carried out. It depends on shapes only, never on the number of threads."""

    n_parts: int
    is_stored: bool


def tile_shape(n_features: int) -> TileShape:
    """Tiles whose buffer of differences stays in the first- or second-level cache."""
    return TileShape(n_rows=16, n_columns=128, n_buffer=512 if n_features <= 24 else 256)


def plan_for(n_pairs: int, weights: Array, state_size: int) -> Plan:
    """Store the Boltzmann factors if they fit; cut the tiles into parts of about PART_SECONDS."""
    memory = sklearn.get_config()["working_memory"] * 2**20
    n_problems, *features = weights.shape
    seconds = n_problems * n_pairs * (5e-9 + 5e-11 * math.prod(features))
    in_memory = int(memory / 4 / (8 * max(state_size, weights.size)))
    n_parts = max(1, min(int(seconds / PART_SECONDS), MOST_PARTS, in_memory))
    return Plan(n_parts, is_stored=8 * n_problems * n_pairs <= memory / 2)


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
        self._n_features = X.shape[1]
        self._shape = tile_shape(self._n_features)
        self._tiles = symmetric_tiles(self._starts, self._shape)
        self._memory = np.empty((0, 0))

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

    def margins(self, Ws, sigmas) -> list[MarginPass]:
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
        return [_class_scores(state[:, m], s, slice(None)) for m, s in enumerate(sigma)]

    def _margins(self, Ws, sigmas, reject_above):
        weights, sigma = self._problems(Ws, sigmas)
        sweep = Sweep(self._table, self._table, self._tiles, weights, sigma, self._shape, True)
        plan = plan_for(self._tiles[-1, FIRST_PAIR], weights, self._new_state(len(sigma)).size)
        store = self._new_store(plan, len(sigma))
        parts = self._parts(plan)
        state = self._training_state(sweep, store, parts)
        free_energy = _free_energy(state, sigma)
        hit_miss = [hit_and_miss(F.T, self._y, s) for F, s in zip(free_energy, sigma)]
        costs = [float(self._weight @ (hit - miss)) for hit, miss in hit_miss]
        gradients = [None] * len(costs)
        if min(costs) <= reject_above:
            energies = np.array([(miss, hit) for hit, miss in hit_miss])
            gradients = self._gradients(sweep, store, energies, parts)
        return [
            MarginPass(costs[m], gradients[m], _class_scores(state[:, m], s, self._order))
            for m, s in enumerate(sigma)
        ]

    def _problems(self, Ws, sigmas):
        """Weights and sigmas as the sweeps read them."""
        p = len(self._table)
        weights = np.array([_padded(upper_weights(np.asarray(W, float)), p) for W in Ws])
        return weights.astype(self._table.dtype), np.asarray(sigmas, dtype=np.float64)

    def _new_state(self, n_problems, n=None):
        """(level, Z, Y) of samples that have met nobody yet."""
        n = len(self._order) if n is None else n
        state = np.zeros((3, n_problems, len(self._starts) - 1, n))
        state[0] = FAR
        return state

    def _new_store(self, plan, n_problems):
        # Kept between passes: fresh pages from the system cost as much as computing again.
        n_stored = int(self._tiles[-1, FIRST_PAIR]) if plan.is_stored else 0
        if self._memory.shape != (n_problems, n_stored):
            self._memory = np.empty((n_problems, n_stored))
        return Store(self._memory, np.empty((n_problems, len(self._tiles) - 1)))

    def _parts(self, plan):
        """Ranges of tiles with about the same number of pairs."""
        first_pair = self._tiles[:, FIRST_PAIR]
        cuts = np.linspace(0, first_pair[-1], plan.n_parts + 1)
        edges = np.unique(np.searchsorted(first_pair, cuts))
        return [(int(a), int(b)) for a, b in zip(edges[:-1], edges[1:])]

    def _training_state(self, sweep, store, parts):
        def part_state(part):
            state = self._new_state(len(sweep.sigma))
            energy_sweep(sweep, part, store, state)
            return state

        state, *others = run_in_order(part_state, parts, self._n_threads)
        for other in others:
            merge_states(state, other, sweep.sigma)
        return state

    def _gradients(self, sweep, store, free_energy, parts):
        n = len(self._order)
        negligible = np.finfo(self._table.dtype).eps * self._weight.sum() / n**2
        anchors = Anchors(self._weight, free_energy, negligible)

        def part_gradient(part):
            gradient = np.zeros(sweep.weights.shape)
            scatter_sweep(sweep, part, store, anchors, gradient)
            return gradient

        gradient = sum(run_in_order(part_gradient, parts, self._n_threads))
        return [_full_gradient(g, self._n_features) for g in gradient]

    def _new_sample_state(self, X_new, weights, sigma):
        tiles = rectangular_tiles(len(X_new), self._starts, self._shape)
        sweep = Sweep(feature_major(X_new), self._table, tiles, weights, sigma, self._shape, False)
        store = Store(np.empty((len(sigma), 0)), np.empty((len(sigma), len(tiles) - 1)))
        state = self._new_state(len(sigma), len(X_new))
        energy_sweep(sweep, (0, len(tiles) - 1), store, state)
        return state


def feature_major(X):
    """(p, n) copy of `X`, features padded with zeros to whole register blocks."""
    n, p = X.shape
    table = np.zeros((-(-p // REGISTER_BLOCK) * REGISTER_BLOCK, n), dtype=X.dtype)
    table[:p] = X.T
    return table


def upper_weights(W):
    """Upper triangle U with d'Ud = d'Wd for a matrix; a vector as it is."""
    if W.ndim == 1:
        return W
    U = np.triu(W + W.T)
    np.fill_diagonal(U, W.diagonal())
    return U


def _padded(W, p):
    return np.pad(W, (0, p - len(W)))


def _full_gradient(S, p):
    """The symmetric matrix of an upper triangle, or the vector, without the padding."""
    if S.ndim == 1:
        return S[:p]
    upper = np.triu(S[:p, :p])
    return upper + np.triu(upper, 1).T


def _free_energy(state, sigma):
    level, partition, _ = state
    return level - sigma[:, None, None] * np.log(partition)


def _class_scores(state, sigma, order) -> ClassScores:
    """Scores of one problem from its (level, Z, Y), rows put back by `order`."""
    level, partition, moment = state
    scores = ClassScores(np.empty(level.shape[::-1]), np.empty(level.shape[::-1]))
    scores.free_energy[order] = (level - sigma * np.log(partition)).T
    scores.distance[order] = (moment / partition).T
    return scores
