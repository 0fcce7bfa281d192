"""Class-wise k-means over partitions is k-means over the whole table."""

from __future__ import annotations

import itertools

import dask.array as da
import numpy as np
import pytest

from immigrate.cluster import on
from immigrate.cluster.centres import Centres, added, class_centres, class_sums


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.standard_normal((600, 3)) + 4 * rng.integers(0, 3, (600, 1)) + y[:, None]
    return X, y


def some_centres(X, y, k=7):
    scale = np.array([1.0, 0.5, 2.0])
    return Centres(X[:k], y[:k], np.zeros(k), scale)


def test_sums_and_counts_by_the_definition(rows):
    X, y = rows
    centres = some_centres(X, y)
    found = class_sums(X, y, centres)
    sums, counts, inertia = np.zeros((7, 3)), np.zeros(7), 0.0
    for x, label in zip(X, y):
        distance = ((centres.scale * (x - centres.values)) ** 2).sum(axis=1)
        distance[centres.labels != label] = np.inf
        nearest = distance.argmin()
        sums[nearest] += x
        counts[nearest] += 1
        inertia += distance[nearest]
    np.testing.assert_allclose(found.sums, sums, rtol=1e-12)
    assert np.array_equal(found.counts, counts)
    assert found.inertia == pytest.approx(inertia)


@pytest.mark.parametrize("block", [1, 50, 2**20])
def test_neither_blocks_nor_partitions_change_the_sums(rows, block, monkeypatch):
    X, y = rows
    centres = some_centres(X, y)
    expected = class_sums(X, y, centres)
    monkeypatch.setattr("immigrate.cluster.centres.BLOCK_NUMBERS", block)
    edges = [0, 10, 10, 333, 600]
    parts = [class_sums(X[a:b], y[a:b], centres) for a, b in itertools.pairwise(edges)]
    found = added(parts)
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-12)
    assert np.array_equal(found.counts, expected.counts)


def test_workers_do_not_change_the_centres(rows, client, monkeypatch):
    monkeypatch.setattr("immigrate.cluster.centres.FAN_IN", 2)
    X, y = rows
    table = da.from_array(X, chunks=(100, 3))
    expected = class_centres(table, y, 12)
    with on(client):
        found = class_centres(table, y, 12)
    assert np.array_equal(found.values, expected.values)
    assert np.array_equal(found.counts, expected.counts)
    assert found.counts.sum() == 600


def test_more_steps_never_raise_the_inertia(rows):
    X, y = rows
    table = da.from_array(X, chunks=(200, 3))
    inertias = [
        class_sums(X, y, class_centres(table, y, 10, n_iter=n)).inertia for n in (1, 2, 4, 8)
    ]
    assert inertias == sorted(inertias, reverse=True)


def test_gaps_are_refused():
    X = da.from_array(np.array([[1.0], [np.nan], [2.0], [3.0]]), chunks=(2, 1))
    with pytest.raises(ValueError, match="missing values; fill them first"):
        class_centres(X, np.array([0, 0, 1, 1]), 4)
