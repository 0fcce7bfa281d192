"""A weight matrix as a table that people read."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone


def feature_share(W):
    """Share of each feature in the sum of all |W_ab|: its own weight and half of each pair's."""
    size = np.abs(W).sum(axis=0)
    return size / size.sum()


def interaction_table(W, names, top=None):
    """Every feature and every pair of features, strongest first.

    Parameters
    ----------
    W : ndarray of shape (p, p)
    names : array-like of p str
    top : int, optional
        Only this many rows.
    """
    import pandas as pd  # here, because it doubles the time that importing the library takes

    names = np.asarray(names, dtype=object)
    a, b = np.triu_indices(len(W))
    weight = W[a, b]
    size = np.abs(weight)
    order = np.argsort(-size, kind="stable")[:top]
    return pd.DataFrame(
        {
            "feature_1": names[a[order]],
            "feature_2": names[b[order]],
            "kind": np.where(a[order] == b[order], "main", "pair"),
            "weight": weight[order],
            "share": size[order] / size.sum(),
            "rank": np.arange(1, len(order) + 1),
        }
    )


def check_pair_test(test):
    """Refuse a test of triples where pairs are wanted."""
    if test.order != 2:
        raise ValueError(f"test has order={test.order}; pairs need InteractionTest(order=2).")


def with_p_values(table, test, X, y, names):
    """`table` with what `test`, fitted on `X` and `y`, says of each pair; NaN for the rest."""
    import pandas as pd

    check_pair_test(test)
    tested = clone(test).fit(pd.DataFrame(X, columns=list(names)), y).table_
    p_values = tested[["feature_1", "feature_2", "p_value", "p_adjusted"]]
    return table.merge(p_values, on=["feature_1", "feature_2"], how="left")
