"""Boosted IMMIGRATE (BIM): a vote of models, each attentive to what the others got wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted, validate_data

from immigrate.core.cones import MATRIX_SETS, unit
from immigrate.core.scores import class_probability
from immigrate.estimators import _validation as check
from immigrate.estimators._margin_classifier import RULES
from immigrate.estimators._sigma import sigma_grid
from immigrate.estimators._warnings import warn_user
from immigrate.estimators._weight_matrix import WeightMatrixMixin
from immigrate.kernels.threads import n_threads
from immigrate.problems import MarginProblem
from immigrate.solvers import SOLVERS, weight_path
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
    rules: tuple[str, ...]
    voting: VotingRule
    votes: Callable


VARIANTS = {
    "samme": Variant(10, "monotone", ("energy", "distance"), SAMME_RULE, soft_votes),
    "paper": Variant(100, "paper", ("distance",), PAPER_RULE, hard_votes),
}
INNER_STEPS = 5


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
        "samme": one sigma for all rounds, descent to a stationary point, votes and weights by
        SAMME [2]_ for any number of classes, class probabilities as votes, perfect learners
        kept with a bounded vote. It stops once a round adds nothing. "paper": Algorithm 3 as
        written, with sigma falling from `sigma_max` to `sigma_min`, full steps, hard votes,
        and learners with an error of 0 or of 1/2 and more discarded.
    sigma : float or "auto", default="auto"
        For "samme". "auto" takes, from the grid of `ImmigrateClassifierCV`, the sigma with the
        best leave-one-out accuracy of a single model.
    rule : {"auto", "energy", "distance"}, default="auto"
        How learners predict, as in `ImmigrateClassifier`. "auto" is, for "samme", the rule
        with the best leave-one-out accuracy of a single model, chosen together with `sigma`,
        and for "paper" the expected distance of Eq. 9.
    sigma_max, sigma_min : float, default=4.0 and 0.2
        For "paper": round t of T has sigma_max (sigma_min / sigma_max)^((t - 1) / T).
    constraint : {"psd", "nonnegative", "both", "clip"}, default="psd"
        Where the weights live, as in `ImmigrateClassifier`; "clip" for "paper" only.
    init : {"auto", "identity", "random", "im4e"} or array-like, default="auto"
        Where each round starts, as in `ImmigrateClassifier`. Rounds of "samme" after the
        first start where the one before ended.
    screen, screen_threshold, screen_max, keep
        Screening of wide tables, as in `ImmigrateClassifier`: boosted IM4E-IMMIGRATE.
    max_iter : int, default=5
        Limit on steps in each round: fewer than the paper's 10 for a single model.
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
    rule_ : str
        The rule by which all of them predict.
    weight_matrix_ : ndarray of shape (n_features, n_features)
        Mean of the weights, each counting as much as its vote, with Frobenius norm 1.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Row sums of |weight_matrix_|, scaled to sum 1.
    n_iter_ : int
        Rounds run.
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
        rule="auto",
        sigma_max=4.0,
        sigma_min=0.2,
        constraint="psd",
        init="auto",
        screen=None,
        screen_threshold="auto",
        screen_max=200,
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
        self.rule = rule
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

    def fit(self, X, y, sample_weight=None):
        """Boost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each; exactly two for
            ``variant="paper"``.
        sample_weight : array-like of shape (n_samples,), optional
            The anchor weights D that boosting starts from.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, codes, anchor_weight = check.check_training_data(self, X, y, sample_weight)
        self._check_classes()
        problem, start = self._problem(X, codes, anchor_weight)
        if anchor_weight is None:
            anchor_weight = np.full(len(X), 1 / len(X))
        sigmas, self.rule_ = self._schedule(problem, start, codes)
        rounds = boosted(
            problem,
            codes,
            anchor_weight,
            sigmas,
            self._trainer(start),
            self._variant.voting,
            score=self._score,
            error_floor=0.0 if self.variant == "paper" else 1 / (2 * len(X)),
        )
        self._keep(list(self._until_nothing_is_gained(rounds)))
        return self

    def predict(self, X):
        """Class with the largest vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]

    def predict_proba(self, X):
        """Share of each class in the vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        *_, last = self.staged_predict_proba(X)
        return last

    def decision_function(self, X):
        """Vote of ``classes_[1]`` minus vote of ``classes_[0]``, or one column a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        share = self.predict_proba(X)
        return share[:, 1] - share[:, 0] if share.shape[1] == 2 else share

    def staged_predict(self, X):
        """Predictions after the first model, the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples,)
        """
        for share in self.staged_predict_proba(X):
            yield self.classes_[share.argmax(axis=1)]

    def staged_score(self, X, y, sample_weight=None):
        """Accuracy after the first model, the first two, and so on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Yields
        ------
        float
        """
        for predicted in self.staged_predict(X):
            yield accuracy_score(y, predicted, sample_weight=sample_weight)

    def staged_predict_proba(self, X):
        """Shares in the vote of the first model, the first two, and so on.

        One sweep over the pairs serves all models: the differences are shared.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        X = self._used_features(X)
        table, codes = self._fit_samples
        problem = MarginProblem(table, codes, n_threads=n_threads(self.n_jobs))
        many = problem.class_scores_many(
            X,
            [learner.weights for learner in self.estimators_],
            [learner.sigma for learner in self.estimators_],
        )
        total, n_votes = 0.0, 0.0
        for learner, scores in zip(self.estimators_, many):
            votes = self._variant.votes(self._score(scores), learner.sigma)
            total = total + learner.vote * votes
            n_votes += learner.vote
            yield total / n_votes

    @property
    def _variant(self):
        return VARIANTS[self.variant]

    @property
    def _solver_name(self):
        return self._variant.solver

    def _score(self, scores):
        """The class scores of the chosen rule."""
        return getattr(scores, RULES[self.rule_])

    def _check_parameters(self):
        check.check_option("variant", self.variant, VARIANTS)
        self._check_matrix_parameters()
        self._check_screen_parameters()
        check.check_count("max_iter", self.max_iter)
        check.check_not_negative("tol", self.tol)
        for name in ("sigma_max", "sigma_min"):
            check.check_positive(name, getattr(self, name))
        if self.sigma_min > self.sigma_max:
            raise ValueError(
                f"sigma_min={self.sigma_min} is above sigma_max={self.sigma_max}; sigma falls "
                "from the largest to the smallest."
            )
        if self.n_estimators is not None:
            check.check_count("n_estimators", self.n_estimators)
        if self.sigma != "auto":
            check.check_positive("sigma", self.sigma)
        check.check_option("rule", self.rule, ("auto", *RULES))

    def _check_classes(self):
        if self.variant == "paper" and len(self.classes_) > 2:
            raise ValueError(
                f"variant='paper' is for two classes and y holds {len(self.classes_)}; "
                "use variant='samme'."
            )

    def _schedule(self, problem, start, codes):
        """One sigma a round, and the rule of all rounds."""
        n_rounds = self.n_estimators or self._variant.n_estimators
        rules = self._variant.rules if self.rule == "auto" else (self.rule,)
        if self.variant == "paper":
            return falling_sigmas(self.sigma_max, self.sigma_min, n_rounds), rules[0]
        sigmas = [self.sigma]
        if self.sigma == "auto":
            sigmas = sigma_grid("auto", self._fit_samples[0], start)
        sigma, rule = self._best_single(problem, start, codes, sigmas, rules)
        return [sigma] * n_rounds, rule

    def _best_single(self, problem, start, codes, sigmas, rules):
        """Sigma and rule at which a single model has the best leave-one-out accuracy."""
        candidates = [(sigma, rule) for rule in rules for sigma in sigmas]
        if len(candidates) == 1:
            return candidates[0]
        path = weight_path(
            SOLVERS["monotone"],
            problem,
            start,
            sigmas,
            MATRIX_SETS[self.constraint],
            is_warm=self.constraint == "psd",
            max_iter=100,
            tol=self.tol,
        )
        scores = dict(zip(sigmas, (solution.scores for solution in path)))
        accuracy = [
            np.mean(getattr(scores[sigma], RULES[rule]).argmin(axis=1) == codes)
            for sigma, rule in candidates
        ]
        return candidates[int(np.argmax(accuracy))]

    def _trainer(self, start):
        solver, weight_set = SOLVERS[self._solver_name], MATRIX_SETS[self.constraint]
        is_warm = self.variant == "samme" and self.constraint == "psd"

        def train(problem, sigma, last):
            options = {"max_iter": self.max_iter, "tol": self.tol}
            if not is_warm or last is None:
                return solver(problem, start, sigma, weight_set, **options)
            options["first_step"] = last.next_step
            return solver(problem, last.weights, sigma, weight_set, **options)

        return train

    def _until_nothing_is_gained(self, rounds):
        """Rounds up to the first that would repeat itself for ever.

        With one sigma for all rounds, a useless learner leaves the anchor weights as they
        were, and so does one without an error: the next round would be the same again.
        """
        for number, learner in enumerate(rounds, start=1):
            if self.verbose:
                print(f"round {number}   sigma {learner.sigma:.4g}   error {learner.error:.4f}")
            yield learner
            is_last = learner.vote == 0 or learner.error <= 1 / (2 * len(self._fit_samples[0]))
            if self.variant == "samme" and is_last:
                return

    def _keep(self, rounds):
        kept = [learner for learner in rounds if learner.vote > 0]
        self.n_iter_ = len(rounds)
        self.n_discarded_ = len(rounds) - len(kept)
        if not kept:
            best = min(rounds, key=lambda learner: learner.error)
            kept = [Learner(best.sigma, best.weights, best.error, vote=1.0)]
            warn_user(
                f"All {len(rounds)} learners were discarded (errors of 0, or no better than "
                "chance); the one with the smallest error stands alone. Try variant='samme'.",
                UserWarning,
            )
        self.estimators_ = kept
        self.weight_matrix_ = unit(sum(learner.vote * learner.weights for learner in kept))
