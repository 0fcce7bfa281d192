"""From parameters and training data to what a solver is to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from immigrate.checks import check_option
from immigrate.core.cones import MATRIX_SETS, WeightSet, unit
from immigrate.core.pruning import pruned
from immigrate.estimators._fitted import FittedMargin, References
from immigrate.estimators._screen import Screened, im4e_importances, resolved_screen
from immigrate.estimators._training import TrainingData, checked_start
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


def learning_task(model: ImmigrateClassifier, data: TrainingData, n_jobs: int | None) -> Task:
    """What a solver is to do for `model`, whose own sigma, rule and prune are not read."""
    solver = resolved_solver(model.solver)
    weight_set = MATRIX_SETS[check_option("constraint", model.constraint, MATRIX_SETS)]
    solver.check_fits(weight_set, model.constraint)
    screened = Screened(np.ones(data.X.shape[1], dtype=bool), importances=None)
    if model.screen is not None:
        screened = resolved_screen(model.screen).passed(data, solver, n_jobs)
    X = data.X if screened.is_kept.all() else data.X[:, screened.is_kept]
    n = n_threads(n_jobs)
    # Laid out once: the solver and later every prediction use the same layout.
    problem = MarginProblem(X, data.codes, anchor_weight=data.anchor_weight, n_threads=n)
    references = References(
        X,
        data.codes,
        screened.is_kept,
        data.anchor_weight,
        screened.importances,
        laid_out={n: problem},
    )
    W = starting_weights(solver, references, model.random_state, n_jobs)
    if solver.needs_feasible_start:
        # Descent is from a point of the set; the paper's steps start anywhere.
        W = weight_set.prox(W, 0.0)
    is_warm = solver.can_warm_start and weight_set.can_warm_start
    return Task(problem, unit(W), solver, weight_set, references, is_warm)


def starting_weights(
    solver: Solver, references: References, random_state: Any, n_jobs: int | None
) -> Array:
    """The W that `init` of the solver stands for."""
    init, p = solver.init, references.table.shape[1]
    if not isinstance(init, str):
        return checked_start(init, references.is_used)
    if init == "random":
        W: Array = check_random_state(random_state).uniform(size=(p, p))
        return W + W.T
    if init == "im4e":
        weight = references.anchor_weight
        return np.diag(
            im4e_importances(references.table, references.codes, weight, solver, n_jobs)
        )
    if init == "auto" and references.screen_importances is not None:
        return np.diag(references.screen_importances[references.is_used])
    return np.eye(p)
