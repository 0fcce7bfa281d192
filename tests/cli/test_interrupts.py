"""A signal is heard even where the error that it raises is not."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

import pytest

from immigrate.cli import ending
from immigrate.cli.ending import Interrupts


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(ending, "PATIENCE", 0.05)


def test_an_interrupt_that_went_unheard_comes_again(soon):
    interrupts = Interrupts()
    with interrupts.awaited(to_the_end=False):
        # As in a finalizer, whose errors are written down and forgotten.
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)
        with pytest.raises(KeyboardInterrupt):
            time.sleep(10)
    assert interrupts.came


def test_an_interrupt_that_was_heard_does_not_come_again(soon):
    before = threading.active_count()
    interrupts = Interrupts()
    with contextlib.suppress(KeyboardInterrupt), interrupts.awaited(to_the_end=False):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    time.sleep(0.2)
    assert threading.active_count() <= before
