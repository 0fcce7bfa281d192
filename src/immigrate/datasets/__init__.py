"""Tables with a known truth, drawn or embedded, without a download; and those of OpenML."""

from immigrate.datasets._generators import make_monk1, make_trial, make_xor
from immigrate.datasets._tables import fetch_table, load_expression, load_harvest, load_loans

__all__ = [
    "fetch_table",
    "load_expression",
    "load_harvest",
    "load_loans",
    "make_monk1",
    "make_trial",
    "make_xor",
]
