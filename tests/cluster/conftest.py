"""One cluster of two worker processes for all tests of this folder."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster

from immigrate.cluster import on

FOLDER = Path(__file__).parent
# Small tables in several parts.
PART_SECONDS = 5e-4


def pytest_collection_modifyitems(items):
    # `--dist loadgroup` then runs them in one process, which starts one cluster.
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("cluster"))


# Of the folder, and not of the session: idle workers and their scheduler take 6 % of a core.
@pytest.fixture(scope="package")
def client():
    heard = [(one, one.level) for one in logging.getLogger("distributed").handlers]
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            scheduler_port=0,
            dashboard_address=":0",
            silence_logs="CRITICAL",
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        # Those of pytest are there too, which all tests in this process share: while the cluster
        # lives, none of them would hear a warning.
        for handler, level in heard:
            handler.setLevel(level)
        yield client


@pytest.fixture
def on_cluster(client):
    with on(client, part_seconds=PART_SECONDS) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, "yes", "no")
    return X, y
