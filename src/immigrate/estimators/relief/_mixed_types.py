"""Which columns are categorical, and their categories as codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from immigrate.typing import Array, Mask

FROM_DTYPE = "from_dtype"


def text_as_codes(X: Any) -> tuple[Any, Mask | None]:
    """A data frame with category and text columns as codes, and their mask; else `X` and None.

    Missing categories become NaN.
    """
    if not isinstance(X, pd.DataFrame):
        return X, None
    is_text = np.array([_is_text(X.iloc[:, f]) for f in range(X.shape[1])], dtype=bool)
    if not is_text.any():
        return X, is_text
    columns = [
        _codes(X.iloc[:, f]) if is_text[f] else X.iloc[:, f].to_numpy() for f in range(X.shape[1])
    ]
    coded = pd.DataFrame(dict(enumerate(columns)), index=X.index)
    coded.columns = X.columns
    return coded, is_text


def categorical_mask(
    categorical_features: Any,
    n_features: int,
    names: np.ndarray | None = None,
    is_text: Mask | None = None,
) -> Mask:
    """Mask of the categorical columns from a mask, indices, names or "from_dtype"."""
    is_text = np.zeros(n_features, dtype=bool) if is_text is None else is_text
    if isinstance(categorical_features, str) and categorical_features == FROM_DTYPE:
        return is_text
    mask = _mask(categorical_features, n_features, names)
    if (is_text & ~mask).any():
        column = np.flatnonzero(is_text & ~mask)[0]
        raise ValueError(
            f"Column {column if names is None else names[column]!r} holds categories, but "
            "categorical_features leaves it out. Add it, or use categorical_features='from_dtype'."
        )
    return mask


def _mask(categorical_features: Any, n_features: int, names: np.ndarray | None) -> Mask:
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    given = np.atleast_1d(np.asarray(categorical_features))
    if given.size == 0:
        return mask
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features is a mask of shape {given.shape}; X has {n_features} "
                f"features, so it must be ({n_features},)."
            )
        return given
    if given.dtype.kind in "OU" and all(isinstance(name, str) for name in given):
        mask[_positions(given, names)] = True
    elif given.dtype.kind in "iu":
        _check_range(given, n_features)
        mask[given] = True
    else:
        raise ValueError(
            f"categorical_features={categorical_features!r} is not understood; give a mask, "
            "column indices, column names, 'from_dtype' or None."
        )
    return mask


def _positions(given: np.ndarray, names: np.ndarray | None) -> list[int]:
    known = [] if names is None else list(names)
    unknown = [str(name) for name in given if name not in known]
    if unknown:
        where = "X has no column names" if names is None else f"the columns of X are {known[:10]}"
        raise ValueError(
            f"categorical_features names {unknown[0]!r}, but {where}. "
            "Use column indices or a mask, or fit on a data frame with that column."
        )
    return [known.index(name) for name in given]


def _check_range(indices: np.ndarray, n_features: int) -> None:
    outside = indices[(indices < -n_features) | (indices >= n_features)]
    if outside.size:
        raise ValueError(
            f"categorical_features has index {outside[0]}, but X has {n_features} features."
        )


def _is_text(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(column)


def _codes(column: pd.Series) -> Array:
    codes, _ = pd.factorize(column, sort=False)
    return np.where(codes < 0, np.nan, codes.astype(float))
