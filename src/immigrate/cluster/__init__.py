"""Fits on a Dask cluster.

============  ===========================================================================
``passes``    the pass over all pairs in parts, and one part as a worker computes it
``tables``    tables that no memory holds: their partitions, and a stratified sample of them
============  ===========================================================================

Dask is imported when it is first needed. Waiting for a cluster ends with results, or with an error
that says what happened, and never hangs. A worker that dies is the engine's business: Dask
computes again what was lost with it. What the engine cannot mend ends here:

==============================  =============================================================
the scheduler is gone           seen within `TICK` seconds of the connection being closed
the scheduler does not answer   after `patience` seconds
no worker is left, or all are   after `patience` seconds without one that takes work
paused for lack of memory
some are paused, none ends      after `STUCK` times `patience` seconds without the end of a task
a part killed several workers   Dask's verdict, ``distributed.scheduler.allowed-failures``
==============================  =============================================================
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from immigrate.arrays import Array
from immigrate.checks import check_count, check_positive
from immigrate.cluster.passes import ClusterPass, seconds_of_pass, weight_count
from immigrate.cluster.tables import N_DRAWN, stratified_sample
from immigrate.kernels import Pass, Pieces, local_pass, passes_run_by

__all__ = ["ClusterError", "ClusterLostError", "on", "stratified_sample"]

# How often a waiting client looks around, in seconds.
TICK = 1.0
# How many times the patience may pass, while a worker is paused, until another task ends.
STUCK = 5


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


@dataclass(frozen=True, eq=False)
class Cluster:
    """Runs passes on the workers of a Dask cluster; see ``immigrate.cluster.on``.

    Attributes
    ----------
    client : distributed.Client
    part_seconds : float
        About how long a part of a pass takes on one core. The parts, and with them the last bits
        of every sum, depend on it and on the shape of the table, on nothing else.
    patience : float
        Seconds to wait for a worker when there is none.
    n_drawn : int
        Rows that a fit draws from a collection of Dask.
    """

    client: Any
    part_seconds: float
    patience: float
    n_drawn: int = N_DRAWN

    def __call__(self, pieces: Pieces, anchor_weight: Array, *, n_threads: int) -> Pass:
        """The passes over one table; a table whose passes are shorter than a part stays here."""
        if seconds_of_pass(pieces, weight_count(pieces)) <= self.part_seconds:
            return local_pass(pieces, anchor_weight, n_threads=n_threads)
        return ClusterPass(self, pieces, anchor_weight)

    def given(self, value: Any, name: str) -> Any:
        """A task whose result is `value`.

        Scattered data would be gone with the worker that holds it. The scheduler keeps a task as
        long as another task needs it, and gives it to another worker when its result is lost.
        """
        return self.mapped(_itself, [value], name)[0]

    def mapped(
        self, function: Callable[..., Any], values: Sequence[Any], name: str, **shared: Any
    ) -> list[Any]:
        """A task for each value, with no worker of its own."""
        # Keys of one group: Dask then queues the tasks and hands them to whoever is free.
        token = uuid.uuid4().hex
        keys = [(f"immigrate-{name}-{token}", i) for i in range(len(values))]
        with clear_errors(self.client), no_word_about_size():
            futures: list[Any] = self.client.map(function, values, key=keys, **shared)
        return futures

    def results(self, futures: Sequence[Any]) -> list[Any]:
        """Their results, in their order; the tasks are forgotten, whatever happens."""
        try:
            return results(self.client, futures, self.patience)
        finally:
            # Tracebacks keep frames and frames keep futures: after Ctrl-C no task should go on.
            self.release(futures)

    def release(self, futures: Sequence[Any]) -> None:
        """Let the cluster forget some tasks and their results."""
        for future in futures:
            future.release()


class ClusterError(RuntimeError):
    """A cluster could not finish what it was asked for.

    Examples
    --------
    >>> from immigrate.cluster import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class ClusterLostError(ClusterError, ConnectionError):
    """The scheduler of a cluster is gone, or no worker is left.

    Examples
    --------
    >>> from immigrate.cluster import ClusterError, ClusterLostError
    >>> issubclass(ClusterLostError, ClusterError), issubclass(ClusterLostError, ConnectionError)
    (True, True)
    """


