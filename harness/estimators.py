"""One of every public estimator, for what all of them promise: a new one is in it by itself."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

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


def labels_for(estimator: BaseEstimator, labels: Any) -> Any:
    """The labels themselves, or numbers in their place for what explains numbers."""
    if isinstance(estimator, RegressorMixin):
        return np.unique(labels, return_inverse=True)[1]
    return labels
