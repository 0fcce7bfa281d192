"""A weight matrix as a table that people read, and the test that is put before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes
from immigrate.estimators._interaction_test import InteractionTest


def feature_share(W: Array) -> Array:
    """Share of each feature's row in the sum of all |W_ab|: its own weight and its pairs'."""
    size: Array = np.abs(W).sum(axis=0)
    return size / size.sum()


def interaction_table(W: Array, size: Array, names: Any, top: int | None = None) -> pd.DataFrame:
    """Every feature and every pair of features, strongest first.

    Parameters
    ----------
    W : ndarray of shape (p, p)
    size : ndarray of shape (p, p)
        |W|; where a column has a weight per level, the sum of their sizes.
    names : array-like of p str
    top : int, optional
        Only this many rows.
    """
    names = np.asarray(names, dtype=object)
    a, b = np.triu_indices(len(W))
    weight = W[a, b]
    size = size[a, b]
    order = np.argsort(-without_rounding(size), kind="stable")[:top]
    a, b = a[order], b[order]
    return pd.DataFrame(
        {
            **term_columns(names, a, b),
            "weight": weight[order],
            "share": size[order] / size.sum(),
            "rank": np.arange(1, len(order) + 1),
        }
    )


def without_rounding(size: Array) -> Array:
    """Sizes to nine digits: what differs by rounding alone keeps the order of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.estimators.weight_table import without_rounding
    >>> one, other = without_rounding(np.array([0.1 + 0.2, 0.3]))
    >>> bool(one == other)
    True
    """
    # Digits that count, and not decimals: sizes of any magnitude are rounded alike.
    _, exponent = np.frexp(size)
    digits: Array = np.ldexp(np.round(np.ldexp(size, -exponent), 9), exponent)
    return digits


def term_columns(names: NDArray[np.object_], a: Codes, b: Codes) -> dict[str, Any]:
    """Names and kind of the entries (a, b) of a matrix; a main effect has one name."""
    return {
        "feature_1": names[a],
        # As objects: a column of text would turn None into NaN.
        "feature_2": pd.Series([None if i == j else names[j] for i, j in zip(a, b)], dtype=object),
        "kind": np.where(a == b, "main", "pair"),
    }


def is_false(value: Any) -> bool:
    """Whether a switch is off, in Python's or NumPy's way of saying it."""
    return isinstance(value, bool | np.bool_) and not value


def pair_test(test: Any) -> InteractionTest:
    """The test that `test` stands for: True is the default one; one of triples is refused."""
    if isinstance(test, bool | np.bool_) and test:
        return InteractionTest()
    if not isinstance(test, BaseEstimator) or not hasattr(test, "order"):
        raise ValueError(f"test must be True, False, None or an InteractionTest, got {test!r}.")
    if test.order != 2:
        raise ValueError(f"test has order={test.order}; pairs need InteractionTest(order=2).")
    return test
