"""A weight matrix as a table that people read."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone

from immigrate.estimators._interaction_test import InteractionTest

PAIR = ["feature_1", "feature_2"]


def feature_share(W):
    """Share of each feature's row in the sum of all |W_ab|: its own weight and its pairs'."""
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


def is_false(value):
    """Whether a switch is off, in Python's or NumPy's way of saying it."""
    return isinstance(value, bool | np.bool_) and not value


def pair_test(test):
    """The test that `test` stands for: True is the default one; one of triples is refused."""
    if isinstance(test, bool | np.bool_) and test:
        return InteractionTest()
    if not isinstance(test, BaseEstimator) or not hasattr(test, "order"):
        raise ValueError(f"test must be True, False, None or an InteractionTest, got {test!r}.")
    if test.order != 2:
        raise ValueError(f"test has order={test.order}; pairs need InteractionTest(order=2).")
    return test


def with_p_values(table, test, samples, names):
    """`table` with what `test`, fitted on the samples (X, y, weight), says of each pair."""
    X, y, weight = samples
    frame = pd.DataFrame(X, columns=list(names))
    if len(names) < 2:
        return untested(table)
    return beside_test(table, clone(test).fit(frame, y, sample_weight=weight))


def untested(table):
    """`table` with the columns of a test that was not made."""
    return table.assign(p_value=np.nan, p_adjusted=np.nan, is_found=False)


def beside_test(table, test):
    """`table` with p-values and finds of a fitted test.

    P-values are NaN for main effects, and for pairs that the test does not list.
    """
    table = table.merge(test.table_[[*PAIR, "p_value", "p_adjusted"]], on=PAIR, how="left")
    found = pd.MultiIndex.from_frame(test.selected_[PAIR])
    return table.assign(is_found=pd.MultiIndex.from_frame(table[PAIR]).isin(found))
