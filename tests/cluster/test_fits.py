"""Fits on two worker processes are the fits of one process."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from problems import random_problem
from scheduler_tasks import wait_until_forgotten

from immigrate import (
    BoostedImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    IRelief,
)
from immigrate.cluster import on
from immigrate.cluster.passes import ClusterPass, Point, merged, part_sums, parts_of, weight_count
from immigrate.kernels import RUNNER, Pieces, pass_over, passes_run_by
from immigrate.kernels.passes import CompiledPass


@pytest.fixture
def passes(monkeypatch):
    """Counts the passes that went to the cluster."""
    seen = []
    margin = ClusterPass.margin

    def counted(self, *arguments, **options):
        seen.append(len(self._parts))
        return margin(self, *arguments, **options)

    monkeypatch.setattr(ClusterPass, "margin", counted)
    return seen


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (ImmigrateClassifier(), "weight_matrix_"),
        (
            ImmigrateClassifier(constraint="nonnegative", solver="paper", penalty="prune"),
            "weight_matrix_",
        ),
        (ImmigrateClassifierCV(), "weight_matrix_"),
        (BoostedImmigrateClassifier(n_estimators=3), "weight_matrix_"),
        (IM4EClassifier(), "feature_weights_"),
        (IRelief(), "feature_importances_"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_equal_those_of_one_process(estimator, name, table, on_cluster, passes):
    X, y = table
    there = getattr(estimator.fit(X, y), name)
    assert min(passes) > 1
    with passes_run_by(None):
        here = getattr(estimator.fit(X, y), name)
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-10)


def test_levels_gaps_and_weights_of_samples(on_cluster, passes):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((300, 3)), columns=list("abc"))
    X["kind"] = rng.choice(["red", "green", "blue"], 300)
    X.loc[rng.random(300) < 0.1, "a"] = np.nan
    y = (X["kind"] == "red") ^ (X["b"] > 0)
    weight = rng.uniform(0.5, 2, 300)
    there = ImmigrateClassifier().fit(X, y, weight)
    assert passes
    scores = there.decision_function(X)
    with passes_run_by(None):
        here = ImmigrateClassifier().fit(X, y, weight)
        np.testing.assert_allclose(there.weight_matrix_, here.weight_matrix_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(scores, here.decision_function(X), rtol=1e-8, atol=1e-10)


def test_two_workers_and_none_give_the_same_bits(on_cluster):
    problem = random_problem(0, n=300, p=5)
    pieces = Pieces.of(problem.X, problem.y)
    found = pass_over(pieces, problem.anchor_weight).margin(problem.W, problem.sigma)
    point = Point(problem.W, problem.sigma, has_gradient=True)
    parts = parts_of(pieces, weight_count(pieces), on_cluster.part_seconds)
    sums = merged([part_sums(part, pieces, problem.anchor_weight, point) for part in parts])
    assert len(parts) > 1
    assert found.cost == sums.cost
    assert np.array_equal(found.gradient, sums.gradient)


def test_many_parts_are_merged_on_the_workers(client, monkeypatch):
    monkeypatch.setattr("immigrate.cluster.passes.FAN_IN", 2)
    problem = random_problem(1, n=400, p=5)
    pieces = Pieces.of(problem.X, problem.y)
    with on(client, part_seconds=1e-6):
        run = pass_over(pieces, problem.anchor_weight)
        found = run.margin(problem.W, problem.sigma)
    assert len(run._parts) == 12
    expected = pass_over(pieces, problem.anchor_weight).margin(problem.W, problem.sigma)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.scores.distance, expected.scores.distance, rtol=1e-12)


def test_a_refused_point_has_no_gradient(on_cluster):
    problem = random_problem(2, n=300)
    run = pass_over(Pieces.of(problem.X, problem.y), problem.anchor_weight)
    assert run.margin(problem.W, 1.0, reject_above=-1e9).gradient is None
    assert run.margin(problem.W, 1.0, reject_above=-np.inf).gradient is None


def test_a_small_table_stays_here(client, table, passes):
    X, y = table
    with on(client, part_seconds=10.0):
        ImmigrateClassifier().fit(X, y)
    assert not passes


def test_the_model_does_not_keep_the_cluster(table, client):
    X, y = table
    with on(client, part_seconds=1e-3):
        model = ImmigrateClassifier().fit(X, y)
    expected = model.predict(X)
    assert RUNNER.get() is None
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    assert isinstance(model.model_.references.problem()._passes, CompiledPass)
    wait_until_forgotten(client)


def test_no_client():
    with (
        pytest.raises(ValueError, match=r"no Dask client.*client = distributed\.Client\(\)"),
        on(),
    ):
        pass


def test_something_else_than_a_client():
    with (
        pytest.raises(TypeError, match=r"must be a distributed\.Client, got str"),
        on("tcp://here"),
    ):
        pass


def test_a_closed_client():
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        pass
    with pytest.raises(ValueError, match="client is closed"), on(client):
        pass
