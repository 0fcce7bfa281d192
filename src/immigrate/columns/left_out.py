"""Which columns of a table a report or a command leaves out, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from immigrate.columns.choice import FROM_DTYPE, chosen_mask
from immigrate.columns.kinds import Content
from immigrate.columns.notes import Note, Reason, in_order
from immigrate.columns.reader import read_first
from immigrate.columns.tables import Table, opened


def left_out(X: Any, categorical_features: Any = FROM_DTYPE) -> tuple[Note, ...]:
    """Columns that can be no feature: dates, identifiers, constants, columns without a value.

    Parameters
    ----------
    X : data frame or array-like of shape (n, p)
    categorical_features : see `ColumnReader.fit`

    Returns
    -------
    tuple of Note
        In the order of the columns. An estimator refuses dates and keeps constants, which do
        no harm; it leaves the others out by itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.columns import left_out
    >>> X = pd.DataFrame({"day": pd.date_range("2021", periods=3), "dose": [1, 2, 3]})
    >>> [(note.name, note.reason.name) for note in left_out(X.assign(unit="mg"))]
    [('day', 'DATES'), ('unit', 'CONSTANT')]
    """
    return tuple(
        note
        for note in column_notes(X, categorical_features)
        if note.is_left_out or note.reason in (Reason.DATES, Reason.CONSTANT)
    )


def column_notes(X: Any, categorical_features: Any = FROM_DTYPE) -> tuple[Note, ...]:
    """All that there is to say about the columns of a table, dates included.

    Parameters
    ----------
    X : data frame or array-like of shape (n, p)
    categorical_features : see `ColumnReader.fit`

    Returns
    -------
    tuple of Note
        In the order of the columns.

    Examples
    --------
    >>> from immigrate.columns import column_notes
    >>> [(note.name, note.reason.name) for note in column_notes([[1, 2, 1], [3, 2, 3]])]
    [('x1', 'CONSTANT'), ('x2', 'COPY')]
    """
    source = opened(X)
    if not isinstance(source, Table):
        return read_first(source, categorical_features).finished()[0].notes
    dates: list[int] = []
    others: list[int] = []
    for j, column in enumerate(source.columns):
        (dates if column.content is Content.DATES else others).append(j)
    # Dates are refused by the reader: the other columns are read without them.
    reader, _ = read_first(*_without(source, others, categorical_features)).finished()
    notes = [replace(note, column=others[note.column]) for note in reader.notes]
    for j in dates:
        column = source.columns[j]
        notes.append(Note(j, column.name, Reason.DATES, column.type_name))
    return in_order(notes)


def _without(table: Table, kept: list[int], categorical_features: Any) -> tuple[Table, Any]:
    """The kept columns, and `categorical_features` for them as a mask."""
    mask = chosen_mask(categorical_features, [column.name for column in table.columns])
    place = {j: i for i, j in enumerate(kept)}
    repeated = tuple((place[j], place[k]) for j, k in table.repeated if {j, k} <= place.keys())
    columns = [table.columns[j] for j in kept]
    rest = Table(columns, table.n_rows, None, repeated)
    return rest, FROM_DTYPE if mask is None else mask[kept]
