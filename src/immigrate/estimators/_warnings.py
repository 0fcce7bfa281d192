"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings


def warn_user(message, category):
    """Warn as if from the first caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("immigrate."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
