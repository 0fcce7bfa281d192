"""What is given in place of a table by mistake, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd


def check_is_table(X: Any) -> None:
    """Refuse what no reading makes a table of; arrays and lists are left to scikit-learn.

    Examples
    --------
    >>> from immigrate.columns.no_table import check_is_table
    >>> check_is_table([[1, 2], [3, 4]])
    """
    if isinstance(X, pd.Series | pd.Index) or _is_polars_series(X):
        raise one_column_refused(X)
    if isinstance(X, str | bytes | PathLike):
        raise TypeError(
            f"X is {X!r}, a text; a table was expected. If it names a file, read it first, for "
            "example with pandas.read_csv."
        )
    if isinstance(X, Iterator):
        raise TypeError(
            f"X is a {type(X).__name__}, which can be read only once; a table was expected. Give "
            "list(X)."
        )
    if _holds_names(X):
        raise TypeError(
            f"X is {_form(X)}; a table was expected. Turn it into one with pandas.DataFrame(X)."
        )


def one_column_refused(X: Any) -> ValueError:
    """The error for one column, or one row, in place of a table."""
    return ValueError(
        f"X is one column, a {type(X).__name__} of {type(X).__module__.split('.')[0]}; a table of "
        "rows and columns was expected. The table comes first and the label second, fit(X, y). A "
        "table of one column is X.to_frame(); for one row, give a table of one row."
    )


def _is_polars_series(X: Any) -> bool:
    return type(X).__name__ == "Series" and type(X).__module__.split(".")[0] == "polars"


def _holds_names(X: Any) -> bool:
    is_structured = isinstance(X, np.ndarray) and X.dtype.names is not None
    are_dicts = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)
    return is_structured or are_dicts or isinstance(X, Mapping)


def _form(X: Any) -> str:
    if isinstance(X, np.ndarray):
        return "a structured array"
    return f"a {type(X).__name__}" + ("" if isinstance(X, Mapping) else " of dictionaries")
