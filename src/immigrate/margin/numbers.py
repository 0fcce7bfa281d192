"""The road of a fit to numbers: weights at a few sigmas, of which leave-one-out errors choose one.

    task  ->  weights at each sigma, the widest first  ->  leave-one-out squared errors
          ->  the sigma of the fit  ->  the sigma of predictions, that or a fraction of it

Everything before the task, and the solvers, are those of classes. A number is predicted by the
mean of its soft neighbours, which `MarginModel` scores as a share between the lowest and the
highest number (`core.targets`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from immigrate.arrays import Array
from immigrate.checks import check_positive
from immigrate.core.couplings import class_probability
from immigrate.durations import STEPS_OF_PATH
from immigrate.margin.choice import Choices
from immigrate.margin.growing import grown_fit
from immigrate.margin.model import MarginModel, Point, within_range
from immigrate.margin.options import FitOptions
from immigrate.margin.path import finished, path_solver, tasks_of, weight_path
from immigrate.margin.penalties import Penalty
from immigrate.margin.problem import Fit, Task
from immigrate.margin.sigma import distance_at
from immigrate.solvers import Solver, Stop, warn_unless_converged
from immigrate.table import Table, read_weighted_table

# Sigmas of fits, of the typical distance, and of predictions, of that of the fit. Smaller ones fit
# the samples that they are judged by (docs/measurements/regression.md).
FIT_MULTIPLES, WIDTHS = (1.0, 0.5, 0.25, 0.125), (1.0, 0.5, 0.25)
# Samples that weights are fitted on at most, and that choose the sigma of predictions from a
# larger table: a pass over 2,000 x 20 takes about a second.
MOST_FITTED, MOST_JUDGES = 2000, 500
# How much longer a pass in NumPy takes than a compiled one, for the line before a long fit.
SLOWER = 15


class NumberOptions(FitOptions):
    """What a fit of weights for pairs is to do, where the outcome is a number."""

    def read(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Table:
        """The table of a fit of `estimator`, read as these options want it."""
        return read_weighted_table(
            estimator,
            X,
            y,
            sample_weight,
            categorical_features=self.columns.categorical_features,
            circular_features=self.columns.circular_features,
            outcome="number",
        )


def fitted_to_numbers(
    options: NumberOptions, table: Table, sigma: Any, penalty: Penalty | None
) -> tuple[MarginModel, Fit]:
    """All of a fit between reading the table and writing attributes."""
    options = replace(options, solver=sampling_solver(options.solver, len(table.values)))
    found = [
        best_fit(task, sigma, penalty) for task in tasks_of(options, table, SLOWER * STEPS_OF_PATH)
    ]
    model, fit = found[0]
    if len(found) > 1 and is_clearly_better(found[1][0], model):
        model, fit = found[1]
    if fit.solution.stop is not Stop.TOLERANCE:
        warn_unless_converged(fit.solution, options.solver)
    if fit.task.samples is not None:
        model = over_all_samples(model, fit.task)
    return model, fit


def sampling_solver(solver: Solver, n_samples: int) -> Solver:
    """The solver that looks at a sample of a large table, unless it says itself at how many."""
    sizes = {"n_anchors", "n_references"} & set(solver.get_params())
    is_open = sizes and all(getattr(solver, name) == "auto" for name in sizes)
    if n_samples <= MOST_FITTED or not is_open:
        return solver
    sampling: Solver = clone(solver).set_params(**dict.fromkeys(sizes, MOST_FITTED))
    return sampling


def best_fit(task: Task, sigma: Any, penalty: Penalty | None) -> tuple[MarginModel, Fit]:
    """The fit whose leave-one-out errors are smallest, and the model that predicts with it."""
    if isinstance(sigma, str):
        unit = distance_at(task.start, task.references)
        sigmas = [multiple * unit for multiple in FIT_MULTIPLES]
    else:
        sigmas = [check_positive("sigma", sigma)]
    choices = Choices(sigmas, [penalty], ["energy"])
    solver = path_solver(task, choices)
    path = list(weight_path(task, solver, choices, verbose=task.options.verbose))
    errors = [loo_errors(point.model(task.references)).mean() for point in path]
    # Of equals the widest, which comes first.
    point = path[int(np.argmin(errors))]
    if task.samples is not None:
        fit = grown_fit(
            task, point.sigma, penalty, begin=point.solution, weight_set=point.weight_set
        )
    else:
        fit = finished(task, point, is_rough=solver is not task.options.solver)
    kept = fit.task.kept(fit.solution, fit.sigma, penalty)
    model = MarginModel.of(fit.task.references, kept, fit.sigma, "energy", penalty)
    return (at_best_width(model, fit.task) if isinstance(sigma, str) else model), fit


def at_best_width(model: MarginModel, task: Task) -> MarginModel:
    """The same weights with the sigma at which leave-one-out predictions err least."""
    candidates = [model]
    for width in WIDTHS[1:]:
        sigma = within_range(model.sigma * width)
        scores = task.problem.loo_scores(model.weights, sigma).rows(task.references.is_anchor)
        point: Point = replace(model.points[0], sigma=sigma, loo_scores=scores)
        candidates.append(replace(model, points=(point,)))
    return candidates[int(np.argmin([loo_errors(one).mean() for one in candidates]))]


def over_all_samples(model: MarginModel, task: Task) -> MarginModel:
    """Weights of a sample with all samples as references, and a sigma for so many of them."""
    everything = task.all_references
    random = check_random_state(task.options.random_state)
    n = len(everything.codes)
    is_judge = np.zeros(n, dtype=bool)
    is_judge[random.permutation(n)[: min(MOST_JUDGES, n // 5)]] = True
    others, judging = everything.rows(~is_judge), everything.rows(is_judge)
    candidates = [model.on(others).with_sigma_times(width) for width in WIDTHS]
    weights = [model.weights] * len(WIDTHS)
    sigmas = [one.sigma for one in candidates]
    scores = others.problem().class_scores_many(judging.table, weights, sigmas)
    errors = [
        np.mean((mean_numbers(one.free_energy, sigma, others.codes) - judging.codes) ** 2)
        for one, sigma in zip(scores, sigmas)
    ]
    return candidates[int(np.argmin(errors))].on(everything)


def mean_numbers(score: Array, sigma: float, numbers: np.ndarray) -> Array:
    """The numbers that scores stand for: shares between the lowest and the highest, (n,)."""
    low, high = numbers.min(), numbers.max()
    share = class_probability(score, sigma)
    # Both ends are met exactly, and their distance cannot overflow.
    mean: Array = share[:, 0] * low + share[:, 1] * high
    return mean


def loo_errors(model: MarginModel) -> Array:
    """Squared error of each leave-one-out prediction: a criterion, and no estimate, (n,)."""
    references, scores = model.references, model.scores(None)
    found = mean_numbers(scores, model.sigma, references.codes)
    errors: Array = (found - references.anchor_codes) ** 2
    return errors


def is_clearly_better(model: MarginModel, other: MarginModel) -> bool:
    """Whether its errors are smaller by more than the standard error of the difference."""
    gain = loo_errors(other) - loo_errors(model)
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))
