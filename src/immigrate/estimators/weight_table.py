"""A weight matrix as a table that people read, and the test that is put before it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from immigrate.arrays import Array, Codes
from immigrate.estimators.interaction_test import InteractionTest

PAIR = ["feature_1", "feature_2"]
EVIDENCE = ["p_value", "p_adjusted", "is_found", "size", "size_low", "size_high", "direction"]
WEIGHT = ["weight", "share", "rank"]
# What stands where the test says nothing.
ABSENT: dict[str, Any] = dict.fromkeys(EVIDENCE, np.nan) | {"is_found": False, "direction": ""}


def feature_share(W: Array) -> Array:
    """Share of each feature's row in the sum of all |W_ab|: its own weight and its pairs'."""
    size: Array = np.abs(W).sum(axis=0)
    return size / size.sum()


def interaction_table(W: Array, size: Array, names: Any) -> pd.DataFrame:
    """Every feature and every pair of features, strongest first.

    Parameters
    ----------
    W : ndarray of shape (p, p)
    size : ndarray of shape (p, p)
        |W|; where a column has a weight per level, the sum of their sizes.
    names : array-like of p str
    """
    names = np.asarray(names, dtype=object)
    a, b = np.triu_indices(len(W))
    weight = W[a, b]
    size = size[a, b]
    order = np.argsort(-without_rounding(size), kind="stable")
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


def evidence_table(weights: pd.DataFrame, test: InteractionTest) -> pd.DataFrame:
    """Every feature and pair by evidence, with the weights that the model gives them.

    Rows of `weights`, and those of the test that have no weight because of a screen.
    """
    names = np.array([str(name) for name in test._effect_source.table.reader.names], dtype=object)
    tested = evidence_rows(test).pipe(_by_place, names)
    weighed = _by_place(weights, names)
    # Rows are known by their place in the matrix of all features; either table may lack some.
    rows = tested.index.union(weighed.index, sort=False)
    a, b = np.divmod(rows.to_numpy(), len(names))
    table = pd.DataFrame(
        {
            **term_columns(names, a, b),
            **{name: _values(tested[name], rows, ABSENT[name]) for name in EVIDENCE},
            **{name: _values(weighed[name], rows, 0) for name in WEIGHT},
        }
    )
    order = np.lexsort(
        (
            -without_rounding(table["share"].to_numpy()),
            without_rounding(table["p_value"].to_numpy()),
            # Approximate p-values, which have no adjusted one, after the exact ones.
            table["p_adjusted"].isna(),
            ~table["is_found"],
        )
    )
    table = table.iloc[order].reset_index(drop=True)
    is_unused = table["rank"] == 0
    # What did not pass a screen has no weight to be ranked by, and comes last.
    table.loc[is_unused, "rank"] = len(weights) + np.arange(1, is_unused.sum() + 1)
    return table


def evidence_rows(test: InteractionTest) -> pd.DataFrame:
    """The features and pairs of a test as one table: the names and what there is to say."""
    features = test.features_.rename(columns={"feature": "feature_1"})
    is_shown = features["p_adjusted"] <= test._fitted_as["alpha"]
    features = features.assign(feature_2=features["feature_1"], is_found=is_shown)
    parts = [part[[*PAIR, *EVIDENCE]] for part in (features, test.table_) if len(part)]
    # An empty part would have a say in the types of the columns.
    return pd.concat(parts or [features[[*PAIR, *EVIDENCE]]], ignore_index=True)


def _by_place(table: pd.DataFrame, names: Array) -> pd.DataFrame:
    """`table` with each row known by its place in the matrix of all features."""
    place = {name: i for i, name in enumerate(names)}
    first = table["feature_1"].map(place).to_numpy(dtype=np.intp)
    # A main effect has no second feature.
    second = table["feature_2"].where(table["feature_2"].notna(), table["feature_1"])
    return table.set_axis(first * len(names) + second.map(place).to_numpy(dtype=np.intp))


def _values(column: pd.Series[Any], rows: pd.Index[Any], absent: Any) -> Any:
    return column.reindex(rows, fill_value=absent).to_numpy()


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


def fitted_pair_test(test: Any, names: Any) -> InteractionTest:
    """A fitted test of pairs of the features with these names; anything else is refused."""
    if not isinstance(test, InteractionTest):
        raise ValueError(f"test must be None or a fitted InteractionTest, got {test!r}.")
    if not hasattr(test, "table_"):
        raise ValueError(f"{test!r} is not fitted; fit it on the same table first.")
    if test._fitted_as["order"] != 2:
        raise ValueError("test has order=3; pairs need InteractionTest(order=2).")
    unknown = [
        name for name in names if name not in set(map(str, test._effect_source.table.reader.names))
    ]
    if unknown:
        raise ValueError(
            f"test was fitted on a table without {unknown[0]!r}, a feature of the model; fit it "
            "on the same table."
        )
    return test
