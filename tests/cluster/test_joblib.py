"""What is spread by joblib runs on a cluster as it is."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.model_selection import GridSearchCV, cross_val_score

from immigrate import ImmigrateClassifier, ImmigrateClassifierCV, InteractionTest
from immigrate.kernels.threads import n_threads
from immigrate.options import WestfallYoung
from paper.cells import outcome, planned_cells


@pytest.fixture
def dask_backend(client):
    with client.as_current(), parallel_config(backend="dask"):
        yield client


def test_cross_validation(dask_backend, table):
    X, y = table
    found = cross_val_score(ImmigrateClassifier(), X[:200], y[:200], cv=3)
    with parallel_config(backend="sequential"):
        expected = cross_val_score(ImmigrateClassifier(), X[:200], y[:200], cv=3)
    assert np.array_equal(found, expected)


def test_a_grid(dask_backend, table):
    X, y = table
    grid = GridSearchCV(ImmigrateClassifier(), {"sigma": [0.5, 2.0]}, cv=2).fit(X[:200], y[:200])
    assert grid.best_score_ > 0.6


def test_a_path_of_sigma_over_folds(dask_backend, table):
    X, y = table
    found = ImmigrateClassifierCV(cv=3).fit(X[:200], y[:200])
    with parallel_config(backend="sequential"):
        expected = ImmigrateClassifierCV(cv=3).fit(X[:200], y[:200])
    assert found.sigma_ == expected.sigma_
    assert np.array_equal(found.selection_.splits, expected.selection_.splits)
    assert np.array_equal(found.weight_matrix_, expected.weight_matrix_)


@pytest.mark.parametrize("adjust", ["holm", WestfallYoung(n_draws=50, random_state=0)])
def test_the_interaction_test(dask_backend, table, adjust):
    X, y = table
    found = InteractionTest(adjust=adjust).fit(X, y)
    with parallel_config(backend="sequential"):
        expected = InteractionTest(adjust=adjust).fit(X, y)
    pd.testing.assert_frame_equal(found.table_, expected.table_)


def test_a_fit_takes_threads_of_this_machine_and_not_of_the_cluster(dask_backend):
    # joblib counts the threads of all workers here, and again inside each of them.
    assert n_threads(None) == 1
    assert n_threads(-1) <= (joblib.cpu_count() or 1)
    assert Parallel()(delayed(n_threads)(None) for _ in range(2)) == [1, 1]


def test_cells_of_the_experiments(dask_backend):
    cells = planned_cells(["WIN"], ["IGT"], n_repeats=1, n_folds=2)
    found = Parallel()(delayed(outcome)(cell) for cell in cells)
    expected = [outcome(cell) for cell in cells]
    assert [one.status for one in found] == ["ok", "ok"]
    assert [one.n_correct for one in found] == [one.n_correct for one in expected]
