"""What the library says while it works: warnings, and progress where `verbose` asks for it."""

from __future__ import annotations

import sys
import warnings


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if from the first caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("immigrate."):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


def progress(line: str) -> None:
    """One line of progress on standard output; it is there at once, whatever the buffering."""
    print(line, flush=True)
