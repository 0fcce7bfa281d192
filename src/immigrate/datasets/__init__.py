"""Data sets made from their definitions: no download, no files."""

from immigrate.datasets._generators import make_monk1, make_xor
from immigrate.datasets._trial import make_trial

__all__ = ["make_monk1", "make_trial", "make_xor"]
