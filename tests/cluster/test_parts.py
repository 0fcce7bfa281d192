"""A pass cut into parts is the pass, however it is cut and whoever computes the parts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from problems import FORMS, compiled, problems, random_problem

from immigrate.cluster.passes import (
    MOST_PARTS,
    Point,
    merged,
    part_sums,
    parts_of,
    row_scores,
    weight_count,
)
from immigrate.core.differences import ColumnKinds
from immigrate.core.forms import Quadratic
from immigrate.kernels import Pieces, local_pass
from immigrate.kernels.numpy_pass import PlainPass


def pieces_of(problem, **more):
    return Pieces.of(problem.X, problem.y, **{"form": problem.form, **more})


def sums_of(problem, pieces, edges, *, has_gradient=True):
    point = Point(problem.W, problem.sigma, has_gradient)
    weight = problem.anchor_weight
    return merged([part_sums(part, pieces, weight, point) for part in itertools.pairwise(edges)])


def assert_close(found, expected, anchors):
    np.testing.assert_allclose(found.cost, expected.cost, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-10, atol=1e-13)
    for name in ("free_energy", "distance"):
        scores = getattr(expected.scores, name)[anchors]
        np.testing.assert_allclose(getattr(found, name), scores, rtol=1e-10, atol=1e-12)


def by_class(problem, rows):
    return rows[np.argsort(problem.y[rows], kind="stable")]


@pytest.mark.parametrize("form", FORMS)
@given(problem=problems())
def test_parts_add_up_to_the_pass(form, problem):
    problem = random_problem(0, n=len(problem.X), p=problem.X.shape[1], form=form)
    n = len(problem.X)
    expected = compiled(problem).margin(problem.W, problem.sigma)
    for edges in ([0, n], [0, 1, n], list(range(n + 1))):
        found = sums_of(problem, pieces_of(problem), edges)
        assert_close(found, expected, by_class(problem, np.arange(n)))


class Uncompiled(Quadratic):
    """A form that the compiled sweeps do not know."""


def test_parts_of_a_form_without_a_compiled_kernel():
    problem = random_problem(1)
    pieces = pieces_of(problem, form=Uncompiled())
    passes = local_pass(pieces, problem.anchor_weight)
    assert isinstance(passes, PlainPass)
    expected = passes.margin(problem.W, 1.0)
    found = sums_of(problem, pieces, [0, 5, 24])
    assert_close(found, expected, by_class(problem, np.arange(24)))


def test_parts_with_counted_references_some_anchors_levels_and_gaps():
    problem = random_problem(2, n=60, n_classes=3)
    rng = np.random.default_rng(2)
    X = problem.X.copy()
    X[:, 3] = rng.integers(0, 4, 60)
    X[rng.random(X.shape) < 0.1] = np.nan
    anchors = np.arange(0, 60, 2)
    pieces = Pieces.of(
        X,
        problem.y,
        kinds=ColumnKinds(np.arange(4) == 3),
        count=rng.integers(0, 4, 60).astype(float),
        is_anchor=np.isin(np.arange(60), anchors),
    )
    expected = local_pass(pieces, problem.anchor_weight).margin(problem.W, 1.0)
    assert_close(sums_of(problem, pieces, [0, 7, 30]), expected, by_class(problem, anchors))


def test_no_gradient_where_none_is_wanted():
    problem = random_problem(3)
    assert sums_of(problem, pieces_of(problem), [0, 9, 24], has_gradient=False).gradient is None


def test_the_parts_hold_every_anchor_once_and_depend_on_the_shape_alone():
    pieces = pieces_of(random_problem(4, n=500))
    for part_seconds in (1e-9, 1e-3, 1.0):
        parts = parts_of(pieces, weight_count(pieces), part_seconds)
        assert np.concatenate([np.arange(*part) for part in parts]).tolist() == list(range(500))
        assert len(parts) <= min(MOST_PARTS, 500 // 32)
    assert len(parts) == 1


def test_scores_of_rows_are_those_of_the_pass():
    problem = random_problem(5)
    new = np.random.default_rng(5).standard_normal((7, 4))
    pieces = pieces_of(problem)
    (expected,) = compiled(problem).scores_many(new, [problem.W], [1.0])
    (found,) = row_scores(
        new, pieces, [problem.W], [1.0], version=Point(problem.W, 1, True).version
    )
    assert np.array_equal(found.free_energy, expected.free_energy)
    assert np.array_equal(found.distance, expected.distance)


def test_a_worker_of_another_version_is_refused():
    problem = random_problem(6)
    point = Point(problem.W, 1.0, True, version="0.0.0")
    with pytest.raises(RuntimeError, match=r"the caller has 0\.0\.0.*same version"):
        part_sums((0, 3), pieces_of(problem), problem.anchor_weight, point)
