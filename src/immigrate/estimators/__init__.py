"""scikit-learn estimators: thin shells that validate, assemble a problem and call a solver.

Beside the classes, read these files in the order of a fit:

======================  ==================================================
``_training``           the table and labels of a call to `fit`, checked
``_encoding``           units and levels: from columns as read to columns with weights
``_screen``             which features enter the weight matrix
``_task``               what a solver is to do: problem, start, solver, weight set
``sigma``               the width of the neighbourhood, and grids of it
``_choice``             choosing sigma, pruning and rule along a path
``_variants``           ways of boosting
``_fitted``             what is left of a fit, and how it scores new samples
``_margin_classifier``  predicting
``_matrix_model``       names, importances and the table of weights
``stored``              what files of fitted estimators hold
======================  ==================================================
"""

from immigrate.estimators._boosting import BoostedImmigrateClassifier
from immigrate.estimators._encoding import Columns
from immigrate.estimators._im4e import IM4EClassifier
from immigrate.estimators._immigrate import ImmigrateClassifier
from immigrate.estimators._immigrate_cv import ImmigrateClassifierCV
from immigrate.estimators._interaction_test import InteractionTest
from immigrate.estimators._screen import Screen
from immigrate.estimators._selector import ImmigrateSelector
from immigrate.estimators._variants import PaperBoosting
from immigrate.estimators.relief import (
    LFE,
    IRelief,
    Relief,
    ReliefF,
    Simba,
    make_margin_knn,
)
from immigrate.estimators.stored import OtherVersionWarning

__all__ = [
    "LFE",
    "BoostedImmigrateClassifier",
    "Columns",
    "IM4EClassifier",
    "IRelief",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateSelector",
    "InteractionTest",
    "OtherVersionWarning",
    "PaperBoosting",
    "Relief",
    "ReliefF",
    "Screen",
    "Simba",
    "make_margin_knn",
]
