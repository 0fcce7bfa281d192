"""The user's table in one form: all numbers at once where there is nothing else, or columns.

pandas, arrays                      here
objects, polars, Arrow, no table    containers
collections of Dask                 whoever registers in `OPENERS`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from immigrate.arrays import unmasked
from immigrate.kinds.column import Column, Content
from immigrate.table.containers import (
    arrow_frame,
    check_is_table,
    check_stay_apart,
    complex_refused,
    object_column,
    polars_columns,
)

NUMERIC, TEXT_OR_OBJECT, DATES = "fiub", "OUST", "mM"
# By the library of a table that no memory holds: from table, label and weights to those of a
# sample of its rows, and words about it.
Opener = Callable[[Any, Any, Any], tuple[Any, Any, Any, str]]
OPENERS: dict[str, Opener] = {}


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
