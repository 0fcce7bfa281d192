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
    from immigrate.estimators._interaction_test import InteractionTest
    from immigrate.estimators._selector import ImmigrateSelector
    from immigrate.estimators.relief._irelief import IRelief
    from immigrate.estimators.relief._lfe import LFE
    from immigrate.estimators.relief._margin_knn import make_margin_knn
    from immigrate.estimators.relief._relief import Relief
    from immigrate.estimators.relief._relieff import ReliefF
    from immigrate.estimators.relief._simba import Simba
    from immigrate.plotting._interaction_network import InteractionNetworkDisplay
    from immigrate.plotting._sigma_path import SigmaPathDisplay
    from immigrate.plotting._weight_matrix import WeightMatrixDisplay

__all__ = [
    "LFE",
    "BoostedImmigrateClassifier",
    "IM4EClassifier",
    "IRelief",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateSelector",
    "InteractionNetworkDisplay",
    "InteractionTest",
    "Relief",
    "ReliefF",
    "SigmaPathDisplay",
    "Simba",
    "WeightMatrixDisplay",
    "__version__",
    "datasets",
    "make_margin_knn",
]

_HOMES = {
    "BoostedImmigrateClassifier": "immigrate.estimators._boosting",
    "IM4EClassifier": "immigrate.estimators._im4e",
    "IRelief": "immigrate.estimators.relief._irelief",
    "ImmigrateClassifier": "immigrate.estimators._immigrate",
    "ImmigrateClassifierCV": "immigrate.estimators._immigrate_cv",
    "ImmigrateSelector": "immigrate.estimators._selector",
    "InteractionNetworkDisplay": "immigrate.plotting._interaction_network",
    "InteractionTest": "immigrate.estimators._interaction_test",
    "LFE": "immigrate.estimators.relief._lfe",
    "Relief": "immigrate.estimators.relief._relief",
    "ReliefF": "immigrate.estimators.relief._relieff",
    "SigmaPathDisplay": "immigrate.plotting._sigma_path",
    "Simba": "immigrate.estimators.relief._simba",
    "WeightMatrixDisplay": "immigrate.plotting._weight_matrix",
    "make_margin_knn": "immigrate.estimators.relief._margin_knn",
}


def __getattr__(name):
    if name == "datasets":
        return importlib.import_module("immigrate.datasets")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'immigrate' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
