"""The category of warnings about columns."""

from __future__ import annotations


class ColumnWarning(UserWarning):
    """A column that cannot help a model, or that is read in a way that may surprise."""
