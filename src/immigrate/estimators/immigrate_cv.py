"""IMMIGRATE with sigma, penalty and rule chosen along a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from immigrate.checks import check_option
from immigrate.durations import STEPS_OF_PATH
from immigrate.estimators.base import MarginClassifier
from immigrate.estimators.immigrate import ImmigrateClassifier, base_classifier
from immigrate.estimators.weight_matrix import WeightMatrixModel
from immigrate.margin.choice import (
    TEMPERATURES,
    Choices,
    Selection,
    Split,
    check_judged,
)
from immigrate.margin.encoding import Columns, Encoding
from immigrate.margin.model import MarginModel, chosen_encoding
from immigrate.margin.options import FitOptions
from immigrate.margin.path import (
    FitWithoutPairs,
    PathPoint,
    finished,
    path_of_strengths,
    path_solver,
    scored_fold,
    tasks_of,
    weight_path,
)
from immigrate.margin.penalties import Penalty, PenaltyPath, checked_penalties
from immigrate.margin.problem import Fit, Task
from immigrate.margin.prototypes import as_it_predicts
from immigrate.margin.screen import Screen
from immigrate.margin.sigma import sigma_grid
from immigrate.progress import fitting
from immigrate.solvers import Descent, Stop, warn_unless_converged
from immigrate.table import Table

# Features that a wide table keeps where no model is named, beside those of the strongest pairs.
MOST_KEPT = 100
# With more features such a model is screened: a fit takes about a second there and grows with the
# square.
MOST_FEATURES_UNSCREENED = 150


class ImmigrateClassifierCV(WeightMatrixModel, MarginClassifier):
    """IMMIGRATE with sigma, penalty and prediction rule chosen along a path of sigma.

    The path runs from the largest sigma to the smallest, each fit starting where the one
    before ended where that is safe (descent with ``constraint="psd"``; with non-negative
    weights a start from a large sigma can end in a poor solution). The choice is made by
    leave-one-out predictions of the training samples, which every fit gives away for free, or
    by cross-validation as in the paper [1]_.

    **The score by which sigma is chosen is not an estimate of performance.** Leave-one-out
    predictions use weights that have seen the sample, and the best of many is optimistic: on
    permuted labels the criterion is well above chance. Estimate performance with
    `sklearn.model_selection.cross_val_score` around this estimator.

    Parameters
    ----------
    estimator : ImmigrateClassifier, default=None
        What is fitted at each sigma. None is ``ImmigrateClassifier()``. Its `sigma`, `penalty`
        and `rule` are chosen here and not read; neither are its `n_jobs` and `verbose`.
    sigmas : {"auto", "paper"} or list of float, default="auto"
        "auto": 1, 1/2, ..., 1/32 times the median of q over pairs of samples under the
        starting W. "paper": 4, halved until it is not larger than 0.2.
    penalties : tuple, "path" or `PenaltyPath`, default=(None,)
        Choices for `penalty` of `ImmigrateClassifier`, such as ``(None, L1(0.03), L1(0.1))``;
        ``(None, "prune")`` is the paper's. "path" is ``PenaltyPath()``: strengths of `L1` from
        the one that leaves no pair down to 0. Penalties make the matrix easier to read: none of
        them raised the accuracy by more than the noise (docs/measurements/penalties.md).
    rules : tuple, default=("energy", "distance")
        Choices for `rule` of `ImmigrateClassifier`. The free energy is better with small
        neighbourhoods and unbalanced classes, the expected distance at large sigma.
    cv : int, splitter, iterable or None, default=None
        None is leave-one-out on the training samples, at no cost. An integer or a splitter
        is cross-validation, as in the paper. Between a weight per nominal column and one per
        level leave-one-out chooses in any case.
    temperatures : tuple of float, default=(4, 2, 1, 1/2, 1/4, 1/8)
        Class probabilities are a softmax of -score / (temperature sigma). Each candidate has the
        temperature under which the samples that judge it are likeliest; ties go to the first.
        Predicted classes depend on it through the choice of sigma and rule only.
    scoring : {"neg_log_loss", "accuracy", "balanced_accuracy"}, default="neg_log_loss"
        The criterion. The log-loss tells candidates apart that make as many errors, and chooses
        better ones in accuracy too (docs/measurements/choosing-sigma.md).
    combine : {"best", "mixture"}, default="best"
        "best" is the best candidate. "mixture" averages the class probabilities of all candidates
        at all temperatures, with the shares under which the samples that judge are most likely:
        somewhat better probabilities, somewhat fewer right classes, and as many weight matrices
        as sigmas. `members_` has the shares.
    one_standard_error : bool, default=False
        Whether to take, instead of the best candidate, the simplest one that is worse by no more
        than one standard error of the difference: the one with the largest sigma, and of these
        the one with the sparsest weights. With a penalty such as `L1` among the choices it is
        the one with the sparsest weights, and of these the one with the largest sigma.
    n_jobs : int, default=None
        Threads of the path, or processes over folds. None is 1 unless in a
        `joblib.parallel_config` context; -1 is all.
    verbose : bool, default=False
        Whether to print one line per sigma.

    Attributes
    ----------
    model_ : MarginModel
        All that predicting needs: references (the training samples), weights, sigma, rule,
        temperature; or the members of a mixture.
    sigma_, rule_, temperature_
        As chosen; of a mixture those of the member with the largest share.
    penalty_ : L1, L2, Prune or None
        That of the best candidate.
    members_ : pandas.DataFrame
        A row per member of the model, the largest share first: `sigma`, `penalty`, `rule`,
        `temperature`, `share`. One row unless ``combine="mixture"``.
    scores_path_ : pandas.DataFrame
        A row per candidate: `sigma`, `penalty`, `rule`, `temperature`, `selection_score` (a
        selection criterion, **not** performance), `standard_error`, `n_weights` (weights that
        are not 0, on and above the diagonal), `is_chosen`.
    weights_path_ : ndarray of shape (n_sigmas, n_features, n_features)
        Weights with the chosen penalty, before pruning, at each sigma, largest sigma first. They
        are solved to a relative gap of 10 `tol` if each fit starts where the last one ended;
        `weight_matrix_` is finished to `tol`.
    costs_path_ : ndarray of shape (n_sigmas,)
        Cost at each of them.
    strengths_ : ndarray of shape (n_strengths,)
        With a `PenaltyPath`: strengths, the largest first and 0 at the end.
    weights_by_strength_ : ndarray of shape (n_strengths, n_features, n_features)
        With a `PenaltyPath`: weights at each of them and at the chosen sigma, to the tolerance of
        the path.
    selection_ : Selection
        The choices, and what the criterion says of each.
    cv_results_ : dict
        The candidates as in scikit-learn's searches: `params`, `param_*`, `mean_test_score`,
        `std_test_score`, `rank_test_score`, and `split*_test_score` with a `cv` of several
        splits.
    weight_matrix_, feature_importances_, screen_importances_
        As in `ImmigrateClassifier`, at the chosen parameters on all samples; of a mixture the
        mean over its members, each counting as much as its share.
    n_anchors_, n_references_, weight_error_
        As in `ImmigrateClassifier`. If the solver works on samples of the table, the path itself
        is fitted on the smallest of them.
    objective_path_, gap_, n_iter_, converged_
        As in `ImmigrateClassifier`, of the best candidate on all samples. Other members of a
        mixture are taken from the path as they are.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ImmigrateClassifier : One sigma; ``sigma="auto"`` needs no search.
    SigmaPathDisplay, PenaltyPathDisplay : Draw the path.

    References
    ----------
    .. [1] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import ImmigrateClassifierCV
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> ImmigrateClassifierCV(sigmas=[4, 2, 1, 0.5]).fit(X, y).sigma_
    4.0

    Other weights, other steps, a screen: all are parameters of the estimator inside.

    >>> from immigrate import ImmigrateClassifier
    >>> path = ImmigrateClassifierCV(ImmigrateClassifier(constraint="nonnegative"))
    >>> path.set_params(estimator__solver="paper").get_params()["estimator__solver"]
    'paper'
    """

    def __init__(
        self,
        estimator: ImmigrateClassifier | None = None,
        *,
        sigmas: Any = "auto",
        penalties: Sequence[Any] = (None,),
        rules: Sequence[str] = ("energy", "distance"),
        cv: Any = None,
        temperatures: Sequence[float] = TEMPERATURES,
        scoring: str = "neg_log_loss",
        combine: str = "best",
        one_standard_error: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.sigmas = sigmas
        self.penalties = penalties
        self.rules = rules
        self.cv = cv
        self.temperatures = temperatures
        self.scoring = scoring
        self.combine = combine
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the path and choose.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts in the fits. The criterion counts all alike.
        groups : array-like of shape (n_samples,), optional
            For a `cv` that splits by groups.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_options()
            base = base_classifier(self.estimator, ImmigrateClassifier())
            penalties = checked_penalties(self.penalties, base.constraint)
            options = FitOptions.of(base, n_jobs=self.n_jobs, verbose=self.verbose)
            table = options.read(self, X, y, sample_weight)
            task, choices, path = self._best_path(options, table, penalties)
            if self.cv is None:
                scores, codes = [point.kept.scores for point in path], table.outcome.codes
                if task.samples is not None:
                    scores = [one.rows(task.references.is_anchor) for one in scores]
                    codes = task.references.anchor_codes
                splits = [Split(scores, codes)]
            else:
                splits = self._cross_validated(task, table, choices, groups)
            selection = Selection.over(choices, splits, self.scoring)
            if self.combine == "mixture":
                selection = selection.with_shares(splits)
            self._choose(selection, path, task, table)
        return self

    def _part(self, name: str, value: Any) -> Any:
        if name == "estimator":
            return base_classifier(value, ImmigrateClassifier())
        return PenaltyPath() if name == "penalties" and value == "path" else value

    def _check_options(self) -> None:
        check_judged(self.scoring, self.rules, self.temperatures)
        check_option("combine", self.combine, ("best", "mixture"))
        if self.one_standard_error and self.combine == "mixture":
            raise ValueError(
                "one_standard_error=True asks for one candidate and combine='mixture' for all of "
                "them; leave one of the two at its default."
            )

    def _best_path(
        self,
        options: FitOptions,
        table: Table,
        penalties: PenaltyPath | Sequence[Penalty | None],
    ) -> tuple[Task, Choices, list[PathPoint]]:
        """The path of fits; of two ways to encode levels, the one that leave-one-out likes."""
        # How many folds a splitter makes may depend on groups; five is a good guess.
        n_folds = self.cv if isinstance(self.cv, int) else 5
        n_paths = 1 if self.cv is None else 1 + n_folds
        paths, likeliest = [], []
        for task in tasks_of(options, table, n_paths * STEPS_OF_PATH):
            sigmas = sigma_grid(self.sigmas, task.references, task.start)
            offered = penalties
            begun: list[FitWithoutPairs] = []
            if isinstance(offered, PenaltyPath):
                offered, begun = path_of_strengths(task, offered, sigmas)
            choices = Choices(sigmas, offered, self.rules, self.temperatures)
            solver = path_solver(task, choices)
            path = list(weight_path(task, solver, choices, begun, verbose=self.verbose))
            paths.append((task, choices, path))
        if len(paths) == 1:
            return paths[0]
        for task, _, path in paths:
            models = [point.model(task.references) for point in path]
            likeliest.append(max(models, key=lambda model: model.log_likelihoods.mean()))
        return paths[chosen_encoding(likeliest)]

    @property
    def scores_path_(self) -> pd.DataFrame:
        """A row per candidate, with its selection criterion: not an estimate of performance."""
        check_is_fitted(self)
        return self.selection_.table(self._n_weights, self._chosen)

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The candidates as in scikit-learn's searches."""
        check_is_fitted(self)
        return self.selection_.results()

    @property
    def members_(self) -> pd.DataFrame:
        """A row per member of the model, the largest share first."""
        check_is_fitted(self)
        points = self.model_.points
        rows = [
            (points[i].sigma, str(points[i].penalty), rule, temperature, share)
            for i, rule, temperature, share in map(astuple, self.model_.members)
        ]
        return pd.DataFrame(rows, columns=["sigma", "penalty", "rule", "temperature", "share"])

    @property
    def rule_(self) -> str:
        """The chosen rule."""
        check_is_fitted(self)
        return self.model_.rule

    @property
    def temperature_(self) -> float:
        """The chosen temperature."""
        check_is_fitted(self)
        return self.model_.temperature

    def _cross_validated(
        self, task: Task, table: Table, choices: Choices, groups: Any
    ) -> list[Split]:
        """How folds score the candidates; the screen sees the training samples only."""
        from sklearn.model_selection import check_cv

        # The way to encode levels is settled. One thread: folds are spread over processes.
        nominal = "levels" if task.references.encoding.by_level else "mismatch"
        columns = clone(task.options.columns).set_params(nominal=nominal)
        options = replace(task.options, columns=columns, n_jobs=None, verbose=False)
        X, codes = table.values, table.outcome.codes
        splitter = check_cv(self.cv, codes, classifier=True)
        folds: list[Split] = Parallel(n_jobs=self.n_jobs)(
            delayed(scored_fold)(options, table.fold(train), (X[test], codes[test]), choices)
            for train, test in splitter.split(X, codes, groups)
        )
        if not folds:
            raise ValueError(f"cv={self.cv!r} has no fold; give a number of folds, or splits.")
        return folds

    def _choose(
        self, selection: Selection, path: list[PathPoint], task: Task, table: Table
    ) -> None:
        """Become the chosen model."""
        choices = selection.choices
        sizes = np.array([np.count_nonzero(np.triu(point.kept.weights)) for point in path])
        n_weights = sizes[choices.points]
        chosen = selection.simplest(n_weights) if self.one_standard_error else selection.best()
        number = choices.points[chosen]
        is_rough = path_solver(task, choices) is not task.options.solver
        fit = finished(task, path[number], is_rough=is_rough)
        if fit.solution.stop is not Stop.TOLERANCE:
            warn_unless_converged(fit.solution, task.options.solver)
        model = self._combined(selection, path, chosen, fit)
        self._adopt(table, model, fit)
        # A fit before this one may have followed strengths, and this one not.
        for name in ("strengths_", "weights_by_strength_"):
            self.__dict__.pop(name, None)
        self._keep_path(path, number, choices, task.references.encoding)
        self.penalty_, self.selection_ = path[number].penalty, selection
        self._n_weights, self._chosen = n_weights, chosen

    def _combined(
        self, selection: Selection, path: list[PathPoint], chosen: int, fit: Fit
    ) -> MarginModel:
        """The chosen candidate as it was finished, or the mixture of all of them."""
        candidate, numbers = selection.candidates[chosen], selection.choices.points
        point, seen = path[numbers[chosen]], fit.task.references
        kept = fit.solution
        if point.penalty is not None:
            kept = fit.task.kept(fit.solution, fit.sigma, point.penalty)
        found = MarginModel.of(seen, kept, fit.sigma, candidate["rule"], point.penalty)
        if self.combine == "mixture":
            models = [found if one is point else one.model(seen) for one in path]
            assert selection.shares is not None
            mixture = MarginModel.mixture(
                [models[number] for number in numbers],
                [one["rule"] for one in selection.candidates],
                selection.choices.temperatures,
                selection.shares,
            )
            return as_it_predicts(mixture, fit.task, scoring=self.scoring)
        return as_it_predicts(
            found.with_rule(found.rule, candidate["temperature"]),
            fit.task,
            rules=self.rules,
            temperatures=self.temperatures,
            scoring=self.scoring,
        )

    def _keep_path(
        self, path: list[PathPoint], number: int, choices: Choices, encoding: Encoding
    ) -> None:
        """Keep the fits with the chosen penalty, and with a path of strengths those at sigma."""
        folded, n = encoding.folded, len(choices.penalties)
        solutions = [point.solution for point in path[number % n :: n]]
        self.weights_path_ = np.array([folded(solution.weights) for solution in solutions])
        self.costs_path_ = np.array([solution.objective_path[-1] for solution in solutions])
        if isinstance(self.penalties, str | PenaltyPath):
            at_sigma = path[number - number % n :][:n]
            strengths = [getattr(point.penalty, "strength", 0.0) for point in at_sigma]
            self.strengths_ = np.array(strengths)
            self.weights_by_strength_ = np.array([folded(one.kept.weights) for one in at_sigma])


