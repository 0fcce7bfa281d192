"""Which features matter, which pairs of features matter together: IMMIGRATE and its family.

The public names load on first use, so that ``import immigrate`` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from immigrate._version import __version__

if TYPE_CHECKING:
    from immigrate import datasets
    from immigrate.estimators import (
        L1,
        L2,
        BoostedImmigrateClassifier,
        Columns,
        CubicImmigrateClassifier,
        Explanation,
        IM4EClassifier,
        ImmigrateClassifier,
        ImmigrateClassifierCV,
        ImmigrateSelector,
        InteractionTest,
        PairEffect,
        PaperBoosting,
        PenaltyPath,
        Prune,
        Screen,
        WestfallYoung,
    )
    from immigrate.margin.prototypes import ClassCentres
    from immigrate.plotting import (
        InteractionNetworkDisplay,
        PairEffectDisplay,
        PenaltyPathDisplay,
        SigmaPathDisplay,
        WeightMatrixDisplay,
    )
    from immigrate.relief import (
        LFE,
        IRelief,
        MultiSURF,
        Relief,
        ReliefF,
        Simba,
        make_margin_knn,
    )
    from immigrate.report import Report
    from immigrate.solvers import Descent, FullSteps

__all__ = [
    "L1",
    "L2",
    "LFE",
    "BoostedImmigrateClassifier",
    "ClassCentres",
    "Columns",
    "CubicImmigrateClassifier",
    "Descent",
    "Explanation",
    "FullSteps",
    "IM4EClassifier",
    "IRelief",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateSelector",
    "InteractionNetworkDisplay",
    "InteractionTest",
    "MultiSURF",
    "PairEffect",
    "PairEffectDisplay",
    "PaperBoosting",
    "PenaltyPath",
    "PenaltyPathDisplay",
    "Prune",
    "Relief",
    "ReliefF",
    "Report",
    "Screen",
    "SigmaPathDisplay",
    "Simba",
    "WeightMatrixDisplay",
    "WestfallYoung",
    "__version__",
    "datasets",
    "make_margin_knn",
]

# Searched in this order, so that what is asked for most costs least.
_HOMES = ("estimators", "relief", "solvers", "margin.prototypes", "plotting", "report")


def __getattr__(name: str) -> object:
    if name == "datasets":
        return importlib.import_module("immigrate.datasets")
    for package in _HOMES if name in __all__ else ():
        home = importlib.import_module(f"immigrate.{package}")
        if hasattr(home, name):
            return getattr(home, name)
    raise AttributeError(f"module 'immigrate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
