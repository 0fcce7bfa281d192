"""The road of a fit at one sigma (`fitted`), and the fits along a path, of which CV keeps one.

A path goes along sigma and, at each, along the strength of a penalty. Every fit starts from a
neighbour that is solved:

    strength ->  strong        weaker        ...      weak
    sigma  large   A  ----------> B ------------------> C         at one sigma, every fit starts
           |       |                                              where the stronger penalty ended
           small   A' ---------> B' -----------------> C'         and needs no pass to begin with

Only the first fit of a sigma starts from the sigma before, and that only where it is safe.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.cones import WeightSet, norm
from immigrate.durations import (
    FEWEST_FEATURES_ANNOUNCED,
    LEAST_WORK_ANNOUNCED,
    STEPS_OF_FIT,
    projection_seconds,
    words_of_long_fit,
)
from immigrate.kernels import MarginPass, pass_seconds
from immigrate.kernels.threads import blas_threads_for, n_threads
from immigrate.margin.choice import Choices, Split
from immigrate.margin.encoding import Encoding, References, offered_encodings
from immigrate.margin.growing import FIRST_SIZE, Samples, Size, grown_fit, sample_sizes
from immigrate.margin.model import MarginModel, chosen_encoding, within_range
from immigrate.margin.options import FitOptions
from immigrate.margin.penalties import NO_PAIRS, Penalty, PenaltyPath, PricedPenalty
from immigrate.margin.problem import Fit, Task
from immigrate.margin.prototypes import as_it_predicts
from immigrate.margin.sigma import fit_sigma
from immigrate.progress import print_line, progress_stage
from immigrate.solvers import Solution, Solver, Stop, print_step, warn_unless_converged
from immigrate.table import Table

# A grid of strengths begins about where the first pair enters: a few steps tell that.
LARGEST_TOLERANCE = 1e-2
# Anchors and references of solvers that look at all samples of a table that is not large.
ALL_OF_FEW = (("auto", "auto"), (None, None))
# Choosing needs predictions, not the last digits: fits along a warm path stop at a gap this
# many times wider, and the chosen one is then finished.
PATH_TOLERANCE = 10
# Along strengths less so: neighbours are near, and rough fits would stay where the last one ended.
STRENGTH_TOLERANCE = 5


def tasks_of(options: FitOptions, table: Table, n_steps: int = STEPS_OF_FIT) -> list[Task]:
    """What a solver is to do.

    One task, or two where leave-one-out is to choose between a weight per nominal column and a
    weight per level. `n_steps`, roughly the number of steps of the whole fit, is for the line that
    announces a long fit.
    """
    encoding = Encoding.of(table, options.columns.scale)
    # Dates, identifiers and columns without a value are no features, whatever a screen says.
    is_kept, importances, samples = table.reader.is_used, None, None
    if options.screen is not None:
        is_kept, importances, samples = screened(options, table, encoding)
    n = len(table.values)
    encodings = offered_encodings(encoding, is_kept, options.columns.nominal, n)
    n_columns = max(len(one.owner) for one in encodings)
    form = options.make_form(table)
    solver_sizes = options.solver.n_anchors, options.solver.n_references
    if n > FIRST_SIZE or solver_sizes not in ALL_OF_FEW:
        # One size of sample for both encodings, that of the wider: likelihoods are compared.
        sizes = sample_sizes(options.solver, n, form.n_weights(n_columns))
        samples = samples_of(options, table, sizes, samples)
    all_references = References(
        table.values if is_kept.all() else table.values[:, is_kept],
        table.outcome.codes if table.outcome.numbers is None else table.outcome.numbers,
        is_kept,
        encodings[0],
        None if table.weight is None else table.anchor_weight,
        importances,
        form,
    )
    tasks = [options.task(replace(all_references, encoding=one), samples) for one in encodings]
    is_long = n_steps * (float(n) * n_columns) ** 2 > LEAST_WORK_ANNOUNCED
    if is_long or n_columns >= FEWEST_FEATURES_ANNOUNCED:
        for task in tasks:
            say_if_long(task, n_steps)
    return tasks


def screened(
    options: FitOptions, table: Table, encoding: Encoding
) -> tuple[Mask, Array, Samples | None]:
    """Which features pass the screen, their importances, and the sample that it looked at."""
    assert options.screen is not None
    # A screen has a weight per feature, and looks at a sample where that takes long too.
    sizes = sample_sizes(options.solver, *table.values.shape)
    samples = samples_of(options, table, sizes)
    seen = table if samples is None else table.fold(samples.drawn(sizes[-1]).rows)
    in_units = replace(seen, values=encoding.table(seen.values))
    is_kept, importances = options.screen.passed(
        in_units, options.solver, encoding, options.n_jobs
    )
    return is_kept, importances, samples


def samples_of(
    options: FitOptions, table: Table, sizes: list[Size], before: Samples | None = None
) -> Samples | None:
    """Samples of these sizes, in the order of those before; None where there are no sizes."""
    if not sizes:
        return None
    if before is not None:
        return replace(before, sizes=sizes)
    return Samples.of(table.outcome.codes, table.anchor_weight, sizes, options.random_state)


def say_if_long(task: Task, n_steps: int) -> None:
    """One line in the log before a fit that will take long, with the remedy."""
    references, n_features = task.references, len(task.references.encoding.owner)
    n = len(references.codes)
    # Of two samples that are anchor and reference of one another one pair serves both.
    n_pairs = len(references.anchor_codes) * (n if references.is_anchor is not None else n / 2)
    n_weights = references.form.n_weights(n_features)
    in_passes = pass_seconds(n_pairs, n_weights) / n_threads(task.options.n_jobs)
    in_projections = projection_seconds(task.options.cone.n_decompositions, n_features)
    words = words_of_long_fit(
        n, n_features, n_steps * (in_passes + in_projections), has_pairs=n_weights > n_features
    )
    if words:
        from immigrate.kernels.compiling import log_once

        log_once(words)


def fitted(
    options: FitOptions, table: Table, sigma: Any, penalty: Penalty | None, rule: str
) -> tuple[MarginModel, Fit]:
    """The model with one sigma: all of a fit between reading the table and writing attributes."""
    fits = [fit_at(task, sigma, penalty, rule) for task in tasks_of(options, table)]
    number = chosen_encoding([model for model, _ in fits]) if len(fits) > 1 else 0
    model, fit = fits[number]
    # A warning may be an error to the user: it comes before anything is written. Only the fit
    # that is kept has to have converged.
    if fit.solution.stop is not Stop.TOLERANCE:
        warn_unless_converged(fit.solution, options.solver)
    if options.narrower and isinstance(sigma, str):
        model = with_likeliest_sigma(model, fit.task, options.narrower)
    if fit.task.samples is not None or options.references not in ("auto", "all"):
        model = as_it_predicts(model, fit.task)
    return model, fit


def fit_at(task: Task, sigma: Any, penalty: Penalty | None, rule: str) -> tuple[MarginModel, Fit]:
    """The model that one task leads to, as it was fitted."""
    options, at_start = task.options, None
    weight_set: WeightSet = task.weight_set
    on_step = print_step if options.verbose else None
    with blas_threads_for(len(task.references.encoding.owner)):
        sigma = fit_sigma(sigma, options.multiple, task.references, task.start)
        if task.samples is not None:
            fit = grown_fit(task, sigma, penalty, on_step=on_step)
        else:
            if penalty is not None and penalty.is_priced:
                weight_set, at_start = task.priced(sigma, penalty)
            solution = options.solver.solution(
                task.problem, task.start, sigma, weight_set, known=at_start, on_step=on_step
            )
            fit = Fit(task, solution, sigma)
    kept = fit.solution if penalty is None else fit.task.kept(fit.solution, sigma, penalty)
    return MarginModel.of(fit.task.references, kept, sigma, rule, penalty), fit


def with_likeliest_sigma(model: MarginModel, task: Task, factors: Sequence[float]) -> MarginModel:
    """The same weights with the sigma at which leave-one-out predictions are most likely."""
    candidates = [model]
    for factor in factors:
        sigma = within_range(model.sigma * factor)
        scores = task.problem.loo_scores(model.weights, sigma).rows(task.references.is_anchor)
        point = replace(model.points[0], sigma=sigma, loo_scores=scores)
        candidates.append(replace(model, points=(point,)))
    # Of equals the widest.
    return candidates[int(np.argmax([one.log_likelihoods.mean() for one in candidates]))]


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One sigma and penalty of a path.

    Attributes
    ----------
    sigma : float
    penalty : Penalty or None
    weight_set : WeightSet
        Where weights live and what they cost, for the fit that is finished from here.
    solution : Solution
        As the solver found it.
    kept : Solution
        With the weights that the penalty leaves.
    """

    sigma: float
    penalty: Penalty | None
    weight_set: WeightSet
    solution: Solution
    kept: Solution

    def model(self, references: References, rule: str = "energy") -> MarginModel:
        """A model that predicts with these weights."""
        return MarginModel.of(references, self.kept, self.sigma, rule, self.penalty)


