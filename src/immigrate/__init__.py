"""Which features matter, which pairs of features matter together: IMMIGRATE and its family.

The public names load on first use, so that ``import immigrate`` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from immigrate._version import __version__

if TYPE_CHECKING:
    from immigrate import datasets
    from immigrate.estimators._boosting import BoostedImmigrateClassifier
    from immigrate.estimators._im4e import IM4EClassifier
    from immigrate.estimators._immigrate import ImmigrateClassifier
    from immigrate.estimators._immigrate_cv import ImmigrateClassifierCV
    from immigrate.plotting._sigma_path import SigmaPathDisplay

__all__ = [
    "BoostedImmigrateClassifier",
    "IM4EClassifier",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "SigmaPathDisplay",
    "__version__",
    "datasets",
]

_HOMES = {
    "BoostedImmigrateClassifier": "immigrate.estimators._boosting",
    "IM4EClassifier": "immigrate.estimators._im4e",
    "ImmigrateClassifier": "immigrate.estimators._immigrate",
    "ImmigrateClassifierCV": "immigrate.estimators._immigrate_cv",
    "SigmaPathDisplay": "immigrate.plotting._sigma_path",
}


def __getattr__(name):
    if name == "datasets":
        return importlib.import_module("immigrate.datasets")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'immigrate' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
