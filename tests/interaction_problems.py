"""Tables with and without an interaction, and p-values to compare."""

from __future__ import annotations

import numpy as np
import pandas as pd

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


PLANTED = [{"genotype", "smoker"}, {"BMI", "CRP"}]
"""The pairs that act together in `hospital_table`."""

NAMES_OF_NOTHING = {"identifier", "visit", "room", "ward"}
"""Its nominal columns of pure noise, with n, n / 2, n / 5 and 50 levels."""


def hospital_table(n=400, seed=0):
    """Two pairs that act together and one main effect, beside noise of all kinds.

    The pairs are strong enough to be found, so that the rest is tested against refitted models.
    """
    rng = np.random.default_rng(seed)
    genotype = rng.choice(["AA", "AG", "GG"], n, p=[0.35, 0.4, 0.25])
    smoker = rng.random(n) < 0.4
    bmi, log_crp, age = rng.normal(size=(3, n))
    is_exposed = (genotype == "GG") ^ smoker
    logit = 0.7 * age + 1.3 * (2 * is_exposed - 1) + 1.2 * bmi * log_crp
    frame = pd.DataFrame(
        {
            "genotype": genotype,
            "smoker": smoker,
            "BMI": 27 + 4 * bmi,
            "CRP": np.exp(log_crp),
            "age": 55 + 10 * age,
            "lab": rng.normal(size=n),
            "centre": rng.choice(["Basel", "Kraków", "Lima"], n),
            "dose": rng.choice([10, 20, 40], n),
            "identifier": [f"P{code}" for code in rng.permutation(n)],
            "visit": [f"day {code}" for code in rng.integers(0, n // 2, n)],
            "room": [f"room {code}" for code in rng.integers(0, n // 5, n)],
            "ward": [f"ward {code}" for code in rng.integers(0, 50, n)],
        }
    )
    return frame, rng.logistic(size=n) < logit


def found_pairs(test):
    """The pairs of `selected_` as sets of names."""
    return [set(row) for row in test.selected_[["feature_1", "feature_2"]].to_numpy()]
