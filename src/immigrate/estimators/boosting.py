"""Boosted IMMIGRATE (BIM): a vote of models, each attentive to what the others got wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_count, check_option
from immigrate.core.cones import WeightSet
from immigrate.durations import STEPS_OF_FIT, STEPS_OF_PATH
from immigrate.estimators.base import ReferenceClassifier, is_lazy, lazily
from immigrate.estimators.immigrate import ImmigrateClassifier, base_classifier
from immigrate.estimators.weight_matrix import WeightMatrixModel
from immigrate.margin.choice import TEMPERATURES, Choices, Selection, Split, check_judged
from immigrate.margin.encoding import References
from immigrate.margin.model import RULES, MarginModel, Member, Point, chosen_encoding
from immigrate.margin.options import FitOptions
from immigrate.margin.path import fit_at, tasks_of, weight_path
from immigrate.margin.penalties import Penalty, Prune, resolved_penalty
from immigrate.margin.problem import Task
from immigrate.margin.prototypes import as_it_predicts
from immigrate.margin.sigma import sigma_grid
from immigrate.progress import fitting, print_line, report_progress, warn_user
from immigrate.solvers import Problem, Solution
from immigrate.solvers.boosting import Learner, Trainer, Variant, boosted, resolved_variant

# Sigma is chosen by a single model, which takes its time: rounds have a limit of their own.
SINGLE_STEPS = 100


class BoostedImmigrateClassifier(WeightMatrixModel, ReferenceClassifier):
    """Boosted IMMIGRATE (BIM): AdaBoost with IMMIGRATE as base learner [1]_.

    Each round fits a weight matrix in which the samples that earlier rounds got wrong count
    more as anchors (D of Eq. 10); the models then vote. Errors are those of leave-one-out
    predictions, which come free with each fit.

    IMMIGRATE is not a weak learner. One well-chosen sigma is often as good as an ensemble, and
    boosting then stops after a few rounds; see docs/measurements/boosting.md for where it helps.

    Parameters
    ----------
    estimator : ImmigrateClassifier, default=None
        What is fitted in each round. None is ``ImmigrateClassifier(solver=Descent(max_iter=5))``,
        or with ``FullSteps(max_iter=5)`` for ``variant="paper"``: fewer steps than a single
        model takes. A classifier that is given brings its own solver, so name one of these
        there too. Its `penalty` holds in every round; its `sigma`, `rule`, `n_jobs` and `verbose`
        are not read. With "samme" a round starts where the one before ended, if that is safe.
    n_estimators : int, default=None
        Limit on rounds. None is 10 for ``variant="samme"`` and the paper's 100 for "paper".
    variant : {"samme", "paper"} or `PaperBoosting`, default="samme"
        "samme": one sigma for all rounds, votes and weights by SAMME [2]_ for any number of
        classes, class probabilities as votes, perfect learners kept with a bounded vote. It
        stops once a round adds nothing. "paper" is ``PaperBoosting()``: Algorithm 3 as written,
        with sigma falling from 4 to 0.2, hard votes, and learners with an error of 0 or of 1/2
        and more discarded.
    sigmas : {"auto", "paper"} or list of float, default="auto"
        For "samme": the sigma at which leave-one-out finds a single model best is taken, as in
        `ImmigrateClassifierCV`. ``[1.0]`` leaves no choice.
    rules : "auto" or list of {"energy", "distance"}, default="auto"
        How learners predict, as in `ImmigrateClassifier`; "samme" chooses the rule together
        with sigma. "auto" is both for "samme", and the expected distance of Eq. 9 for "paper".
    temperatures : tuple of float, default=(4, 2, 1, 1/2, 1/4, 1/8)
        For "samme": choices for the temperature of the class probabilities by which learners
        vote, chosen with sigma as in `ImmigrateClassifierCV`.
    scoring : {"neg_log_loss", "accuracy", "balanced_accuracy"}, default="neg_log_loss"
        The criterion by which "samme" chooses them.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    verbose : bool, default=False
        Whether to print one line per round.

    Attributes
    ----------
    model_ : MarginModel
        All that predicting needs: references (the training samples), weights, sigmas, votes.
    estimators_ : list of Learner
        `sigma`, `weights`, `error` and `vote` of each model, in order.
    estimator_errors_ : ndarray of shape (n_estimators,)
        `error` of each model alone.
    rule_ : str
        The rule by which all of them predict.
    temperature_ : float
        The temperature of the probabilities by which they vote.
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
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> BoostedImmigrateClassifier().fit(X, y).score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: ImmigrateClassifier | None = None,
        *,
        n_estimators: int | None = None,
        variant: str | Variant = "samme",
        sigmas: Any = "auto",
        rules: str | Sequence[str] = "auto",
        temperatures: Sequence[float] = TEMPERATURES,
        scoring: str = "neg_log_loss",
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.variant = variant
        self.sigmas = sigmas
        self.rules = rules
        self.temperatures = temperatures
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        with fitting(self):
            variant = resolved_variant(self.variant)
            rules = self._offered_rules(variant)
            check_judged(self.scoring, rules, self.temperatures)
            n_rounds = variant.n_estimators
            if self.n_estimators is not None:
                n_rounds = check_count("n_estimators", self.n_estimators)
            base = base_classifier(self.estimator, ImmigrateClassifier(solver=variant.solver()))
            penalty = resolved_penalty(base.penalty, base.constraint)
            options = FitOptions.of(base, n_jobs=self.n_jobs, verbose=self.verbose)
            table = options.read(self, X, y, sample_weight)
            variant.check(len(table.outcome.classes))
            # A round takes about half as many steps as a fit of a single model.
            n_steps = STEPS_OF_PATH + n_rounds * STEPS_OF_FIT // 2
            task = chosen_task(tasks_of(options, table, n_steps), penalty)
            # Where weights live at the sigma that is chosen, which may be known then.
            weight_sets: dict[float, WeightSet] = {}
            sigmas, rule, temperature = variant.schedule(
                n_rounds, rules, lambda rules: self._best_single(task, penalty, rules, weight_sets)
            )
            is_warm = variant.is_warm and task.is_warm
            train = trainer(task, penalty, weight_sets, is_warm=is_warm)
            rounds = list(self._rounds(task, train, variant, sigmas, rule))
            learners = voters(rounds)
            model = MarginModel(
                task.references,
                tuple(Point(one.weights, one.sigma, penalty) for one in learners),
                tuple(Member(i, rule, temperature, x.vote) for i, x in enumerate(learners)),
                "vote" if variant.is_soft else "hard vote",
            )
            # Votes for one class have no probabilities that a log-loss could judge.
            scoring = self.scoring if variant.is_soft else "accuracy"
            model = as_it_predicts(model, task, scoring=scoring)
            table.keep_on(self)
            self.model_ = model
            self.estimator_errors_ = np.array([one.error for one in learners])
            self.n_iter_ = len(rounds)
            self.n_discarded_ = sum(learner.vote == 0 for learner in rounds)
        return self

    def _part(self, name: str, value: Any) -> Any:
        if name == "estimator":
            solver = resolved_variant(self.variant).solver()
            return base_classifier(value, ImmigrateClassifier(solver=solver))
        return resolved_variant(value) if name == "variant" else value

    def predict(self, X: Any) -> np.ndarray:
        """Class with the largest vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        if is_lazy(X):
            return lazily(self, "predict", X)
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]

    def predict_proba(self, X: Any) -> Array:
        """Share of each class in the vote.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        if is_lazy(X):
            return lazily(self, "predict_proba", X)
        *_, last = self.staged_predict_proba(X)
        return last

    def decision_function(self, X: Any) -> Array:
        """Vote of ``classes_[1]`` minus vote of ``classes_[0]``, or one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        if is_lazy(X):
            return lazily(self, "decision_function", X)
        share = self.predict_proba(X)
        return share[:, 1] - share[:, 0] if share.shape[1] == 2 else share

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
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

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
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
        from sklearn.metrics import accuracy_score

        for predicted in self.staged_predict(X):
            yield float(accuracy_score(y, predicted, sample_weight=sample_weight))

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Shares in the vote of the first model, the first two, and so on.

        One sweep over the pairs serves all models: the differences are shared.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Yields
        ------
        ndarray of shape (n_samples, n_classes)
        """
        values = self._values(X)
        yield from self.model_.stages(values, self.n_jobs)

    @property
    def estimators_(self) -> list[Learner]:
        """Sigma, weights, error and vote of each model, in order."""
        check_is_fitted(self)
        points = [self.model_.points[member.point] for member in self.model_.members]
        return [
            Learner(point.sigma, point.weights, error, member.share)
            for point, member, error in zip(
                points, self.model_.members, self.estimator_errors_.tolist()
            )
        ]

    @property
    def rule_(self) -> str:
        """The rule by which all models predict."""
        check_is_fitted(self)
        return self.model_.rule

    @property
    def temperature_(self) -> float:
        """The temperature of the probabilities by which all models vote."""
        check_is_fitted(self)
        return self.model_.temperature

    def _offered_rules(self, variant: Variant) -> Sequence[str]:
        if isinstance(self.rules, str):
            check_option("rules", self.rules, ("auto",))
            return variant.rules
        return self.rules

    def _best_single(
        self,
        task: Task,
        penalty: Penalty | None,
        rules: Sequence[str],
        weight_sets: dict[float, WeightSet],
    ) -> tuple[float, str, float]:
        """Sigma, rule and temperature at which leave-one-out finds a single model best."""
        references = task.references
        sigmas = sigma_grid(self.sigmas, references, task.start)
        choices = Choices(sigmas, (penalty,), rules, self.temperatures)
        if len(choices.candidates) * len(self.temperatures) == 1:
            return sigmas[0], rules[0], self.temperatures[0]
        # To the user's tolerance and not a wider one: nothing is finished afterwards here.
        solver = task.options.solver.with_limits(max_iter=SINGLE_STEPS)
        path = list(weight_path(task, solver, choices))
        weight_sets |= {point.sigma: point.weight_set for point in path}
        scores = [point.kept.scores.rows(references.is_anchor) for point in path]
        splits = [Split(scores, references.anchor_codes)]
        selection = Selection.over(choices, splits, self.scoring)
        best = selection.candidates[selection.best()]
        return best["sigma"], best["rule"], best["temperature"]

    def _rounds(
        self, task: Task, train: Trainer, variant: Variant, sigmas: Sequence[float], rule: str
    ) -> Iterator[Learner]:
        """Rounds up to the first after which nothing can be gained."""
        references = task.references
        n = len(references.anchor_codes)
        learners = boosted(
            task.problem,
            references.codes,
            first_anchor_weight(references),
            sigmas,
            train,
            rule=variant.voting,
            score=attrgetter(RULES[rule]),
            error_floor=variant.error_floor(n),
        )
        for number, learner in enumerate(learners, start=1):
            report_progress(f"round {number}")
            if self.verbose:
                print_line(
                    f"round {number}   sigma {learner.sigma:.4g}   error {learner.error:.4f}"
                )
            yield learner
            if variant.is_last(learner, n):
                return