class FitWithoutPairs(NamedTuple):
    """What the search for the largest strength of a penalty leaves to the path, at one sigma."""

    at_start: MarginPass
    solution: Solution


def weight_path(
    task: Task,
    solver: Solver,
    choices: Choices,
    begun: Sequence[FitWithoutPairs] = (),
    *,
    verbose: bool = False,
) -> Iterator[PathPoint]:
    """Every sigma, and every penalty at each, in the order of the choices.

    Fits start where a neighbour ended, because neighbours have neighbouring solutions: at one
    sigma from the next stronger penalty, and where the task is warm from the sigma before.
    `begun` has a fit for each sigma, from which those with penalties begin.
    """
    groups = fits_by_kind(choices.penalties)
    # The first solution of each group at the sigma before, and that sigma.
    before: list[tuple[float, Solution] | None] = [None] * len(groups)
    for place, sigma in enumerate(choices.sigmas):
        solved: dict[int, tuple[WeightSet, Solution]] = {}
        at_start = begun[place].at_start if begun else None
        # Set once: to limit BLAS anew for each fit takes half as long as a pass of a small table.
        here = progress_stage(f"sigma {place + 1} of {len(choices.sigmas)}")
        with here, blas_threads_for(len(task.start)):
            for number, group in enumerate(groups):
                last = begun[place].solution if begun and group[0].penalty is not None else None
                for penalty, places in group:
                    weight_set: WeightSet = task.weight_set
                    if penalty is not None:
                        weight_set, at_start = task.priced(sigma, penalty, at_start)
                    is_first = last is None
                    last = next_solution(
                        task, solver, sigma, weight_set, at_start, last, before[number]
                    )
                    if is_first:
                        before[number] = sigma, last
                    if verbose:
                        print_solution(sigma, penalty, last)
                    solved |= dict.fromkeys(places, (weight_set, last))
        for i, penalty in enumerate(choices.penalties):
            weight_set, solution = solved[i]
            # Gradient and multiplier are there for the next fit only.
            solution = replace(solution, last_pass=None, multiplier=None)
            kept = solution if penalty is None else task.kept(solution, sigma, penalty)
            yield PathPoint(sigma, penalty, weight_set, solution, kept)


