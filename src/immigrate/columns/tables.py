"""Tables of any container as columns in one form; numeric arrays are left as they are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from immigrate.columns.kinds import Column, Content
from immigrate.columns.no_table import check_is_table, one_column_refused
from immigrate.columns.objects import (
    check_stay_apart,
    complex_refused,
    object_array,
    object_column,
    unmasked,
)

NUMERIC, TEXT_OR_OBJECT, DATES = "fiub", "OUST", "mM"


@dataclass(frozen=True, eq=False)
class Table:
    """Columns, and what scikit-learn is to be told about their names.

    Attributes
    ----------
    columns : list of Column
        Named distinctly.
    n_rows : int
    header : list or None
        Labels of a data frame, made distinct; None for an array.
    repeated : tuple of (int, int)
        Positions of a column and of the earlier one of the same name.
    """

    columns: list[Column]
    n_rows: int
    header: list[Any] | None
    repeated: tuple[tuple[int, int], ...] = ()


def opened(X: Any) -> Table | Any:
    """`X` as a `Table`, or as an array where all is numeric or scikit-learn has to refuse it."""
    polars = sys.modules.get("polars")
    if isinstance(X, pd.DataFrame):
        return _pandas_table(X)
    if sparse.issparse(X):  # scikit-learn refuses it; one of its forms is a dictionary
        return X
    check_is_table(X)
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise TypeError(
            "X is a polars LazyFrame, which has no values yet; a table was expected. Call "
            "X.collect() first."
        )
    if polars is not None and isinstance(X, polars.DataFrame):
        columns = [_polars_column(name, X[name], polars) for name in X.columns]
        return Table(columns, X.height, list(X.columns))
    # After pandas and polars, which speak Arrow too and are read by their own types.
    if hasattr(X, "__arrow_c_stream__"):
        return _pandas_table(_from_arrow(X))
    if hasattr(X, "__dataframe__"):
        raise TypeError(
            f"X is a {type(X).__name__} of {type(X).__module__.split('.')[0]}, whose columns "
            "cannot be read here; a table of pandas, polars or Arrow was expected. Turn it into "
            "one first, for example with X.to_pandas()."
        )
    return _array_table(X)


def _from_arrow(X: Any) -> pd.DataFrame:
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


def default_names(count: int) -> list[str]:
    """x0, x1, ..., the names that scikit-learn gives to columns without one."""
    return [f"x{j}" for j in range(count)]


def distinct_labels(labels: Sequence[Any]) -> tuple[list[Any], tuple[tuple[int, int], ...]]:
    """Labels with repeats numbered as `pandas.read_csv` does, and the pairs that were equal.

    Examples
    --------
    >>> from immigrate.columns.tables import distinct_labels
    >>> distinct_labels(["lab", "age", "lab", "lab.1"])
    (['lab', 'age', 'lab.2', 'lab.1'], ((2, 0),))
    """
    taken, seen = set(labels), Counter[Any]()
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


def _pandas_table(X: pd.DataFrame) -> Table:
    labels = X.columns.to_list()
    is_text = [isinstance(label, str) for label in labels]
    if not any(is_text):
        # scikit-learn keeps names only where they are text.
        return Table(_pandas_columns(X, default_names(len(labels))), len(X), None)
    header, repeated = distinct_labels(labels)
    # It refuses names of which only some are text, and has to see them for that.
    names = header if all(is_text) else default_names(len(labels))
    return Table(_pandas_columns(X, names), len(X), header, repeated)


def _pandas_columns(X: pd.DataFrame, names: list[str]) -> list[Column]:
    dtypes = X.dtypes.to_list()
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in dtypes):
        return [_pandas_column(name, X.iloc[:, j]) for j, name in enumerate(names)]
    is_single = bool(dtypes) and all(dtype == np.float32 for dtype in dtypes)
    # One conversion for all: a table of genes has tens of thousands of columns.
    block = X.to_numpy(dtype=np.float32 if is_single else np.float64)
    for j, dtype in enumerate(dtypes):
        if dtype.kind in "iu":
            check_stay_apart(names[j], X.iloc[:, j].to_numpy())
    return [
        Column(name, Content.NUMBERS, block[:, j], str(block.dtype))
        for j, name in enumerate(names)
    ]


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


def _array_table(X: Any) -> Table | Any:
    if isinstance(X, np.ma.MaskedArray):
        X = unmasked(X)
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X)
    except (ValueError, TypeError):  # rows of different lengths, say: scikit-learn says what
        return X
    if array.ndim != 2:
        return array
    names = default_names(array.shape[1])
    if array.dtype.kind in "iu":
        for name, values in zip(names, array.T):
            check_stay_apart(name, values)
    if array.dtype.kind not in TEXT_OR_OBJECT + DATES:
        return array
    if array.dtype.kind in DATES:
        dates = [Column(name, Content.DATES, array[:0, 0], str(array.dtype)) for name in names]
        return Table(dates, len(array), None)
    # From a list NumPy makes text of every number that stands beside a text.
    objects = _objects(X if not isinstance(X, np.ndarray) else array)
    return Table(
        [object_column(name, objects[:, j]) for j, name in enumerate(names)], len(array), None
    )


def _objects(X: Any) -> NDArray[Any]:
    return X.astype(object) if isinstance(X, np.ndarray) else np.array(X, dtype=object)
