"""The chosen columns of a table, as they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from immigrate.arrays import Array, Mask
from immigrate.columns import ColumnReader, Kind
from immigrate.progress import warn_user
from immigrate.scikit_learn import is_table_wanted


def chosen_columns(selector: Any, X: Any, values: Array) -> Any:
    """Columns of `X` that a fitted selector keeps, `values` being what its reader made of it.

    A pandas frame stays one, types and all, where `set_output` asks for a table. Else numbers
    are what was read, and an array of objects holds columns that are no numbers.
    """
    support = selector.get_support()
    if not support.any():
        warn_user(
            "No features were selected: either the data is too noisy or the threshold too high.",
            UserWarning,
        )
    if is_table_wanted(selector) and isinstance(X, pd.DataFrame):
        return X.iloc[:, support]
    if (is_plain_number(selector.column_reader_) | ~support).all():
        return values[:, support]
    return np.asarray(X, dtype=object)[:, support]


def is_plain_number(reader: ColumnReader) -> Mask:
    """Mask of the columns that are given as what they are read as."""
    is_number = [kind in (Kind.NUMBER, Kind.FLAG) for kind in reader.kinds]
    return np.array(is_number, dtype=bool) & reader.is_used