class SharedFit(NamedTuple):
    """A fit along strengths: its penalty, and the places of the choices that it serves."""

    penalty: Penalty | None
    places: list[int]


def fits_by_kind(penalties: Sequence[Penalty | None]) -> list[list[SharedFit]]:
    """Penalties of one kind, the strongest first; all that cost nothing are one fit.

    What is pruned afterwards is solved as without a penalty, and that once.
    """
    kinds: dict[object, list[SharedFit]] = {}
    for i, penalty in enumerate(penalties):
        if isinstance(penalty, PricedPenalty) and penalty.is_priced:
            kinds.setdefault(penalty.kind, []).append(SharedFit(penalty, [i]))
        else:
            kinds.setdefault(None, [SharedFit(None, [])])[0].places.append(i)
    return [
        sorted(group, key=lambda one: -getattr(one.penalty, "strength", 0.0))
        for group in kinds.values()
    ]


def next_solution(
    task: Task,
    solver: Solver,
    sigma: float,
    weight_set: WeightSet,
    at_start: MarginPass | None,
    last: Solution | None,
    before: tuple[float, Solution] | None,
) -> Solution:
    """A fit from the next stronger penalty, from the sigma before, or from the start."""
    multiplier = None
    if last is not None and solver.can_warm_start:
        start, step, known = last.weights, last.next_step, last.last_pass
        multiplier = last.multiplier
    elif last is None and before is not None and task.is_warm:
        wider, first = before
        # The curvature of the cost goes as 1 / sigma, and the step as its inverse.
        start, step = first.weights, first.next_step * sigma / wider
        known = at_start if start is task.start else None
    else:
        # An infinite step is the paper's: the first one, and that of every cold fit.
        start, step, known = task.start, np.inf, at_start
    return solver.solution(
        task.problem, start, sigma, weight_set, first_step=step, known=known, multiplier=multiplier
    )


