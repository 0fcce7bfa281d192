"""Numbers that come round, in the plain and in the compiled passes."""

from __future__ import annotations

import numpy as np
import pytest
from problems import random_problem

from immigrate.core.differences import ColumnDifferences, ColumnKinds
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.numpy_pass import PlainPass

TOLERANCE = {np.float64: 1e-11, np.float32: 1e-4}
# An hour, a number, a level and an angle.
PERIOD = np.array([2.4, np.inf, np.inf, 3.6])
KINDS = ColumnKinds(np.array([False, False, True, False]), period=PERIOD)


def assert_same_pass(found, expected, tolerance):
    scale = np.abs(expected.scores.free_energy).max()
    assert found.cost == pytest.approx(expected.cost, abs=tolerance * scale)
    np.testing.assert_allclose(
        found.gradient, expected.gradient, rtol=0, atol=tolerance * np.abs(expected.gradient).max()
    )
    assert_same_scores(found.scores, expected.scores, tolerance)


def assert_same_scores(found, expected, tolerance):
    for one, other in zip(vars(found).values(), vars(expected).values()):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())


def clock_table(seed, n=90, has_gaps=True):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.uniform(0, 2.4, n),
            rng.normal(size=n),
            rng.integers(0, 3, n),
            rng.uniform(0, 3.6, n),
        ]
    )
    if has_gaps:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X


def pieces_of(X, problem, dtype=np.float64):
    return Pieces.of(X.astype(dtype), problem.y, form=problem.form, kinds=KINDS)


def test_differences_are_those_of_the_formula():
    X = clock_table(0, has_gaps=False)
    differences = ColumnDifferences.of(X, KINDS)
    d = differences(differences.samples(X), differences.samples(X))
    line = np.abs(X[:, None] - X)
    for f in (0, 3):
        expected = np.minimum(line[:, :, f], PERIOD[f] - line[:, :, f])
        np.testing.assert_array_equal(d[f], expected)
    np.testing.assert_array_equal(d[1], line[:, :, 1])


def test_a_missing_hour_is_expected_as_far_as_the_known_ones_are():
    X = clock_table(1)
    differences = ColumnDifferences.of(X, KINDS)
    d = differences(differences.samples(X), differences.samples(X))
    known = X[~np.isnan(X[:, 0]), 0]
    line = np.abs(known[:, None] - known)
    circle = np.minimum(line, 2.4 - line)
    i, j = np.flatnonzero(np.isnan(X[:, 0]))[:2]
    assert d[0, i, j] == pytest.approx(circle.mean())
    np.testing.assert_allclose(d[0, ~np.isnan(X[:, 0]), i], circle.mean(axis=1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["matrix", "vector", "triples"])
@pytest.mark.parametrize("has_gaps", [True, False])
def test_compiled_is_the_plain_pass(form, dtype, has_gaps):
    problem = random_problem(3, n=90, p=4, n_classes=3, form=form)
    X = clock_table(3, has_gaps=has_gaps)
    rounded = X.astype(dtype).astype(np.float64)
    compiled = pass_over(pieces_of(X, problem, dtype), problem.anchor_weight, n_threads=1)
    plain = PlainPass(pieces_of(rounded, problem), problem.anchor_weight)
    both = [one.margin(problem.W, problem.sigma) for one in (compiled, plain)]
    assert_same_pass(*both, TOLERANCE[dtype])
    new = clock_table(4, n=30).astype(dtype)
    scores = [
        one.scores_many(new.astype(kind), [problem.W], [problem.sigma])[0]
        for one, kind in ((compiled, dtype), (plain, np.float64))
    ]
    assert_same_scores(*scores, TOLERANCE[dtype])


@pytest.mark.parametrize("form", ["matrix", "vector"])
def test_turning_the_clock_changes_nothing(form):
    problem = random_problem(5, n=90, p=4, form=form)
    X = clock_table(5)
    later = X.copy()
    later[:, 0], later[:, 3] = np.mod(X[:, 0] + 1.7, 2.4), np.mod(X[:, 3] - 0.4, 3.6)
    both = [
        pass_over(pieces_of(one, problem), problem.anchor_weight, n_threads=1).margin(
            problem.W, problem.sigma
        )
        for one in (X, later)
    ]
    assert_same_pass(*both, 1e-11)
