"""One of every selector of the Relief family, for tests of what all of them promise.

A new one is among them by itself.
"""

from __future__ import annotations

from harness.estimators import seeded
from immigrate.persistence import public_estimators
from immigrate.relief.base import MarginSelector

# What makes a fit short, and a width that suits the small tables of these tests.
PARAMETERS = {"Simba": {"n_starts": 2}, "IRelief": {"sigma": 0.3}}


def selectors():
    """New instances: some tests fit or change theirs."""
    return [
        seeded(cls, **PARAMETERS.get(name, {}))
        for name, cls in public_estimators().items()
        if issubclass(cls, MarginSelector)
    ]
