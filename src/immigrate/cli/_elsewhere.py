"""A name that is no column, but stands in a cell: below a title, at the side, or as a value."""

from __future__ import annotations

from typing import Any

import pandas as pd

# So many rows of a title, units and the like may stand above the names of the columns.
MOST_ROWS_ABOVE = 10


def where_it_stands(name: str, frame: pd.DataFrame) -> str:
    """What to do about a table that holds `name` in a cell; empty if it does not.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.cli._elsewhere import where_it_stands
    >>> where_it_stands("ill", pd.DataFrame({"age": [50, 60], "outcome": ["ill", "well"]}))
    "'ill' is a value of column 'outcome'."
    """
    if frame.shape[1] == 1:
        return (
            "All was read as one column: delete a title above the names of the columns, or say "
            "what stands between cells: --delimiter."
        )
    # The corner above names of rows is blank too, and no sign of a title.
    has_blank_names = any(one == f"column {j + 1}" for j, one in enumerate(frame.columns) if j)
    for j, column in enumerate(frame.columns):
        rows = _rows_with(name, frame[column])
        if not rows:
            continue
        if has_blank_names and rows[0] < MOST_ROWS_ABOVE:
            return (
                f"'{name}' stands in a lower row, but the first row is to hold the names of the "
                "columns: delete the rows above them in the file."
            )
        if j == 0 and len(rows) == 1 and frame[column].is_unique:
            return (
                f"'{name}' is the name of a row, but a row is to be a sample and a column a "
                "feature: transpose the table in the file."
            )
        return f"'{name}' is a value of column '{column}'."
    return ""


def _rows_with(name: str, cells: pd.Series[Any]) -> list[int]:
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return []
    return [row for row, cell in enumerate(cells) if isinstance(cell, str) and cell == name]
