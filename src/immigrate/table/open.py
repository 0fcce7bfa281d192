"""The user's table in one form: all numbers at once where there is nothing else, or columns.

pandas, arrays, polars and Arrow are read here, and what is no table is refused; tables that no
memory holds are those of whoever registers in `OPENERS`.
"""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from immigrate.arrays import unmasked
from immigrate.kinds.column import (
    FLAG_TYPES,
    NUMBER_TYPES,
    Column,
    Content,
    as_float,
    as_floats,
)

NUMERIC, TEXT_OR_OBJECT, DATES = "fiub", "OUST", "mM"
# By the library of a table that no memory holds: from table, label and weights to those of a
# sample of its rows, and words about it.
Opener = Callable[[Any, Any, Any], tuple[Any, Any, Any, str]]
OPENERS: dict[str, Opener] = {}
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


@dataclass(frozen=True, eq=False)
class Opened:
    """A table of any container, before its columns are read.

    Attributes
    ----------
    names : tuple of str
        Distinct; x0, x1, ... where the table has none.
    columns : list of Column or None
        None where all are numbers, or all flags.
    values : ndarray of shape (n, p) or None
        All columns at once, where there are no others than numbers or flags.
    n_rows : int
    header : list or None
        Labels of a data frame, made distinct; None for an array, or without names.
    repeated : tuple of (int, int)
        Positions of a column and of the earlier one of the same name.
    is_frame : bool
        Whether the columns had types of their own.
    """

    names: tuple[str, ...]
    columns: list[Column] | None
    values: NDArray[Any] | None
    n_rows: int
    header: list[Any] | None = None
    repeated: tuple[tuple[int, int], ...] = ()
    is_frame: bool = False


def opened(X: Any) -> Opened | Any:
    """`X` in one form; as it is, or as an array, where scikit-learn has to refuse it."""
    if isinstance(X, pd.DataFrame):
        return _opened_frame(X)
    if sparse.issparse(X):  # scikit-learn refuses it; one of its forms is a dictionary
        return X
    if not isinstance(X, np.ndarray) or X.dtype.names is not None:
        check_is_table(X)
        columns = polars_columns(X)
        if columns is not None:
            header = list(X.columns)
            return Opened(tuple(header), columns, None, X.height, header, is_frame=True)
        # After pandas and polars, which speak Arrow too and are read by their own types.
        if hasattr(X, "__arrow_c_stream__"):
            return _opened_frame(arrow_frame(X))
        if hasattr(X, "__dataframe__"):
            raise TypeError(
                f"X is a {type(X).__name__} of {type(X).__module__.split('.')[0]}, whose columns "
                "cannot be read here; a table of pandas, polars or Arrow was expected. Turn it "
                "into one first, for example with X.to_pandas()."
            )
    return _opened_array(X)


def default_names(count: int) -> tuple[str, ...]:
    """x0, x1, ..., the names that scikit-learn gives to columns without one."""
    return tuple(f"x{j}" for j in range(count))


def distinct_labels(labels: Sequence[Any]) -> tuple[list[Any], tuple[tuple[int, int], ...]]:
    """Labels with repeats numbered as `pandas.read_csv` does, and the pairs that were equal.

    Examples
    --------
    >>> from immigrate.table.open import distinct_labels
    >>> distinct_labels(["lab", "age", "lab", "lab.1"])
    (['lab', 'age', 'lab.2', 'lab.1'], ((2, 0),))
    """
    taken, seen = set(labels), Counter[Any]()
    if len(taken) == len(labels):
        return list(labels), ()
    first: dict[Any, int] = {}
    distinct, repeated = list(labels), []
    for j, label in enumerate(labels):
        if first.setdefault(label, j) == j:
            continue
        # A numbered name may be that of another column.
        while distinct[j] in taken:
            seen[label] += 1
            distinct[j] = f"{label}.{seen[label]}"
        taken.add(distinct[j])
        repeated.append((j, first[label]))
    return distinct, tuple(repeated)