def print_solution(sigma: float, penalty: Penalty | None, solution: Solution) -> None:
    """Progress of a path."""
    name = "" if penalty is None else f"   {penalty}"
    cost = solution.objective_path[-1]
    print_line(f"sigma {sigma:.4g}{name}   steps {solution.n_iter}   cost {cost:.6e}")


def path_of_strengths(
    task: Task, path: PenaltyPath, sigmas: Sequence[float]
) -> tuple[list[Penalty | None], list[FitWithoutPairs]]:
    """Penalties of falling strength for the table of a task, and where their fits begin.

    The largest strength is that at which the first pair enters a fit without pairs.
    """
    penalty, cone = path.with_strength(NO_PAIRS), task.options.cone
    owner = task.references.encoding.owner
    solver = task.options.solver.with_limits(tol=LARGEST_TOLERANCE)
    begun, entering = [], []
    with blas_threads_for(len(task.start)):
        for sigma in sigmas:
            weight_set, at_start = task.priced(sigma, penalty)
            assert at_start is not None
            assert at_start.gradient is not None
            found = solver.solution(task.problem, task.start, sigma, weight_set, known=at_start)
            at = found.last_pass or task.problem.evaluate(found.weights, sigma)
            assert at.gradient is not None
            begun.append(FitWithoutPairs(at_start, replace(found, last_pass=at)))
            unit = norm(at_start.gradient)
            price = penalty.entering_price(-at.gradient, cone, owner)
            # Where nothing tells the classes apart there is no gradient, and no pair ever enters.
            entering.append(price / unit if unit > 0 else 0.0)
    largest = max(entering)
    if largest == 0:
        return [None], begun
    # A little above, so that no pair enters at the first when they are rounded.
    strengths = largest * 1.01 * np.geomspace(1, path.smallest, path.n_strengths)
    rounded = [float(f"{strength:.4g}") for strength in strengths]
    return [*(path.with_strength(strength) for strength in rounded), None], begun


def path_solver(task: Task, choices: Choices) -> Solver:
    """The solver of the path: a rougher one where the chosen fit is finished from there."""
    solver = task.options.solver
    is_by_strength = solver.can_warm_start and choices.n_prices > 1
    # Nothing is finished afterwards then, so that the path has to be solved to the user's
    # tolerance.
    if not task.is_warm and not is_by_strength:
        return solver
    factor = STRENGTH_TOLERANCE if is_by_strength else PATH_TOLERANCE
    return solver.with_limits(tol=factor * solver.tol)


def finished(task: Task, point: PathPoint, *, is_rough: bool) -> Fit:
    """The chosen fit taken on from the tolerance and the sample of the path to the user's."""
    solution, on_step = point.solution, None
    if task.samples is not None:
        on_step = print_step if task.options.verbose else None
        return grown_fit(
            task,
            point.sigma,
            point.penalty,
            begin=solution,
            weight_set=point.weight_set,
            on_step=on_step,
        )
    if is_rough:
        sigma, start, step = point.sigma, solution.weights, solution.next_step
        solution = task.options.solver.solution(
            task.problem, start, sigma, point.weight_set, first_step=step
        )
    return Fit(task, solution, point.sigma)


def scored_fold(
    options: FitOptions, train: Table, test: tuple[Array, Codes], choices: Choices
) -> Split:
    """Scores of the test samples under every point of a path through the training samples."""
    # The way to encode levels is settled by then: there is one task.
    task = tasks_of(options, train)[0]
    points = list(weight_path(task, path_solver(task, choices), choices))
    weights, sigmas = [one.kept.weights for one in points], [one.sigma for one in points]
    X, codes = test
    return Split(
        task.problem.class_scores_many(task.references.encoded(X), weights, sigmas), codes
    )
