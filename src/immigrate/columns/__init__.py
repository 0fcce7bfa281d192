"""One reader of tables for everybody: kinds, levels, units and gaps of columns, and labels.

    any container  →  columns in one form  →  kinds and levels (once, in fit)  →  numbers
      tables, objects     kinds                 choice, levels                     reader

`ColumnReader` holds what fit learned and reads every later table by it. `notes` says which
columns are no features and why, `units` what a difference of 1 is, `labels` what the classes
are. Estimators call `read_training_table` and `read_table`, which put scikit-learn's own checks
around the reading.
"""

from immigrate.columns.choice import (
    FROM_DTYPE,
    chosen_mask,
    meant_name,
    named_mask,
    named_position,
)
from immigrate.columns.estimator_input import (
    TrainingTable,
    check_values,
    read_table,
    read_training_table,
    typed_table,
)
from immigrate.columns.kinds import Kind
from immigrate.columns.labels import (
    Labels,
    check_class_sizes,
    is_number_outcome,
    read_labels,
    read_numbers,
    warn_of_other_order,
)
from immigrate.columns.left_out import column_notes, left_out
from immigrate.columns.no_table import check_is_table
from immigrate.columns.notes import Note, Reason, in_order, messages, warn_of
from immigrate.columns.reader import ColumnReader
from immigrate.columns.units import difference_units
from immigrate.columns.warning import ColumnWarning

__all__ = [
    "FROM_DTYPE",
    "ColumnReader",
    "ColumnWarning",
    "Kind",
    "Labels",
    "Note",
    "Reason",
    "TrainingTable",
    "check_class_sizes",
    "check_is_table",
    "check_values",
    "chosen_mask",
    "column_notes",
    "difference_units",
    "in_order",
    "is_number_outcome",
    "left_out",
    "meant_name",
    "messages",
    "named_mask",
    "named_position",
    "read_labels",
    "read_numbers",
    "read_table",
    "read_training_table",
    "typed_table",
    "warn_of",
    "warn_of_other_order",
]