def results(client: Any, futures: Sequence[Any], patience: float) -> list[Any]:
    """The results of all futures, in their order."""
    # Not every client is the default one, which Dask's own functions take.
    with clear_errors(client), client.as_current():
        _wait(client, futures, patience)
        failed = [future for future in futures if future.status == "error"]
        found: list[Any] = client.gather(failed or list(futures))
        return found


@contextmanager
def clear_errors(client: Any) -> Iterator[None]:
    """Turn what Dask raises when a cluster fails into errors that say what to do."""
    from distributed import KilledWorker

    try:
        yield
    except ClusterError:
        raise
    except KilledWorker as error:
        raise ClusterError(
            f"Workers of the cluster died again and again while they computed {error.task!r}. "
            "Most likely they ran out of memory: give each worker more memory or fewer threads, "
            "and look at their logs."
        ) from error
    except ModuleNotFoundError as error:
        raise ClusterError(
            f"A worker of the cluster cannot import {error.name}. Install the same packages on "
            "all workers as here."
        ) from error
    except (
        CancelledError,
        OSError,
        TimeoutError,
    ) as error:  # Dask's CommClosedError is an OSError
        raise lost(client) from error


def _wait(client: Any, futures: Sequence[Any], patience: float) -> None:
    from distributed import wait

    last_seen = last_ended = time.monotonic()
    n_ended = 0
    while True:
        # The client notices a closed connection at once, and then tries to find a new scheduler
        # for half a minute; that one would know nothing of our work.
        if client.status != "running":
            raise lost(client)
        with suppress(TimeoutError):
            wait(futures, timeout=TICK)
            return
        # One failure is enough: the others may never come.
        if any(future.status == "error" for future in futures):
            return
        states, now = worker_states(client, patience), time.monotonic()
        ended = sum(future.done() for future in futures)
        if ended > n_ended:
            n_ended, last_ended = ended, now
        # A worker that is paused keeps the tasks that it was given, and others may wait for ever.
        if "paused" in states and now - last_ended > STUCK * patience:
            raise ClusterLostError(no_worker_message(client, states, STUCK * patience))
        if "running" in states:
            last_seen = now
        elif now - last_seen > patience:
            raise ClusterLostError(no_worker_message(client, states, patience))


def worker_states(client: Any, patience: float) -> list[str]:
    """What the workers are doing; a scheduler that does not answer in time is lost."""
    identity = client.sync(client.scheduler.identity, callback_timeout=patience)
    return [worker["status"] for worker in identity["workers"].values()]


def no_worker_message(client: Any, states: list[str], patience: float) -> str:
    """What to say when there is a scheduler and no worker that takes its tasks."""
    n_paused = states.count("paused")
    if n_paused:
        who = f"All {n_paused}" if n_paused == len(states) else f"{n_paused} of {len(states)}"
        return (
            f"{who} workers of the cluster at {address(client)} have been paused for "
            f"{patience:.0f} seconds because their memory is nearly full. Give each worker more "
            "memory or fewer threads, or cut the table into smaller partitions; restart them."
        )
    return (
        f"The cluster at {address(client)} has had no worker for {patience:.0f} seconds. "
        "Start workers and fit again, or fit without the cluster."
    )


def lost(client: Any) -> ClusterLostError:
    """What to say when the scheduler is gone."""
    return ClusterLostError(
        f"The connection to the scheduler of the cluster at {address(client)} was lost: it was "
        "stopped or restarted, or the network failed. Nothing was fitted and the model is as it "
        "was. Start the scheduler, connect a new Client and fit again, or fit without the cluster."
    )


def address(client: Any) -> str:
    """Where the scheduler is, or was."""
    return str(getattr(client.scheduler, "address", None) or "an unknown address")


@contextmanager
def no_word_about_size() -> Iterator[None]:
    """Dask warns of tables inside tasks; here that is on purpose, and happens once per fit."""
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):
        yield


def _itself(value: Any) -> Any:
    return value
