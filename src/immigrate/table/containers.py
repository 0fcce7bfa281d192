"""Containers beside arrays and pandas: Python objects, polars, Arrow; and what is no table."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from immigrate.kinds.column import (
    FLAG_TYPES,
    NUMBER_TYPES,
    Column,
    Content,
    as_float,
    as_floats,
)

# pandas.Timestamp and pandas.Timedelta are subclasses of the first and the last.
DATE_TYPES = (
    datetime.date,
    datetime.time,
    np.datetime64,
    np.timedelta64,
    pd.Period,
    datetime.timedelta,
)
# Whole numbers up to here are floats without rounding.
MOST_EXACT = 2**53
COMPLEX_TYPES = (complex, np.complexfloating)


def object_array(items: Iterable[Any], count: int) -> NDArray[Any]:
    """One object per item; `np.array` would unpack lists into a second dimension."""
    return np.fromiter(items, dtype=object, count=count)


def object_column(name: str, values: NDArray[Any]) -> Column:
    """A column of objects; "1" is a name, 1 a number, True a flag."""
    is_missing = np.asarray(pd.isna(values))
    types = set(map(type, values[~is_missing]))
    _check_values(name, values, types)
    if any(issubclass(one, DATE_TYPES) for one in types):
        return Column(name, Content.DATES, values[:0], "object")
    if types and all(issubclass(one, FLAG_TYPES) for one in types):
        return Column(name, Content.FLAGS, as_floats(values, is_missing), "object")
    # A column without any value has nothing against being a number.
    if all(issubclass(one, NUMBER_TYPES) for one in types):
        if types and all(issubclass(one, int | np.integer) for one in types):
            check_stay_apart(name, values[~is_missing])
        return Column(name, Content.NUMBERS, as_floats(values, is_missing), "object")
    return Column(name, Content.NAMES, values, "object")


def check_stay_apart(name: str, numbers: NDArray[Any]) -> None:
    """Refuse different whole numbers that are one and the same float: most likely names.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.table.containers import check_stay_apart
    >>> check_stay_apart("id", np.array([2**53, 2**53 + 2]))
    """
    if not len(numbers) or (numbers.max() <= MOST_EXACT and numbers.min() >= -MOST_EXACT):
        return
    different = np.unique(numbers)
    floats = np.array([as_float(number) for number in different.tolist()])
    same = np.flatnonzero((floats[1:] == floats[:-1]) & np.isfinite(floats[1:]))
    if same.size:
        one, other = different[same[0] : same[0] + 2].tolist()
        raise ValueError(
            f"Column {name!r} holds {one} and {other}, which are one number where 15 digits are "
            "kept, as they are here. If they are names, turn them into text; if they are "
            "measured, subtract a common start."
        )


def complex_refused(name: str) -> ValueError:
    """The error for complex numbers, which have no order and so no range."""
    return ValueError(
        f"Complex data not supported: column {name!r} holds complex numbers. Give their real "
        "and imaginary parts as two columns."
    )


def polars_columns(X: Any) -> list[Column] | None:
    """The columns of a data frame of polars; None for anything else."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError(
            "X is a polars LazyFrame, which has no values yet; a table was expected. Call "
            "X.collect() first."
        )
    if polars is None or not isinstance(X, polars.DataFrame):
        return None
    return [_polars_column(name, X[name], polars) for name in X.columns]


def _polars_column(name: str, series: Any, polars: Any) -> Column:
    dtype, type_name = series.dtype, str(series.dtype)
    if dtype.is_temporal():
        return Column(name, Content.DATES, np.empty(0), type_name)
    if dtype == polars.Boolean:
        return Column(name, Content.FLAGS, series.cast(polars.Float64).to_numpy(), type_name)
    if dtype.is_numeric() or dtype == polars.Null:
        if dtype.is_integer():
            check_stay_apart(name, series.drop_nulls().to_numpy())
        as_float = polars.Float32 if dtype == polars.Float32 else polars.Float64
        return Column(name, Content.NUMBERS, series.cast(as_float).to_numpy(), type_name)
    values = object_array(series.to_list(), len(series))
    if isinstance(dtype, polars.Enum):
        # An Enum is how polars writes an ordered category; narwhals maps them alike. The
        # numbering of a Categorical is that of the process and says nothing.
        return Column(name, Content.NAMES, values, type_name, tuple(dtype.categories), True)
    return object_column(name, values)


def arrow_frame(X: Any) -> pd.DataFrame:
    """A table that speaks Arrow (of pyarrow, DuckDB and others) as a data frame of pandas."""
    try:
        import pyarrow
    except ImportError as error:
        raise TypeError(
            f"X is a {type(X).__name__}, a table of Arrow, which needs pyarrow to be read. "
            "Install it, or turn the table into one of pandas or polars first."
        ) from error
    try:
        table = pyarrow.table(X)
    except (pyarrow.ArrowInvalid, TypeError):
        raise one_column_refused(X) from None
    frame: pd.DataFrame = table.to_pandas()
    for name, dtype in frame.dtypes.items():
        if isinstance(dtype, pd.CategoricalDtype) and not dtype.ordered:
            # The order of a dictionary is that in which values were met, and says nothing.
            frame[name] = frame[name].cat.reorder_categories(sorted(dtype.categories))
    return frame


def check_is_table(X: Any) -> None:
    """Refuse what no reading makes a table of; arrays and lists are left to scikit-learn.

    Examples
    --------
    >>> from immigrate.table.containers import check_is_table
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


def _check_values(name: str, values: NDArray[Any], types: set[type]) -> None:
    for one in types:
        if issubclass(one, COMPLEX_TYPES):
            raise complex_refused(name)
        if getattr(one, "__hash__", None) is None:  # lists, dictionaries, sets, arrays
            row = next(i for i, value in enumerate(values) if type(value) is one)
            raise TypeError(
                f"Column {name!r} holds a {one.__name__} in row {row}, {values[row]!r}; every "
                "value of the argument must be a string or a number. Unpack it into columns "
                "of its own, or drop the column."
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
