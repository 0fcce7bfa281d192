"""The user's table, read once: names, kinds, levels and gaps of columns, labels and weights.

    any container  →  one form  →  kinds and levels (once, in fit)  →  `Table`: numbers and codes
                      open         kinds, table.Reader                 read

===============  ===============================================================================
``table``        `Table`, and `Reader`, which reads every later table by what fit learned
``read``         what estimators call: reading, with scikit-learn's own checks around it
``open``         containers of any library in one form, and what is no table
``notes``        which columns are no features and why
``weights``      weights of samples and what they mean
===============  ===============================================================================
"""

from immigrate.kinds.column import ColumnWarning
from immigrate.table.notes import Note, Reason, in_order, messages
from immigrate.table.open import check_is_table
from immigrate.table.read import (
    check_values,
    chosen_columns,
    column_notes,
    left_out,
    read_table,
    read_training_table,
    read_weighted_table,
    typed_table,
)
from immigrate.table.table import Reader, Table
from immigrate.table.weights import SampleWeight

__all__ = [
    "ColumnWarning",
    "Note",
    "Reader",
    "Reason",
    "SampleWeight",
    "Table",
    "check_is_table",
    "check_values",
    "chosen_columns",
    "column_notes",
    "in_order",
    "left_out",
    "messages",
    "read_table",
    "read_training_table",
    "read_weighted_table",
    "typed_table",
]
