"""What the scheduler of a cluster still knows of us."""

from __future__ import annotations

import gc
import time

# Until a test that hangs is given up.
HANGS = 60.0


def keys_of(dask_scheduler):
    return [str(key) for key in dask_scheduler.tasks]


def wait_until_forgotten(client):
    """Wait until the scheduler holds no task of this library; messages take their time."""
    end = time.monotonic() + HANGS
    # Futures in the traces of errors that tests before this one expected are in cycles.
    gc.collect()
    while left := [key for key in client.run_on_scheduler(keys_of) if "immigrate" in key]:
        assert time.monotonic() < end, f"the scheduler still holds {left}"
        time.sleep(0.05)
