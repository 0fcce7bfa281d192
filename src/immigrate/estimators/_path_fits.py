"""Fits along a path of sigma: how well they are solved, on which samples, and how they end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from immigrate.arrays import Array, Codes
from immigrate.estimators._choice import Choices, PathPoint, Split, weight_path
from immigrate.estimators._encoding import resolved_columns
from immigrate.estimators._growth import Fit, grown_fit
from immigrate.estimators._immigrate import ImmigrateClassifier
from immigrate.estimators._margin_classifier import print_step
from immigrate.estimators._task import Task, learning_tasks
from immigrate.margin.model import MarginModel
from immigrate.solvers import Solver
from immigrate.table import Table

# Choosing needs predictions, not the last digits: fits along a warm path stop at a gap this
# many times wider, and the chosen one is then finished.
PATH_TOLERANCE = 10
# Along strengths less so: neighbours are near, and rough fits would stay where the last one ended.
STRENGTH_TOLERANCE = 5


def likeliest_of(path: Sequence[PathPoint]) -> MarginModel:
    """The model of a path that leave-one-out finds likeliest."""
    return max((point.model for point in path), key=lambda model: model.log_likelihoods.mean())


def as_encoded(base: ImmigrateClassifier, task: Task) -> ImmigrateClassifier:
    """The base classifier with the choice between mismatch and levels made."""
    columns = resolved_columns(base.columns)
    nominal = "levels" if task.references.encoding.by_level else "mismatch"
    return clone(base).set_params(columns=clone(columns).set_params(nominal=nominal))


def path_solver(task: Task, choices: Choices) -> Solver:
    """The solver of the path: a rougher one where the chosen fit is finished from there."""
    is_by_strength = task.solver.can_warm_start and choices.n_prices > 1
    # Nothing is finished afterwards then, so that the path has to be solved to the user's
    # tolerance.
    if not task.is_warm and not is_by_strength:
        return task.solver
    factor = STRENGTH_TOLERANCE if is_by_strength else PATH_TOLERANCE
    return task.solver.with_limits(tol=factor * task.solver.tol)


def finished(task: Task, point: PathPoint, *, is_rough: bool, verbose: bool = False) -> Fit:
    """The chosen fit taken on from the tolerance and the sample of the path to the user's."""
    solution, sigma = point.solution, point.model.sigma
    if not is_rough and not task.is_sampled:
        return Fit(task, solution, np.zeros_like(solution.weights))
    return grown_fit(
        task,
        sigma,
        penalty=point.penalty,
        start=solution.weights,
        first_step=solution.next_step,
        on_step=print_step if verbose and task.is_sampled else None,
        verbose=verbose,
    )


def along_sigmas(path: Sequence[PathPoint], chosen: PathPoint) -> dict[str, Array]:
    """What a path keeps of the fits with the chosen penalty, one per sigma."""
    folded = chosen.model.references.encoding.folded
    solutions = [point.solution for point in path if point.penalty is chosen.penalty]
    return {
        "weights_path_": np.array([folded(solution.weights) for solution in solutions]),
        "costs_path_": np.array([solution.objective_path[-1] for solution in solutions]),
    }


def along_strengths(path: Sequence[PathPoint], chosen: PathPoint) -> dict[str, Array]:
    """What a path keeps of the fits at the chosen sigma, one per strength."""
    folded = chosen.model.references.encoding.folded
    points = [point for point in path if point.model.sigma == chosen.model.sigma]
    strengths = [0.0 if p.penalty is None else p.penalty.strength for p in points]
    return {
        "strengths_": np.array(strengths),
        "weights_by_strength_": np.array([folded(point.model.weights) for point in points]),
    }


def scored_fold(
    base: ImmigrateClassifier,
    train: Table,
    test: tuple[Array, Codes],
    choices: Choices,
) -> Split:
    """Scores of the test samples under every point of a path through the training samples."""
    # One thread: folds are spread over processes.
    # The way to encode levels is settled (`as_encoded`): there is one task.
    task = learning_tasks(base, train, n_jobs=None)[0]
    models = [point.model for point in weight_path(task, path_solver(task, choices), choices)]
    X, codes = test
    weights, sigmas = [model.weights for model in models], [model.sigma for model in models]
    return Split(task.references.scores(X, weights, sigmas, n_jobs=None), codes)
