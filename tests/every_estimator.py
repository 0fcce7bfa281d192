"""Every public estimator, for tests of what all of them promise: a new one is in it by itself."""

from __future__ import annotations

import inspect

from sklearn.base import BaseEstimator

import immigrate

# What makes a fit short.
QUICK = {
    "BoostedImmigrateClassifier": {"n_estimators": 3},
    "Relief": {"random_state": 0},
    "Simba": {"n_starts": 1, "random_state": 0},
    "StabilitySelection": {"n_splits": 2, "random_state": 0},
}


def public_estimators() -> dict[str, type[BaseEstimator]]:
    """Classes of the package that can be fitted, by name."""
    public = {name: getattr(immigrate, name) for name in immigrate.__all__}
    return {
        name: value
        for name, value in public.items()
        if inspect.isclass(value) and issubclass(value, BaseEstimator) and hasattr(value, "fit")
    }


def every_estimator() -> list[BaseEstimator]:
    """One of each."""
    return [cls(**QUICK.get(name, {})) for name, cls in public_estimators().items()]
