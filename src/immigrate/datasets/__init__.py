"""Tables with a known truth, drawn or embedded, without a download; and those of OpenML."""

from immigrate.datasets._generators import make_monk1, make_xor
from immigrate.datasets._openml import fetch_table
from immigrate.datasets._tables import load_expression, load_harvest, load_loans
from immigrate.datasets._trial import make_trial

__all__ = [
    "fetch_table",
    "load_expression",
    "load_harvest",
    "load_loans",
    "make_monk1",
    "make_trial",
    "make_xor",
]
