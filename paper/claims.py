"""Who works on which cell, so that runs on one results folder share the cells.

A claim is a row of the database beside the results: which run, on which machine, with which
process id, and when it was last heard of. A run that died is not heard of any more, and its cells
are free again: at once where its process can be looked up, else after a minute of silence.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import uuid
from dataclasses import astuple
from enum import Enum
from typing import TYPE_CHECKING

from paper.cells import Cell

if TYPE_CHECKING:
    from paper.store import Store

# Seconds between signs of life, and without one before a run counts as dead.
BEAT, SILENCE = 5.0, 60.0


class Answer(Enum):
    """What comes of asking for a cell."""

    MINE = "nobody else will run it"
    TAKEN = "another run is at it"
    DONE = "its result is there"


class Claims:
    """The cells of one run."""

    def __init__(self, store: Store, settings: dict[str, str], *, retry: bool = False):
        self._store, self._settings, self._retry = store, settings, retry
        self._run, self._host = uuid.uuid4().hex, socket.gethostname()
        self._start = self._last_beat = time.time()

    def ask(self, cell: Cell) -> Answer:
        """Claim a cell, unless it is done or another living run has it."""
        with self._store.exclusively():
            claim = self._store.claim(cell)
            if self._is_done(cell, claim):
                return Answer.DONE
            if claim is not None and claim["ended"] is None and self._is_held(claim):
                return Answer.TAKEN
            row = (*astuple(cell), self._run, self._host, os.getpid(), time.time(), None)
            self._store.put_claim(row)
        return Answer.MINE

    def beat(self) -> None:
        """Show that this run is alive, every few seconds."""
        if time.time() - self._last_beat >= BEAT:
            self._last_beat = time.time()
            self._store.renew_claims(self._run, self._last_beat)

    def release(self) -> None:
        """Give back what was not done."""
        self._store.drop_claims(self._run)

    def _is_done(self, cell: Cell, claim: dict | None) -> bool:
        status = self._store.status(cell, self._settings[cell.method])
        # A failure that another run saw since this one began is not tried once more.
        is_fresh = claim is not None and (claim["ended"] or 0) >= self._start
        return status is not None and (status == "ok" or not self._retry or is_fresh)

    def _is_held(self, claim: dict) -> bool:
        if claim["run"] == self._run or time.time() - claim["beat"] > SILENCE:
            return False
        return claim["host"] != self._host or is_running(claim["pid"])


def is_running(pid: int) -> bool:
    """Whether a process of this machine runs; assumed where asking would end it (Windows)."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's
        return True
    return True
