"""Boosted IMMIGRATE (BIM): a vote of models, each attentive to what the others got wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.core.scores import class_probability
from immigrate.estimators import _validation as check
from immigrate.estimators._immigrate import WeightMatrixMixin
from immigrate.estimators._sigma import sigma_grid
from immigrate.solvers import SOLVERS, MarginProblem, weight_path
from immigrate.solvers.boosting import (
    PAPER_RULE,
    SAMME_RULE,
    Learner,
    VotingRule,
    boosted,
    falling_sigmas,
)


def soft_votes(score, sigma):
    """Class probabilities."""
    return class_probability(score, sigma)


def hard_votes(score, sigma):
    """1 for the nearest class, 0 for the others."""
    return np.eye(score.shape[1])[score.argmin(axis=1)]


@dataclass(frozen=True)
class Variant:
    """What sets one way of boosting apart from another."""

    n_estimators: int
    solver: str
    score: str
    voting: VotingRule
    votes: Callable


VARIANTS = {
    "samme": Variant(10, "monotone", "free_energy", SAMME_RULE, soft_votes),
    "paper": Variant(100, "paper", "distance", PAPER_RULE, hard_votes),
}
INNER_STEPS = 10


class BoostedImmigrateClassifier(WeightMatrixMixin, ClassifierMixin, BaseEstimator):
    """Boosted IMMIGRATE (BIM): AdaBoost with IMMIGRATE as base learner [1]_.

    Each round fits a weight matrix in which the samples that earlier rounds got wrong count
    more as anchors (D of Eq. 10); the models then vote. Errors are those of leave-one-out
    predictions, which come free with each fit.

    IMMIGRATE is not a weak learner. One well-chosen sigma is often as good as an ensemble, and
    boosting then stops after a few rounds; see docs/boosting.md for where it helps.

    Parameters
    ----------
    n_estimators : int, default=None
        Most rounds. None is 10 for ``variant="samme"`` and the paper's 100 for "paper".
    variant : {"samme", "paper"}, default="samme"
        "samme": one sigma for all rounds, descent to a stationary point, free energies as
        scores, votes and weights by SAMME [2]_ for any number of classes, class probabilities
        as votes, perfect learners kept with a bounded vote. It stops once a round adds
        nothing. "paper": Algorithm 3 as written, with sigma falling from `sigma_max` to
        `sigma_min`, full steps, expected distances, hard votes, and learners with an error of
        0 or of 1/2 and more discarded.
    sigma : float or "auto", default="auto"
        For "samme". "auto" takes, from the grid of `ImmigrateClassifierCV`, the sigma with the
        best leave-one-out accuracy of a single model.
    sigma_max, sigma_min : float, default=4.0 and 0.2
        For "paper".
    constraint : {"psd", "nonnegative", "both", "clip"}, default="psd"
        Where the weights live, as in `ImmigrateClassifier`; "clip" for "paper" only.
    init : {"auto", "identity", "random", "im4e"} or array-like, default="auto"
        Where each round starts, as in `ImmigrateClassifier`. Rounds of "samme" after the
        first start where the one before ended.
    screen, screen_threshold, screen_max, keep
        Screening of wide tables, as in `ImmigrateClassifier`: boosted IM4E-IMMIGRATE.
    max_iter : int, default=10
        Limit on steps in each round.
    tol : float, default=1e-3
        As in `ImmigrateClassifier`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For ``init="random"``.
    verbose : bool, default=False
        Print one line a round.

    Attributes
    ----------
    estimators_ : list of Learner
        `sigma`, `weights`, `error` and `vote` of each model, in order.
    weight_matrix_ : ndarray of shape (n_features, n_features)
        Mean of the weights, each counting as much as its vote, with Frobenius norm 1.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Row sums of |weight_matrix_|, scaled to sum 1.
    n_discarded_ : int
        Rounds whose learner was of no use.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ImmigrateClassifierCV : One model with sigma chosen along a path.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`
    .. [2] J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics and Its
       Interface 2(3), 2009. :doi:`10.4310/SII.2009.v2.n3.a8`

    Examples
    --------
    >>> from immigrate import BoostedImmigrateClassifier
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), BoostedImmigrateClassifier()).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        n_estimators=None,
        *,
        variant="samme",
        sigma="auto",
        sigma_max=4.0,
        sigma_min=0.2,
        constraint="psd",
        init="auto",
        screen=None,
        screen_threshold="auto",
        screen_max=None,
        keep=None,
        max_iter=INNER_STEPS,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.n_estimators = n_estimators
        self.variant = variant
        self.sigma = sigma
        self.sigma_max = sigma_max
        self.sigma_min = sigma_min
        self.constraint = constraint
        self.init = init
        self.screen = screen
        self.screen_threshold = screen_threshold
        self.screen_max = screen_max
        self.keep = keep
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
