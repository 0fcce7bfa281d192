"""What the first sweep leaves: (floor, Z, Y) of every sample, by class or by hits and misses.

    sum_j n_j exp(-q_ij / sigma) = Z_i exp(-floor_i / sigma) / n_i

Z and Y of a sample are n_i times too large, see ``tile_energies``.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.core.targets import HIT, MISS
from immigrate.kernels.results import ClassScores
from immigrate.kernels.tile_energies import (
    EMPTY,
    FLOOR,
    MOMENT,
    PARTITION,
    merge_states,
)


def new_state(n_problems: int, n_classes: int, n: int) -> Array:
    """(floor, Z, Y) before any pair was visited."""
    state = np.zeros((n_problems, n_classes, 3, n))
    state[:, :, FLOOR] = EMPTY
    return state


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
