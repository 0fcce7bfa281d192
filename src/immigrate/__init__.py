"""Margin-based feature selection with interaction terms."""
from immigrate._version import __version__
