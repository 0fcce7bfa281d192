"""Moved to `interactions.statistics`."""

# shim: goes when nobody imports it
# ruff: noqa
from immigrate.interactions.statistics import (
    TermResult as TermResult,
    is_short as is_short,
    term_results as term_results,
)
