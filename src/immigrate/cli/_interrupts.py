"""Ctrl-C and polite requests to end, from the first moment of a command to the last."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# An extension module that is interrupted while it is set up may crash the process, and an error in
# a callback of the compiler is written down and forgotten.
DEAF = ("<frozen importlib._bootstrap>", "llvmlite")
# Seconds until it is tried again: after such a place, and where an error went unheard elsewhere,
# as in a finalizer. The second leaves time to clean up.
PAUSE, PATIENCE = 0.02, 1.0


class Interrupts:
    """Raises KeyboardInterrupt, and remembers: it may arrive as an error of what it interrupts.

    Files in the making are removed on its way out, which a process that is killed cannot do.
    """

    def __init__(self) -> None:
        self.came = False
        self._again: threading.Timer | None = None

    def __call__(self, signal_number: int, frame: FrameType | None) -> None:
        """What happens when a signal comes."""
        self.came = True
        is_deaf = _is_deaf(frame)
        pause = PAUSE if is_deaf else PATIENCE
        self._forget()
        self._again = threading.Timer(pause, os.kill, (os.getpid(), signal_number))
        self._again.daemon = True
        self._again.start()
        if not is_deaf:
            raise KeyboardInterrupt

    @contextmanager
    def awaited(self, *, to_the_end: bool) -> Iterator[None]:
        """Listen; afterwards as before, or deaf if the process ends anyway."""
        try:
            before = {one: signal.signal(one, self) for one in SIGNALS}
        except ValueError:  # only the main thread may listen
            yield
            return
        try:
            yield
        finally:
            self._forget()
            if to_the_end:
                self.ignore()
            else:
                for one, handler in before.items():
                    signal.signal(one, handler)

    def _forget(self) -> None:
        """Do not try again."""
        if self._again is not None:
            self._again.cancel()

    def ignore(self) -> None:
        """What is left takes a moment, and a second Ctrl-C would only make it ugly."""
        self._forget()
        try:
            for one in SIGNALS:
                signal.signal(one, signal.SIG_IGN)
        except ValueError:
            return


def _is_deaf(frame: FrameType | None) -> bool:
    """Whether an import is under way, or the compiler, whose callbacks lose errors."""
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in DEAF):
            return True
        frame = frame.f_back
    return False
