"""scikit-learn estimators: thin shells that validate, assemble a problem and call a solver.

What they assemble stands in `immigrate.margin`. The test is ``interaction_test``, which leads
through `immigrate.interactions`. Each loads at its first use: a fit needs no test, and a test no
fit.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from immigrate.estimators.boosting import BoostedImmigrateClassifier
    from immigrate.estimators.cubic import CubicImmigrateClassifier
    from immigrate.estimators.im4e import IM4EClassifier
    from immigrate.estimators.immigrate import ImmigrateClassifier
    from immigrate.estimators.immigrate_cv import ImmigrateClassifierCV
    from immigrate.estimators.immigrate_regressor import ImmigrateRegressor
    from immigrate.estimators.interaction_test import InteractionTest
    from immigrate.estimators.selector import ImmigrateSelector
    from immigrate.interactions.pair_effect import PairEffect
    from immigrate.margin.explanation import Explanation
    from immigrate.scikit_learn import OtherVersionWarning

_HOMES = {
    "BoostedImmigrateClassifier": "immigrate.estimators.boosting",
    "CubicImmigrateClassifier": "immigrate.estimators.cubic",
    "Explanation": "immigrate.margin.explanation",
    "IM4EClassifier": "immigrate.estimators.im4e",
    "ImmigrateClassifier": "immigrate.estimators.immigrate",
    "ImmigrateClassifierCV": "immigrate.estimators.immigrate_cv",
    "ImmigrateRegressor": "immigrate.estimators.immigrate_regressor",
    "ImmigrateSelector": "immigrate.estimators.selector",
    "InteractionTest": "immigrate.estimators.interaction_test",
    "OtherVersionWarning": "immigrate.scikit_learn",
    "PairEffect": "immigrate.interactions.pair_effect",
}

__all__ = [
    "BoostedImmigrateClassifier",
    "CubicImmigrateClassifier",
    "Explanation",
    "IM4EClassifier",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateRegressor",
    "ImmigrateSelector",
    "InteractionTest",
    "OtherVersionWarning",
    "PairEffect",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'immigrate.estimators' has no attribute {name!r}")
    # Kept, so that later look-ups find it without a call.
    globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return globals()[name]
