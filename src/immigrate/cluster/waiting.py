"""Waiting for a cluster: results, or an error that says what happened, and never a hang.

A worker that dies is the engine's business: Dask computes again what was lost with it. What the
engine cannot mend ends here:

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
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from typing import Any

# How often a waiting client looks around, in seconds.
TICK = 1.0
# How many times the patience may pass, while a worker is paused, until another task ends.
STUCK = 5


class ClusterError(RuntimeError):
    """A cluster could not finish what it was asked for.

    Examples
    --------
    >>> from immigrate.cluster import ClusterError
    >>> issubclass(ClusterError, RuntimeError)
    True
    """


class ClusterLostError(ClusterError, ConnectionError):
    """The scheduler of a cluster is gone, or nobody is left to work.

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
            raise ClusterLostError(nobody_works(client, states, STUCK * patience))
        if "running" in states:
            last_seen = now
        elif now - last_seen > patience:
            raise ClusterLostError(nobody_works(client, states, patience))


def worker_states(client: Any, patience: float) -> list[str]:
    """What the workers are doing; a scheduler that does not answer in time is lost."""
    identity = client.sync(client.scheduler.identity, callback_timeout=patience)
    return [worker["status"] for worker in identity["workers"].values()]


def nobody_works(client: Any, states: list[str], patience: float) -> str:
    """What to say when there is a scheduler and nobody who takes its tasks."""
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
