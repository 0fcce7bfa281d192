"""From parameters and training data to what a solver is to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from immigrate.arrays import Array
from immigrate.checks import check_option
from immigrate.core.cones import MATRIX_SETS, Cone, WeightSet, norm, share, unit
from immigrate.core.forms import LINEAR, QUADRATIC, Form
from immigrate.core.triple_weights import WithTriples
from immigrate.estimators._encoding import Encoding, offered_encodings, resolved_columns
from immigrate.estimators._penalty import Penalty
from immigrate.estimators._sample import Sampler, Size, sample_sizes
from immigrate.estimators._screen import Screened, as_shares, resolved_screen
from immigrate.estimators._training import checked_start
from immigrate.estimators.feature_weights import feature_weights
from immigrate.estimators.waiting import STEPS_OF_FIT, say_if_long
from immigrate.kernels import MarginPass
from immigrate.kernels.threads import n_threads
from immigrate.margin.model import MarginModel
from immigrate.margin.references import References
from immigrate.problems import MarginProblem
from immigrate.solvers import Solution, Solver, resolved_solver
from immigrate.table import Table

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
    weight_set : Cone or WithTriples
        Without a penalty on features and pairs.
    references : References
        What prediction will need of the training data.
    is_warm : bool
        Whether fits along a path of sigma may start where the one before ended.
    maker : TaskMaker
        Makes the same task on other samples of the table.
    stage : int
        Which of the growing samples this one is of.
    passes_at_start : dict
        What a pass says at the start, by sigma; filled on request.
    fits_without_pairs : dict
        Solutions without pairs, by sigma, from which paths of strengths begin.
    """

    problem: MarginProblem
    start: Array
    solver: Solver
    weight_set: Cone | WithTriples
    references: References
    is_warm: bool
    maker: TaskMaker
    stage: int
    passes_at_start: dict[float, MarginPass] = field(default_factory=dict)
    fits_without_pairs: dict[float, Solution] = field(default_factory=dict)

    def fitted(
        self, solution: Solution, sigma: float, penalty: Penalty | None, rule: str
    ) -> MarginModel:
        """The model that a solution makes, its weights pruned where the penalty says so."""
        solution = kept_solution(self.problem, solution, sigma, penalty)
        return MarginModel.of(self.references, solution, sigma, rule, penalty)

    def weight_set_at(self, sigma: float, penalty: Penalty | None) -> WeightSet:
        """Where weights live, and what they cost there at this sigma."""
        if penalty is None:
            return self.weight_set
        owner = self.references.encoding.owner
        return penalty.weight_set(self.cone, owner, lambda: self.unit_at(sigma))

    @property
    def cone(self) -> Cone:
        """The weight set of a matrix, which a penalty can be put on."""
        assert isinstance(self.weight_set, Cone)
        return self.weight_set

    def unit_at(self, sigma: float) -> float:
        """The unit of strengths: the norm of the gradient where the fit starts."""
        if sigma not in self.passes_at_start:
            self.passes_at_start[sigma] = self.problem.evaluate(self.start, sigma)
        gradient = self.passes_at_start[sigma].gradient
        assert gradient is not None
        return norm(gradient)

    def known_at(self, weights: Array, sigma: float) -> MarginPass | None:
        """What a pass at the weights would say, where they are the start and the unit is known."""
        return self.passes_at_start.get(sigma) if weights is self.start else None

    def grown(self) -> Task | None:
        """The same on the next larger sample; None where there is none."""
        stage = self.stage + 1
        if stage >= len(self.maker.sizes):
            return None
        return self.maker.task(self.references.encoding, stage)

    @property
    def is_sampled(self) -> bool:
        """Whether the solver looks at a sample of the table."""
        return bool(self.maker.sizes)

    @property
    def everybody(self) -> References:
        """All samples of the table, as references of new ones."""
        if not self.is_sampled:
            return self.references
        return self.maker.references(self.references.encoding)


