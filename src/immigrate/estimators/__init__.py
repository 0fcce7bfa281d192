"""scikit-learn estimators: thin shells that validate, assemble a problem and call a solver.

What they assemble stands in `immigrate.margin`.

The test is ``interaction_test``, which leads through `immigrate.interactions`.
"""

from typing import TYPE_CHECKING, Any

from immigrate.estimators.boosting import BoostedImmigrateClassifier
from immigrate.estimators.cubic import CubicImmigrateClassifier
from immigrate.estimators.im4e import IM4EClassifier
from immigrate.estimators.immigrate import ImmigrateClassifier
from immigrate.estimators.immigrate_cv import ImmigrateClassifierCV
from immigrate.estimators.interaction_test import InteractionTest
from immigrate.interactions.pair_effect import PairEffect
from immigrate.margin.explanation import Explanation
from immigrate.scikit_learn import OtherVersionWarning

if TYPE_CHECKING:
    from immigrate.estimators._selector import ImmigrateSelector

__all__ = [
    "BoostedImmigrateClassifier",
    "CubicImmigrateClassifier",
    "Explanation",
    "IM4EClassifier",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateSelector",
    "InteractionTest",
    "OtherVersionWarning",
    "PairEffect",
]


def __getattr__(name: str) -> Any:
    # At its first use: it brings all selectors of scikit-learn.
    if name == "ImmigrateSelector":
        from immigrate.estimators._selector import ImmigrateSelector

        globals()[name] = ImmigrateSelector
        return ImmigrateSelector
    raise AttributeError(f"module 'immigrate.estimators' has no attribute {name!r}")