def default_model(
    n_features: int,
    circular_features: Any = None,
    *,
    boosted: bool = False,
    is_number: bool = False,
    **options: Any,
) -> Any:
    """The classifier for a table with so many features, or the regressor; a wide one is screened.

    Parameters
    ----------
    n_features : int
    circular_features : dict, optional
        Columns that come round, and their periods.
    boosted : bool, default=False
        A vote of models in place of one.
    is_number : bool, default=False
        A model of numbers.
    **options
        Parameters of the model.

    Examples
    --------
    >>> from immigrate.estimators.immigrate_cv import default_model
    >>> default_model(30, n_jobs=2)
    ImmigrateClassifierCV(estimator=ImmigrateClassifier(random_state=0), n_jobs=2)
    """
    # Large tables are fitted on samples of them: the same ones in every run.
    columns = Columns(circular_features=circular_features) if circular_features else None
    screen = default_screen(n_features)
    if is_number:
        from immigrate.estimators.immigrate_regressor import ImmigrateRegressor

        return ImmigrateRegressor(screen=screen, columns=columns, random_state=0, **options)
    base = ImmigrateClassifier(screen=screen, columns=columns, random_state=0)
    if not boosted:
        return ImmigrateClassifierCV(base, **options)
    from immigrate.estimators.boosting import BoostedImmigrateClassifier

    # A round of boosting takes few steps, as it does where no base is given.
    return BoostedImmigrateClassifier(base.set_params(solver=Descent(max_iter=5)), **options)


def is_wide(n_features: int) -> bool:
    """Whether a table has too many features for a weight of each pair.

    Examples
    --------
    >>> from immigrate.estimators.immigrate_cv import is_wide
    >>> is_wide(150), is_wide(151)
    (False, True)
    """
    return n_features > MOST_FEATURES_UNSCREENED


def default_screen(n_features: int) -> Screen | None:
    """Which features of a wide table enter; None is all of them."""
    return Screen("pairs", max_features=MOST_KEPT) if is_wide(n_features) else None


def words_of_screen(n_features: int) -> str:
    """What is said of a table that is screened.

    Examples
    --------
    >>> from immigrate.estimators.immigrate_cv import words_of_screen
    >>> words_of_screen(30)
    ''
    """
    if not is_wide(n_features):
        return ""
    return (
        f"With {n_features} features the model is screened: at most {MOST_KEPT} of them, those "
        "that IM4E finds strongest one by one, and the 20 of the strongest pairs enter the weight "
        "matrix."
    )
