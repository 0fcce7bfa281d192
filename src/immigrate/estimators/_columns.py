"""From a table with categories to numbers, and which of the columns are nominal."""

from __future__ import annotations

from numbers import Number

import numpy as np
import pandas as pd


def is_categorical(column: pd.Series) -> bool:
    """Whether the values of a column are names rather than numbers."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return True
    is_text = pd.api.types.is_object_dtype(column.dtype)
    is_text |= pd.api.types.is_string_dtype(column.dtype)
    return is_text and not _holds_numbers(column)


def _holds_numbers(column: pd.Series) -> bool:
    """Whether all known values of a column of objects are numbers; "1" is a name."""
    return all(isinstance(value, Number) for value in column.dropna())


def _holds_dates(column: pd.Series) -> bool:
    is_date = pd.api.types.is_datetime64_any_dtype(column)
    is_date |= pd.api.types.is_timedelta64_dtype(column)
    return is_date or isinstance(column.dtype, pd.PeriodDtype)


def _check_no_dates(X: pd.DataFrame) -> None:
    for name, column in X.items():
        if _holds_dates(column):
            raise ValueError(
                f"Column {name!r} holds dates or times. Turn it into a number first, such as "
                "days since a start, or into a category."
            )


def _level_codes(column: pd.Series) -> np.ndarray:
    """Index of each value among the sorted levels, NaN where missing."""
    try:
        codes = column.astype("category").cat.codes.to_numpy(dtype=float)
    except TypeError as error:
        raise ValueError(
            f"Column {column.name!r} holds neither numbers nor names: {error}."
        ) from None
    return np.where(codes < 0, np.nan, codes)


def numeric_table(X: object) -> tuple[object, list[int]]:
    """`X` with categorical columns of a DataFrame as level codes, and which those were.

    Anything that is not a DataFrame comes back as it is. Ordered categories become numbers
    and are not listed: their order is information.
    """
    if not isinstance(X, pd.DataFrame):
        return X, []
    _check_no_dates(X)
    is_named = [is_categorical(X.iloc[:, j]) for j in range(X.shape[1])]
    nominal = [
        j
        for j, named in enumerate(is_named)
        if named and not getattr(X.dtypes.iloc[j], "ordered", False)
    ]
    is_object = [pd.api.types.is_object_dtype(dtype) for dtype in X.dtypes]
    if not any(is_named) and not any(is_object):
        return X, []
    columns = [
        _level_codes(X.iloc[:, j])
        if named
        else X.iloc[:, j].to_numpy(dtype=float, na_value=np.nan)
        for j, named in enumerate(is_named)
    ]
    return pd.DataFrame(np.column_stack(columns), columns=X.columns, index=X.index), nominal


def with_categories(X: object, nominal: list[int]) -> object:
    """`X` with the columns at these positions as categories; an array comes back as it is."""
    if not isinstance(X, pd.DataFrame):
        return X
    return X.astype({X.columns[j]: "category" for j in nominal})


def column_indices(chosen: object, names: list[str]) -> list[int]:
    """Positions of columns given as a mask, as indices or as names."""
    if chosen is None:
        return []
    items = np.asarray(chosen, dtype=object)
    if items.ndim != 1:
        raise ValueError(
            f"categorical_features must be a list of names or indices or a mask, got {chosen!r}."
        )
    if all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != len(names):
            raise ValueError(
                f"categorical_features has {len(items)} entries for {len(names)} features."
            )
        return np.flatnonzero(items.astype(bool)).tolist()
    return [_column_index(item, names) for item in items.tolist()]


def _column_index(item: object, names: list[str]) -> int:
    if isinstance(item, str) and item in names:
        return names.index(item)
    if isinstance(item, int | np.integer) and -len(names) <= item < len(names):
        return int(item) % len(names)
    raise ValueError(
        f"categorical_features has {item!r}, which is neither a feature name nor an index "
        f"below {len(names)}."
    )