def _opened_frame(X: pd.DataFrame) -> Opened:
    labels, dtypes = X.columns.to_list(), X.dtypes.to_list()
    is_text = [isinstance(label, str) for label in labels]
    header: list[Any] | None = None
    repeated: tuple[tuple[int, int], ...] = ()
    # scikit-learn keeps names only where they are text. It refuses names of which only some are,
    # and has to see them for that.
    if any(is_text):
        header, repeated = distinct_labels(labels)
    names = tuple(header) if header and all(is_text) else default_names(len(labels))
    columns, values = None, None
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in dtypes):
        is_single = bool(dtypes) and all(dtype == np.float32 for dtype in dtypes)
        for j, dtype in enumerate(dtypes):
            if dtype.kind in "iu":
                check_stay_apart(names[j], X.iloc[:, j].to_numpy())
        # One conversion for all: a table of genes has tens of thousands of columns. Never the
        # memory of the user's frame.
        block = X.to_numpy(dtype=np.float32 if is_single else np.float64)
        values = np.array(block, order="C")
    else:
        columns = [_pandas_column(name, X.iloc[:, j]) for j, name in enumerate(names)]
    return Opened(names, columns, values, len(X), header, repeated, is_frame=True)


def _pandas_column(name: str, series: pd.Series[Any]) -> Column:
    dtype: Any = series.dtype
    type_name = str(dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        categories, is_ordered = tuple(dtype.categories), bool(dtype.ordered)
        values = np.asarray(series, dtype=object)
        return Column(name, Content.NAMES, values, type_name, categories, is_ordered)
    if getattr(dtype, "kind", "O") in DATES or isinstance(dtype, pd.PeriodDtype):
        return Column(name, Content.DATES, np.empty(0), type_name)
    if pd.api.types.is_bool_dtype(dtype):
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(name, Content.FLAGS, values, type_name)
    if pd.api.types.is_complex_dtype(dtype):
        raise complex_refused(name)
    if pd.api.types.is_numeric_dtype(dtype):
        is_single = getattr(dtype, "kind", "") == "f" and getattr(dtype, "itemsize", 8) == 4
        if pd.api.types.is_integer_dtype(dtype):
            check_stay_apart(name, series.dropna().to_numpy())
        values = series.to_numpy(dtype=np.float32 if is_single else np.float64, na_value=np.nan)
        return Column(name, Content.NUMBERS, values, type_name)
    return object_column(name, series.to_numpy(dtype=object))


def _opened_array(X: Any) -> Opened | Any:
    if isinstance(X, np.ma.MaskedArray):
        X = unmasked(X)
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X)
    except (ValueError, TypeError):  # such as rows of different lengths: scikit-learn says what
        return X
    if array.ndim != 2:
        return array
    names = default_names(array.shape[1])
    if array.dtype.kind in "iu":
        for name, values in zip(names, array.T):
            check_stay_apart(name, values)
    if array.dtype.kind in DATES:
        dates = [Column(name, Content.DATES, array[:0, 0], str(array.dtype)) for name in names]
        return Opened(names, dates, None, len(array))
    if array.dtype.kind in TEXT_OR_OBJECT:
        # From a list NumPy makes text of every number that stands beside a text.
        objects = X.astype(object) if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        columns = [object_column(name, objects[:, j]) for j, name in enumerate(names)]
        return Opened(names, columns, None, len(array))
    if array.dtype.kind not in NUMERIC:
        return array
    return Opened(names, None, array, len(array))


def object_column(name: str, values: NDArray[Any]) -> Column:
    """A column of objects; "1" is a name, 1 a number, True a flag."""
    is_missing = np.asarray(pd.isna(values))
    types = set(map(type, values[~is_missing]))
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
    >>> from immigrate.table.open import check_stay_apart
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
    # `np.array` would unpack lists into a second dimension.
    values = np.fromiter(series.to_list(), dtype=object, count=len(series))
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
    >>> from immigrate.table.open import check_is_table
    >>> check_is_table([[1, 2], [3, 4]])
    """
    library = type(X).__module__.split(".")[0]
    is_polars_series = library == "polars" and type(X).__name__ == "Series"
    if isinstance(X, pd.Series | pd.Index) or is_polars_series:
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
    form = ""
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        form = "structured array"
    elif isinstance(X, Mapping):
        form = type(X).__name__
    elif isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping):
        form = f"{type(X).__name__} of dictionaries"
    if form:
        raise TypeError(
            f"X is a {form}; a table was expected. Turn it into one with pandas.DataFrame(X)."
        )


def one_column_refused(X: Any) -> ValueError:
    """The error for one column, or one row, in place of a table."""
    return ValueError(
        f"X is one column, a {type(X).__name__} of {type(X).__module__.split('.')[0]}; a table of "
        "rows and columns was expected. The table comes first and the label second, fit(X, y). A "
        "table of one column is X.to_frame(); for one row, give a table of one row."
    )
