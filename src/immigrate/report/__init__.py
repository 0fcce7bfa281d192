"""One self-contained page about a table and a label: summarise, draw, render."""

from immigrate.report._report import Report

__all__ = ["Report"]
