"""From parameters and training data to what a solver is to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from immigrate.checks import check_option
from immigrate.core.cones import MATRIX_SETS, WeightSet, share, unit
from immigrate.core.forms import LINEAR
from immigrate.core.pruning import pruned
from immigrate.estimators._encoding import Encoding, offered_encodings, resolved_columns
from immigrate.estimators._fitted import FittedMargin, References
from immigrate.estimators._im4e import feature_weights
from immigrate.estimators._screen import Screened, as_shares, resolved_screen
from immigrate.estimators._training import TrainingData, checked_start
from immigrate.estimators.waiting import say_if_wide
from immigrate.kernels.threads import n_threads
from immigrate.problems import MarginProblem
from immigrate.solvers import Solution, Solver, resolved_solver
from immigrate.typing import Array

if TYPE_CHECKING:
    from immigrate.estimators._immigrate import ImmigrateClassifier


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that parameters and training data decide before the first step.

    Attributes
    ----------
    problem : MarginProblem
        Over the features that passed the screen.
    start : ndarray
        Where the weights start.
    solver : Solver
    weight_set : WeightSet
    references : References
        What prediction will need of the training data.
    is_warm : bool
        Whether fits along a path of sigma may start where the one before ended.
    """

    problem: MarginProblem
    start: Array
    solver: Solver
    weight_set: WeightSet
    references: References
    is_warm: bool

    def fitted(
        self, solution: Solution, sigma: float, prune: str | float | None, rule: str
    ) -> FittedMargin:
        """The model that a solution makes, its weights pruned."""
        weights, left_out = solution.weights, solution.scores
        if prune is not None:
            # "auto" is the paper's limit, 1 / A.
            below = 1 / len(weights) if isinstance(prune, str) else prune
            weights = pruned(weights, below=below)
            left_out = self.problem.loo_scores(weights, sigma)
        return FittedMargin(self.references, weights, sigma, rule, left_out)


def learning_tasks(
    model: ImmigrateClassifier, data: TrainingData, n_jobs: int | None
) -> list[Task]:
    """What a solver is to do for `model`, whose own sigma, rule and prune are not read.

    One task, or two where leave-one-out is to choose between a weight per nominal column and a
    weight per level.
    """
    solver = resolved_solver(model.solver)
    weight_set = MATRIX_SETS[check_option("constraint", model.constraint, MATRIX_SETS)]
    solver.check_fits(weight_set, model.constraint)
    columns = resolved_columns(model.columns)
    # Units of all samples in every fold: sigma means the same in each of them.
    encoding = Encoding.of(data.source.values, data.n_levels, columns.scale)
    # Dates, identifiers and columns without a value are no features, whatever a screen says.
    screened = Screened(data.reader.is_used, importances=None)
    if model.screen is not None:
        in_units = replace(data, X=encoding.table(data.X), mismatch=encoding.mismatch)
        screened = resolved_screen(model.screen).passed(in_units, solver, n_jobs)
    encoding = encoding.columns(screened.is_kept)
    say_if_wide(len(data.X), int(screened.is_kept.sum()), model.constraint)
    task = TaskMaker(model, data, screened, solver, weight_set, n_jobs)
    offered = offered_encodings(encoding, columns.nominal, len(data.X))
    return [task.with_encoding(encoding) for encoding in offered]


@dataclass(frozen=True, eq=False)
class TaskMaker:
    """What the tasks of one fit have in common."""

    model: ImmigrateClassifier
    data: TrainingData
    screened: Screened
    solver: Solver
    weight_set: WeightSet
    n_jobs: int | None

    def with_encoding(self, encoding: Encoding) -> Task:
        """The task with one way of encoding nominal columns."""
        data, is_kept = self.data, self.screened.is_kept
        X = data.X if is_kept.all() else data.X[:, is_kept]
        is_out = data.reader.is_used & ~is_kept
        references = References(
            X,
            data.codes,
            is_kept,
            encoding,
            data.anchor_weight,
            self.screened.importances,
            screened_out=data.X[:, is_out] if is_out.any() else None,
        )
        # Laid out once: the solver and later every prediction use the same layout.
        problem = references.problem(n_threads(self.n_jobs))
        W = starting_weights(self.solver, references, self.model.random_state, self.n_jobs)
        if self.solver.needs_feasible_start:
            # Descent is from a point of the set; the paper's steps start anywhere.
            W = self.weight_set.prox(W, 0.0)
        is_warm = self.solver.can_warm_start and self.weight_set.can_warm_start
        return Task(problem, unit(W), self.solver, self.weight_set, references, is_warm)


def starting_weights(
    solver: Solver, references: References, random_state: Any, n_jobs: int | None
) -> Array:
    """The W that `init` of the solver stands for."""
    init, encoding = solver.init, references.encoding
    q = len(encoding.owner)
    if not isinstance(init, str):
        return encoding.unfolded(checked_start(init, references.is_used))
    if init == "random":
        random: Array = check_random_state(random_state).uniform(size=(q, q))
        return random + random.T
    if init == "im4e":
        linear = replace(references, form=LINEAR, laid_out={})
        problem = linear.problem(n_threads(n_jobs))
        # Steps of the same kind, with limits of their own.
        return np.diag(as_shares(share(feature_weights(problem, type(solver)()).weights)))
    if init == "auto" and references.screen_importances is not None:
        return np.diag(references.screen_importances[references.is_used][encoding.owner])
    return np.eye(q)
