"""What is to be explained: the label of every sample, read and checked.

===============  ===============================================================================
``classes``      classes, and the value `Labels` that every reading gives
``number``       a number
===============  ===============================================================================
"""

from immigrate.outcomes.classes import (
    Labels,
    check_class_sizes,
    read_classes,
    warn_of_other_order,
)
from immigrate.outcomes.number import is_number_outcome, read_numbers

OUTCOMES = ("auto", "class", "number")

__all__ = [
    "OUTCOMES",
    "Labels",
    "check_class_sizes",
    "is_number_outcome",
    "read_classes",
    "read_numbers",
    "warn_of_other_order",
]
