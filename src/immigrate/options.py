"""Options of estimators that are values: solvers, penalties, screens, columns and the like.

They are given to an estimator as one parameter, and can be searched over by their own names
(``solver__tol``).

Examples
--------
>>> from immigrate import ImmigrateClassifier
>>> from immigrate.options import L1, Descent
>>> model = ImmigrateClassifier(solver=Descent(max_iter=50), penalty=L1(0.1))
"""

from immigrate.interactions.adjustments import WestfallYoung
from immigrate.margin.encoding import Columns
from immigrate.margin.penalties import L1, L2, PenaltyPath, Prune
from immigrate.margin.prototypes import ClassCentres
from immigrate.margin.screen import Screen
from immigrate.solvers import Descent, FullSteps
from immigrate.solvers.boosting import PaperBoosting

__all__ = [
    "L1",
    "L2",
    "ClassCentres",
    "Columns",
    "Descent",
    "FullSteps",
    "PaperBoosting",
    "PenaltyPath",
    "Prune",
    "Screen",
    "WestfallYoung",
]
