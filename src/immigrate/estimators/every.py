"""All public estimators: what must forget none of them asks here and keeps no list of its own."""

from __future__ import annotations

import inspect

from sklearn.base import BaseEstimator

from immigrate import estimators, solvers
from immigrate.margin import prototypes


def every_estimator() -> dict[str, type[BaseEstimator]]:
    """Public classes with a `fit`, by their names."""
    return {name: cls for name, cls in every_class().items() if hasattr(cls, "fit")}


def every_class() -> dict[str, type[BaseEstimator]]:
    """Public estimators and the options that they take as values, by their names."""
    public = {
        name: getattr(package, name)
        for package in (estimators, prototypes, solvers)
        for name in sorted(package.__all__)
    }
    return {name: thing for name, thing in public.items() if is_estimator_or_option(thing)}


def is_estimator_or_option(thing: object) -> bool:
    """Whether a public thing is a class of scikit-learn's kind that is no mere base of others."""
    return (
        inspect.isclass(thing)
        and issubclass(thing, BaseEstimator)
        and not inspect.isabstract(thing)
    )
