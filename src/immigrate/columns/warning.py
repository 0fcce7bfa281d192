"""Warnings about columns, which point at the user's line however deep they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


class ColumnWarning(UserWarning):
    """A column that cannot help a model, or that is read in a way that may surprise."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn as if from the first caller outside this package."""
    level, frame = 2, _caller()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("immigrate."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _caller() -> FrameType | None:
    return sys._getframe(2)
