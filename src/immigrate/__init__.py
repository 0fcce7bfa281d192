"""Which features matter, which pairs of features matter together: IMMIGRATE and its family.

Estimators, reports and files of models are here, options of estimators in `immigrate.options`,
pictures in `immigrate.plotting`. Names load on first use, so that ``import immigrate`` costs next
to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from immigrate._version import __version__

if TYPE_CHECKING:
    from immigrate import datasets, options, plotting
    from immigrate.estimators import (
        BoostedImmigrateClassifier,
        CubicImmigrateClassifier,
        IM4EClassifier,
        ImmigrateClassifier,
        ImmigrateClassifierCV,
        ImmigrateRegressor,
        ImmigrateSelector,
        InteractionTest,
    )
    from immigrate.persistence import load_model, save_model
    from immigrate.relief import LFE, IRelief, MultiSURF, Relief, ReliefF, Simba, make_margin_knn
    from immigrate.report import Report

_HOMES = {
    "estimators": (
        "BoostedImmigrateClassifier",
        "CubicImmigrateClassifier",
        "IM4EClassifier",
        "ImmigrateClassifier",
        "ImmigrateClassifierCV",
        "ImmigrateRegressor",
        "ImmigrateSelector",
        "InteractionTest",
    ),
    "persistence": ("load_model", "save_model"),
    "relief": ("LFE", "IRelief", "MultiSURF", "Relief", "ReliefF", "Simba", "make_margin_knn"),
    "report": ("Report",),
}
_MODULES = ("datasets", "options", "plotting")

__all__ = [
    "LFE",
    "BoostedImmigrateClassifier",
    "CubicImmigrateClassifier",
    "IM4EClassifier",
    "IRelief",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateRegressor",
    "ImmigrateSelector",
    "InteractionTest",
    "MultiSURF",
    "Relief",
    "ReliefF",
    "Report",
    "Simba",
    "__version__",
    "datasets",
    "load_model",
    "make_margin_knn",
    "options",
    "plotting",
    "save_model",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"immigrate.{name}")
    for package, names in _HOMES.items():
        if name in names:
            # Kept, so that later look-ups find it without a call.
            globals()[name] = getattr(importlib.import_module(f"immigrate.{package}"), name)
            return globals()[name]
    raise AttributeError(f"module 'immigrate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
