"""Predictions for tables that no memory holds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from immigrate.cluster.partitions import is_collection, mapped_rows

Method = TypeVar("Method", bound=Callable[..., Any])


def by_partition(method: Method) -> Method:
    """Let a method that takes rows take a collection of Dask: it gives a lazy dask array then."""

    @wraps(method)
    def of_any_table(self: Any, X: Any = None) -> Any:
        if not is_collection(X):
            return method(self, X)
        check_is_fitted(self)
        name = method.__name__
        return mapped_rows(getattr(self, name), X, empty=values_of_no_rows(name, self.classes_))

    return cast(Method, of_any_table)


def values_of_no_rows(name: str, classes: np.ndarray) -> np.ndarray:
    """What a method gives for a table without rows: it shows the type and the columns."""
    if name == "predict":
        return classes[:0]
    is_one_margin = name == "decision_function" and len(classes) == 2
    return np.empty(0 if is_one_margin else (0, len(classes)))
