"""What the paper printed: accuracies (%) of its tables 1 to 3 and their W,T,L rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pandas as pd

_FOLDER = Path(__file__).parent

# The method whose wins, ties and losses the last row of each table counts.
REFERENCE = {1: "B4G", 2: "IGT", 3: "BIM"}


@cache
def accuracies() -> pd.DataFrame:
    """One row for each printed number: table, data, method, accuracy in percent."""
    return pd.read_csv(_FOLDER / "accuracy.csv", dtype={"method": str, "data": str})


@cache
def win_tie_loss() -> pd.DataFrame:
    """The printed W,T,L of each table's reference method against each other method."""
    return pd.read_csv(_FOLDER / "win_tie_loss.csv", dtype={"method": str})


def table_methods(table: int) -> list[str]:
    """Columns of a table in the printed order."""
    rows = accuracies()
    return list(rows.loc[rows.table == table, "method"].drop_duplicates())


def table_datasets(table: int) -> list[str]:
    """Rows of a table in the printed order."""
    rows = accuracies()
    return list(rows.loc[rows.table == table, "data"].drop_duplicates())
