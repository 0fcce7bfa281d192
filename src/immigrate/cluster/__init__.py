"""Fits on a Dask cluster.

===============  ===============================================================================
``passes``       the pass over all pairs, cut into parts for the workers
``parts``        one part, as a worker computes it
``waiting``      results, or an error that says what happened
``partitions``   tables that no memory holds, partition by partition
``drawing``      a stratified sample of them
``centres``      class-wise k-means over them
===============  ===============================================================================

Dask is imported when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from immigrate.checks import check_count, check_positive
from immigrate.cluster.drawing import stratified_sample
from immigrate.cluster.passes import N_DRAWN, Cluster
from immigrate.cluster.waiting import ClusterError, ClusterLostError
from immigrate.kernels import passes_run_by

__all__ = ["ClusterError", "ClusterLostError", "on", "stratified_sample"]


@contextmanager
def on(
    client: Any = None,
    *,
    n_drawn: int = N_DRAWN,
    part_seconds: float = 0.1,
    patience: float = 60.0,
) -> Iterator[Cluster]:
    """Let a Dask cluster run everything that is fitted and predicted inside the block.

    That is everything that makes passes over pairs of samples: the margin classifiers, paths of
    sigma, boosting, screens, I-RELIEF, and predictions. Results agree with those of one process
    to rounding, and are the same for any number of workers. Losing a worker costs the time of
    its tasks and nothing else; see docs/measurements/clusters.md.

    Parameters
    ----------
    client : distributed.Client, optional
        By default the current one.
    n_drawn : int, default=10000
        Rows that a fit draws from a ``dask.array`` or ``dask.dataframe``, each class in
        proportion (`stratified_sample`).
    part_seconds : float, default=0.1
        About how long a task takes. Tables whose passes are shorter stay in this process.
    patience : float, default=60.0
        Seconds to wait for a worker when there is none, before an error is raised.

    Yields
    ------
    Cluster
        Runs the passes inside the block.

    Examples
    --------
    >>> from distributed import Client
    >>> from immigrate import ImmigrateClassifier
    >>> from immigrate.cluster import on
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> here = ImmigrateClassifier().fit(X, y)
    >>> with Client(processes=False, dashboard_address=":0") as client, on(client):
    ...     there = ImmigrateClassifier().fit(X, y)
    >>> bool(abs(here.weight_matrix_ - there.weight_matrix_).max() < 1e-10)
    True
    """
    cluster = Cluster(
        checked_client(client),
        check_positive("part_seconds", part_seconds),
        check_positive("patience", patience),
        check_count("n_drawn", n_drawn),
    )
    with passes_run_by(cluster):
        yield cluster


def checked_client(client: Any) -> Any:
    """A client that is connected and can be waited for."""
    try:
        from distributed import Client, default_client
    except ImportError as error:
        raise ImportError(
            "Fits on a cluster need Dask; install it with: pip install 'immigrate[distributed]'"
        ) from error
    if client is None:
        try:
            client = default_client()
        except ValueError as error:
            raise ValueError(
                "There is no Dask client. Make one first: client = distributed.Client(), or "
                "Client('tcp://scheduler:8786') for a cluster that runs already."
            ) from error
    if not isinstance(client, Client):
        raise TypeError(f"client must be a distributed.Client, got {type(client).__name__}.")
    if client.asynchronous:
        raise ValueError("The client is asynchronous; make one with asynchronous=False.")
    if client.status != "running":
        raise ValueError(f"The client is {client.status}; connect a new one.")
    return client
