"""scikit-learn estimators: thin shells that validate, assemble a problem and call a solver.

Beside the classes, read these files in the order of a fit:

======================  ==================================================
``_training``           the table and labels of a call to `fit`, checked
``_encoding``           units and levels: from columns as read to columns with weights
``_screen``             which features enter the weight matrix
``_penalty``            what weights cost beside the margin, or which are cut
``_options``            what the parameters of an estimator stand for
``_task``               what a solver is given: problem, start, weight set
``_growth``             samples of a large table, and fits on larger and larger ones
``_path``               the road of a fit, at one sigma or along sigma and strength
``_choice``             choosing sigma, penalty and rule along a path
``_variants``           ways of boosting
``_rounds``             training a learner of a round
``_margin_classifier``  predicting
``_triples``            which triples have a weight
``_matrix_model``       names, importances and the table of weights
``stored``              what files of fitted estimators hold
``every``               all public estimators, for those who may forget none
======================  ==================================================

The test is ``interaction_test``, which leads through `immigrate.interactions`.
"""

from immigrate.estimators import relief
from immigrate.estimators._boosting import BoostedImmigrateClassifier
from immigrate.estimators._cubic import CubicImmigrateClassifier
from immigrate.estimators._encoding import Columns
from immigrate.estimators._im4e import IM4EClassifier
from immigrate.estimators._immigrate import ImmigrateClassifier
from immigrate.estimators._immigrate_cv import ImmigrateClassifierCV
from immigrate.estimators._penalty import L1, L2, PenaltyPath, Prune
from immigrate.estimators._screen import Screen
from immigrate.estimators._selector import ImmigrateSelector
from immigrate.estimators._variants import PaperBoosting
from immigrate.estimators.interaction_test import InteractionTest
from immigrate.estimators.relief import *  # noqa: F403 - the family keeps its own list
from immigrate.interactions.adjustments import WestfallYoung
from immigrate.interactions.pair_effect import PairEffect
from immigrate.margin.explanation import Explanation
from immigrate.scikit_learn import OtherVersionWarning

__all__ = [
    "L1",
    "L2",
    "BoostedImmigrateClassifier",
    "Columns",
    "CubicImmigrateClassifier",
    "Explanation",
    "IM4EClassifier",
    "ImmigrateClassifier",
    "ImmigrateClassifierCV",
    "ImmigrateSelector",
    "InteractionTest",
    "OtherVersionWarning",
    "PairEffect",
    "PaperBoosting",
    "PenaltyPath",
    "Prune",
    "Screen",
    "WestfallYoung",
]
__all__ += relief.__all__