def learning_tasks(
    model: ImmigrateClassifier,
    data: Table,
    n_jobs: int | None,
    n_steps: int = STEPS_OF_FIT,
) -> list[Task]:
    """What a solver is to do for `model`, whose own sigma, rule and penalty are not read.

    One task, or two where leave-one-out is to choose between a weight per nominal column and a
    weight per level. `n_steps`, roughly the number of steps of the whole fit, is for the line that
    announces a long fit.
    """
    solver = resolved_solver(model.solver)
    weight_set = MATRIX_SETS[check_option("constraint", model.constraint, MATRIX_SETS)]
    solver.check_fits(weight_set, model.constraint)
    columns = resolved_columns(model.columns)
    encoding = Encoding.of(data, columns.scale)
    sampler = Sampler(data.outcome.codes, data.anchor_weight, model.random_state)
    # Dates, identifiers and columns without a value are no features, whatever a screen says.
    screened = Screened(data.reader.is_used, importances=None)
    if model.screen is not None:
        # A screen has a weight per feature, and looks at a sample where that takes long too.
        sizes = sample_sizes(solver, len(data.values), data.values.shape[1])
        seen = data.fold(sampler.drawn(sizes[-1]).rows) if sizes else data
        in_units = replace(seen, values=encoding.table(seen.values))
        screened = resolved_screen(model.screen).passed(
            in_units, solver, n_jobs, mismatch=encoding.mismatch
        )
    maker = TaskMaker(
        data,
        screened,
        solver,
        weight_set,
        QUADRATIC,
        partial(feasible_start, solver, weight_set, model.random_state, n_jobs),
        sampler,
        n_jobs,
    )
    tasks = maker.tasks(encoding.columns(screened.is_kept), columns.nominal)
    for task in tasks:
        say_if_long(task.references, model.constraint, n_steps, n_threads(n_jobs))
    return tasks


@dataclass(frozen=True, eq=False)
class TaskMaker:
    """What the tasks of one fit have in common.

    Attributes
    ----------
    data : Table
    screened : Screened
        Which features enter.
    solver : Solver
    weight_set : Cone or WithTriples
    form : Form
    start : callable
        From references to the weights that a fit starts from.
    sampler : Sampler
    n_jobs : int or None
    sizes : list of Size
        Of the growing samples that the solver looks at; empty where it looks at all.
    """

    data: Table
    screened: Screened
    solver: Solver
    weight_set: Cone | WithTriples
    form: Form
    start: Callable[[References], Array]
    sampler: Sampler
    n_jobs: int | None
    sizes: list[Size] = field(default_factory=list)

    def tasks(self, encoding: Encoding, nominal: str) -> list[Task]:
        """A task for each way of encoding nominal columns that is to be tried."""
        n = len(self.data.values)
        offered = offered_encodings(encoding, nominal, n)
        # One size of sample for both encodings, that of the wider: their likelihoods are compared.
        n_columns = max(len(one.owner) for one in offered)
        sizes = sample_sizes(self.solver, n, self.form.n_weights(n_columns))
        maker = replace(self, sizes=sizes)
        return [maker.task(one) for one in offered]

    def references(self, encoding: Encoding) -> References:
        """All samples of the table."""
        data, is_kept = self.data, self.screened.is_kept
        is_out = data.reader.is_used & ~is_kept
        return References(
            data.values if is_kept.all() else data.values[:, is_kept],
            data.outcome.codes,
            is_kept,
            encoding,
            data.anchor_weight,
            self.screened.importances,
            self.form,
            screened_out=data.values[:, is_out] if is_out.any() else None,
        )

    def task(self, encoding: Encoding, stage: int = 0) -> Task:
        """The task with one way of encoding, on one of the growing samples."""
        references = self.references(encoding)
        if self.sizes:
            sample = self.sampler.drawn(self.sizes[stage])
            # `rows` forgets weights, counts and anchors; those of the sample take their place.
            references = replace(
                references.rows(sample.rows),
                anchor_weight=sample.anchor_weight,
                count=sample.count,
                is_anchor=sample.is_anchor,
            )
        # Laid out once: the solver and later every prediction use the same layout.
        problem = references.problem(n_threads(self.n_jobs))
        is_warm = self.solver.can_warm_start and self.weight_set.can_warm_start
        return Task(
            problem,
            self.start(references),
            self.solver,
            self.weight_set,
            references,
            is_warm,
            self,
            stage,
        )


def kept_solution(
    problem: MarginProblem, solution: Solution, sigma: float, penalty: Penalty | None
) -> Solution:
    """The solution with the weights that the penalty leaves, and their scores."""
    weights = solution.weights if penalty is None else penalty.kept(solution.weights)
    if weights is solution.weights:
        return solution
    # Pruned weights score differently, which takes one more sweep.
    return replace(solution, weights=weights, scores=problem.loo_scores(weights, sigma))


def feasible_start(
    solver: Solver,
    weight_set: WeightSet,
    random_state: Any,
    n_jobs: int | None,
    references: References,
) -> Array:
    """Where a matrix starts, with Frobenius norm 1."""
    W = starting_weights(solver, references, random_state, n_jobs)
    # Descent is from a point of the set; the paper's steps start anywhere.
    return unit(weight_set.prox(W, 0.0) if solver.needs_feasible_start else W)


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
