"""The sums of each sample's hits and misses are those of its class and of all others."""

from __future__ import annotations

import numpy as np
import pytest

from immigrate.core.targets import HIT, MISS
from immigrate.kernels.passes import hits_and_misses
from immigrate.kernels.tile_energies import EMPTY, FLOOR, MOMENT, PARTITION


def states(n_problems, starts, seed):
    rng = np.random.default_rng(seed)
    shape = (n_problems, len(starts) - 1, starts[-1])
    state = rng.uniform(0.5, 2.0, (shape[0], shape[1], 3, shape[2]))
    state[:, :, FLOOR] = rng.uniform(0.0, 5.0, shape)
    return state


def merged(states, sigma):
    """(floor, Z, Y) of several sets together, by the definition."""
    floor, Z, Y = np.array(states).T
    low = floor.min()
    factor = np.exp((low - floor) / sigma)
    return low, factor @ Z, factor @ Y


@pytest.mark.parametrize("starts", [[0, 3, 7], [0, 1, 4, 6], [0, 2, 3, 5, 9, 10]])
def test_hits_are_of_the_own_class_and_misses_of_all_others(starts):
    sigma = np.array([0.3, 2.0])
    state = states(2, starts, seed=len(starts))
    split = hits_and_misses(state, np.array(starts), sigma)
    own = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for m, i in np.ndindex(2, starts[-1]):
        others = np.delete(state[m, :, :, i], own[i], axis=0)
        np.testing.assert_array_equal(split[m, HIT, :, i], state[m, own[i], :, i])
        np.testing.assert_allclose(split[m, MISS, :, i], merged(others, sigma[m]), rtol=1e-14)


def test_a_class_that_was_not_met_adds_nothing():
    starts = np.array([0, 2, 4, 6])
    state = states(1, starts, seed=0)
    state[:, 2, FLOOR], state[:, 2, PARTITION], state[:, 2, MOMENT] = EMPTY, 0.0, 0.0
    split = hits_and_misses(state, starts, np.array([1.0]))
    np.testing.assert_array_equal(split[0, MISS, :, :2], state[0, 1, :, :2])
    np.testing.assert_array_equal(split[0, MISS, :, 2:4], state[0, 0, :, 2:4])
