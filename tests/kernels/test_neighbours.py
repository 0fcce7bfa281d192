"""The compiled nearest-neighbour pass against the plain one, and what both must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relief_oracles import table

from immigrate.kernels import neighbours, neighbours_numpy
from immigrate.kernels.neighbours_numpy import Nearest
from immigrate.relief.base import mixed_table

rules = st.builds(Nearest, st.integers(1, 40), st.booleans(), st.booleans())


@st.composite
def mixed_tables(draw):
    n_classes = draw(st.integers(2, 4))
    X, y, is_categorical = table(
        draw(st.integers(0, 2**32 - 1)),
        n=draw(st.integers(2 * n_classes, 40)),
        p=draw(st.integers(1, 6)),
        n_classes=n_classes,
        kind=draw(st.sampled_from(["continuous", "integers", "discrete", "mixed"])),
        missing=draw(st.sampled_from([0.0, 0.2])),
    )
    if not draw(st.booleans()):
        return mixed_table(X, y, is_categorical)
    # From half a turn to nearly a whole one.
    span = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    is_circular = ~is_categorical & (np.arange(X.shape[1]) % 3 != 1) & (span > 0)
    turns = np.where(is_circular, draw(st.sampled_from([1.01, 1.5, 2.0])), np.inf)
    period = np.where(is_circular, turns * np.where(is_circular, span, 1.0), np.inf)
    X = np.where(is_circular, X - np.nanmin(X, axis=0), X)
    scale = draw(st.sampled_from(["range", None]))
    return mixed_table(X, y, is_categorical, scale=scale, period=period)


def dense(pairs, n):
    coupling, distance = np.zeros((2, n, n))
    coupling[pairs.anchor, pairs.neighbour] = pairs.weight
    distance[pairs.anchor, pairs.neighbour] = pairs.distance
    return coupling, distance


@settings(max_examples=150)
@given(mixed_tables(), rules, st.integers(0, 2**32 - 1))
def test_compiled_pass_is_the_plain_one(mixed, rule, seed):
    n, p = mixed.values.shape
    w = np.random.default_rng(seed).uniform(size=p)
    anchors = np.arange(n)
    pairs = neighbours.nearest_pairs(mixed, anchors, w, rule)
    plain = neighbours_numpy.nearest_pairs(mixed, anchors, w, rule)
    for ours, theirs in zip(dense(pairs, n), dense(plain, n)):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    for is_squared in (False, True):
        np.testing.assert_allclose(
            neighbours.difference_sum(mixed, pairs, is_squared=is_squared),
            neighbours_numpy.difference_sum(mixed, plain, is_squared=is_squared),
            atol=1e-10,
        )


@settings(max_examples=50)
@given(mixed_tables(), rules)
def test_each_group_of_candidates_gets_a_weight_of_one(mixed, rule):
    n = mixed.y.size
    w = np.ones(mixed.values.shape[1])
    coupling, _ = dense(neighbours.nearest_pairs(mixed, np.arange(n), w, rule), n)
    by_class = np.array([coupling[:, mixed.y == c].sum(axis=1) for c in np.unique(mixed.y)])
    own = by_class[mixed.y, np.arange(n)]
    np.testing.assert_allclose(own, 1)
    np.testing.assert_allclose(by_class.sum(axis=0), len(by_class) if rule.is_per_class else 2)
    assert not coupling.diagonal().any()


def test_equally_far_samples_share_the_places_left():
    X = np.array([[0.0], [1.0], [2.0], [-2.0], [2.0], [0.5], [9.0]])
    mixed = mixed_table(X, np.array([0, 0, 0, 0, 0, 1, 1]), scale=None)
    pairs = neighbours.nearest_pairs(mixed, np.array([0]), np.ones(1), Nearest(2))
    coupling, _ = dense(pairs, 7)
    np.testing.assert_allclose(coupling[0], [0, 1 / 2, 1 / 6, 1 / 6, 1 / 6, 1 / 2, 1 / 2])


def test_rounding_does_not_break_a_tie():
    """0.1 + 0.2 and 0.3 are one distance, whatever the order of the features."""
    X = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.0], [1.0, 1.0], [1.0, 2.0]])
    mixed = mixed_table(X, np.array([0, 0, 0, 1, 1]), scale=None)
    pairs = neighbours.nearest_pairs(
        mixed, np.array([0]), np.ones(2), Nearest(1, is_squared=False)
    )
    coupling, _ = dense(pairs, 5)
    np.testing.assert_allclose(coupling[0], [0, 0.5, 0.5, 1, 0])


def test_a_feature_of_weight_zero_does_not_count():
    X, y, _ = table(0, n=40, p=4)
    w = np.array([1.0, 0.0, 2.0, 0.0])
    whole = neighbours.nearest_pairs(mixed_table(X, y), np.arange(40), w, Nearest(3))
    cut = neighbours.nearest_pairs(
        mixed_table(X[:, [0, 2]], y), np.arange(40), w[[0, 2]], Nearest(3)
    )
    np.testing.assert_array_equal(whole.neighbour, cut.neighbour)


@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    X, y, is_categorical = table(1, n=700, p=7, n_classes=3, kind="mixed", missing=0.05)
    mixed = mixed_table(X, y, is_categorical)

    def statistic(block):
        pairs = neighbours.nearest_pairs(mixed, block, np.ones(7), Nearest(5, True, False))
        return neighbours.difference_sum(mixed, pairs, is_squared=False)

    one = neighbours.sum_over_anchors(statistic, np.arange(700), 700, 1)
    many = neighbours.sum_over_anchors(statistic, np.arange(700), 700, n_threads)
    np.testing.assert_array_equal(one, many)


def test_tiles_cover_more_samples_than_one_tile_holds():
    n = neighbours.TILE + 3
    X, y, _ = table(2, n=n, p=3)
    mixed, anchors = mixed_table(X, y), np.array([0, n - 1])
    pairs = neighbours.nearest_pairs(mixed, anchors, np.ones(3), Nearest(n))
    plain = neighbours_numpy.nearest_pairs(mixed, anchors, np.ones(3), Nearest(n))
    for ours, theirs in zip(dense(pairs, n), dense(plain, n)):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("rule", [Nearest(3, True, False), Nearest(1), Nearest(7, True, True)])
@pytest.mark.parametrize("spread", [1e-9, 1e-6, 1.0, 1e6])
def test_screening_in_single_precision_loses_no_neighbour(rule, spread):
    """Samples that single precision cannot tell apart, features of very different spans."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 9)) + spread * rng.standard_normal((200, 9))
    X = X * 10.0 ** rng.integers(-3, 4, 9)
    mixed = mixed_table(X, np.arange(200) % 3, scale=None)
    anchors, w = np.arange(200), 10.0 ** rng.integers(-6, 7, 9)
    pairs = neighbours.nearest_pairs(mixed, anchors, w, rule)
    plain = neighbours_numpy.nearest_pairs(mixed, anchors, w, rule)
    np.testing.assert_allclose(dense(pairs, 200)[0], dense(plain, 200)[0], atol=1e-12)


def test_no_weight_at_all_makes_everybody_equally_near():
    X, y, _ = table(0, n=10)
    pairs = neighbours.nearest_pairs(mixed_table(X, y), np.arange(10), np.zeros(5), Nearest())
    coupling, _ = dense(pairs, 10)
    np.testing.assert_allclose(coupling[0, y != y[0]], 1 / 5)
