"""One of every public estimator, for what all of them promise: a new one is in it by itself."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn.base import BaseEstimator

from immigrate.persistence import public_estimators

# What makes a fit short.
QUICK: dict[str, dict[str, Any]] = {
    "BoostedImmigrateClassifier": {"n_estimators": 3},
    "Simba": {"n_starts": 1},
}


def instances(**others: dict[str, Any]) -> list[BaseEstimator]:
    """One of each, quick and the same in every run; with other parameters where they are given."""
    return [
        seeded(cls, **{**QUICK.get(name, {}), **others.get(name, {})})
        for name, cls in public_estimators().items()
    ]


def seeded(cls: type[BaseEstimator], **parameters: Any) -> BaseEstimator:
    """An instance that draws the same in every run, if it draws at all."""
    if "random_state" in inspect.signature(cls).parameters:
        parameters.setdefault("random_state", 0)
    return cls(**parameters)