def chosen_task(tasks: Sequence[Task], penalty: Penalty | None) -> Task:
    """Of two ways to encode levels, the one that leave-one-out chooses for a single model."""
    if len(tasks) == 1:
        return tasks[0]
    # At the automatic width, because the rounds have none yet, and on the first sample.
    fits = [fit_at(replace(task, samples=None), "auto", penalty, "energy") for task in tasks]
    return tasks[chosen_encoding([model for model, _ in fits])]


def first_anchor_weight(references: References) -> Array:
    """The anchor weights D that boosting starts from."""
    if references.anchor_weight is not None:
        return references.anchor_weight
    weight = np.full(len(references.codes), 1 / len(references.anchor_codes))
    # Who is no anchor is never right or wrong, and has no weight.
    return weight if references.is_anchor is None else weight * references.is_anchor


def trainer(
    task: Task, penalty: Penalty | None, weight_sets: dict[float, WeightSet], *, is_warm: bool
) -> Trainer:
    """What trains one learner, from where the round before ended if `is_warm`.

    `weight_sets` is where weights live and what they cost, by sigma; others are added to it.
    """

    def train(problem: Problem, sigma: float, last: Solution | None) -> Solution:
        start, step = task.start, np.inf
        # Only the anchor weights have changed since the last round: its end is near the new one.
        # Pruned weights may lie outside of the set, and nothing starts from there.
        if is_warm and last is not None and not isinstance(penalty, Prune):
            start, step = last.weights, last.next_step
        if sigma not in weight_sets:
            weight_sets[sigma], _ = task.priced(sigma, penalty)
        solver = task.options.solver
        solution = solver.solution(problem, start, sigma, weight_sets[sigma], first_step=step)
        return task.kept(solution, sigma, penalty)

    return train


def voters(rounds: Sequence[Learner]) -> list[Learner]:
    """The learners that vote; where all are useless, the one with the smallest error alone."""
    kept = [learner for learner in rounds if learner.vote > 0]
    if kept:
        return kept
    warn_user(
        f"All {len(rounds)} learners were discarded (errors of 0, or no better than "
        "chance); the one with the smallest error stands alone. Try variant='samme'.",
        UserWarning,
    )
    best = min(rounds, key=lambda learner: learner.error)
    return [Learner(best.sigma, best.weights, best.error, vote=1.0)]
