"""A table of columns of every kind, and every classifier that reads it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from immigrate import (
    BoostedImmigrateClassifier,
    CubicImmigrateClassifier,
    IM4EClassifier,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
)
from immigrate.options import Descent, Screen

# What each classifier is with `columns` and `class_weight` in the place where it takes them.
MAKERS = {
    "single": ImmigrateClassifier,
    "im4e": IM4EClassifier,
    "triples": CubicImmigrateClassifier,
    "path": lambda **options: ImmigrateClassifierCV(
        ImmigrateClassifier(**options), sigmas=[2.0, 0.5]
    ),
    "path by folds": lambda **options: ImmigrateClassifierCV(
        ImmigrateClassifier(**options), sigmas=[2.0, 0.5], cv=3
    ),
    "boosted": lambda **options: BoostedImmigrateClassifier(
        ImmigrateClassifier(solver=Descent(max_iter=5), **options), n_estimators=3
    ),
    "screened": partial(ImmigrateClassifier, screen=Screen(threshold=0.0)),
    "screened by pairs": partial(ImmigrateClassifier, screen=Screen("pairs", threshold=0.1)),
}


def messy_table():
    """Columns of every kind, some with missing values; a text and a number make the label."""
    rng = np.random.default_rng(5)
    n = 90
    X = pd.DataFrame(
        {
            "dose": 1000 * rng.normal(size=n),
            "ill": rng.integers(0, 2, n).astype(bool),
            "gene": rng.choice(["AA", "AG", "GG", "TT"], n),
            "site": rng.choice(["north", "south"], n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ordered=True),
        }
    )
    y = np.where((X["gene"] == "GG") ^ (X["dose"] > 300), "case", "control")
    for name in ("dose", "gene", "grade"):
        X.loc[rng.random(n) < 0.1, name] = None
    return X, y
