"""Tables with and without an interaction, and p-values to compare."""

from __future__ import annotations

import numpy as np

N_FEATURES = 6


def xor_data(n=240, p=N_FEATURES, seed=0, accuracy=0.9):
    """XOR of the first two features, some labels wrong, and a main effect of the third."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    is_case = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) > accuracy)
    return X, np.where(rng.random(n) < 0.15, X[:, 2] > 0, is_case).astype(int)


def additive_data(n=200, p=N_FEATURES, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] - X[:, 1] + rng.logistic(size=n) > 0).astype(int)


def p_by_pair(test):
    """p-values keyed by the set of names."""
    names = test.table_.filter(like="feature_").to_numpy()
    return {frozenset(row): p for row, p in zip(names, test.table_["p_value"])}


def assert_same_p_values(first, second, rtol=1e-6):
    a, b = p_by_pair(first), p_by_pair(second)
    assert a.keys() == b.keys()
    np.testing.assert_allclose([a[k] for k in a], [b[k] for k in a], rtol=rtol)
