"""What the parameters of an estimator stand for, each resolved and checked once.

=================  ========  ======================  ===============================
`FitOptions`       q, Eq. 3  a weight for each pair  from the identity or `init`
`VectorOptions`    q, Eq. 1  for each feature        from even weights
`TripleOptions`    cubic     for triples too         as for pairs; triples from 0
=================  ========  ======================  ===============================

A fit reads nothing else of the estimator. What depends on the table (the form of a distance that
has triples in it, the start, prices in units of a gradient) is made by methods.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option
from immigrate.core.cones import MATRIX_SETS, Cone, WeightSet, norm, share, unit
from immigrate.core.forms import LINEAR, QUADRATIC, Cubic, Form
from immigrate.kernels.threads import n_threads
from immigrate.margin.encoding import Columns, References, resolved_columns
from immigrate.margin.problem import Task
from immigrate.margin.screen import Screen, as_shares, feature_weights, resolved_screen, vector_set
from immigrate.margin.sigma import AUTO_MULTIPLE
from immigrate.margin.triples import WithTriples, chosen_triples
from immigrate.solvers import Solver, even_start, resolved_solver
from immigrate.table import Table, read_weighted_table

if TYPE_CHECKING:
    from immigrate.margin.growing import Samples

# With triples, and what the sigma of a fit is multiplied by for predictions, to choose from:
# docs/measurements/three-way.md.
AUTO_MULTIPLE_OF_TRIPLES = 0.5
NARROWER = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
DEFAULT_COLUMNS = Columns()
# Parameters of estimators that need no resolving.
AS_GIVEN = ("references", "class_weight", "random_state", "n_jobs", "verbose")


@dataclass(frozen=True, eq=False)
class FitOptions:
    """What a fit is to do, but for sigma, penalty and rule: a fit of weights for pairs.

    Attributes
    ----------
    solver : Solver
    constraint : str
        The name of the set of weights.
    cone : Cone
        The set itself, without a penalty.
    columns : Columns
    screen : Screen or None
    references : object
        What new samples are compared with, as it was given.
    class_weight, random_state, n_jobs, verbose
        As they were given.
    """

    solver: Solver
    constraint: str
    cone: Cone
    columns: Columns
    screen: Screen | None
    references: Any
    class_weight: Any
    random_state: Any
    n_jobs: int | None
    verbose: bool
    multiple: ClassVar[float] = AUTO_MULTIPLE
    narrower: ClassVar[tuple[float, ...]] = ()

    @classmethod
    def of(cls, model: Any, **others: Any) -> Self:
        """The parameters of an estimator, checked; `others` take the place of its own."""
        solver = resolved_solver(model.solver)
        constraint = getattr(model, "constraint", "nonnegative")
        cone = cls._cone(solver, constraint)
        columns, screen = cls._columns(model.columns), getattr(model, "screen", None)
        if screen is not None:
            screen = resolved_screen(screen)
        given = {k: getattr(model, k) for k in AS_GIVEN if k not in others} | others
        return cls(solver, constraint, cone, columns, screen, **given)

    @classmethod
    def _columns(cls, columns: Any) -> Columns:
        return DEFAULT_COLUMNS if columns is None else resolved_columns(columns)

    @classmethod
    def _cone(cls, solver: Solver, constraint: str) -> Cone:
        cone = MATRIX_SETS[check_option("constraint", constraint, MATRIX_SETS)]
        if cone.stand_in is not None:
            solver.check_fits(cone, constraint)
        return cone

    def read(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Table:
        """The table of a fit of `estimator`, read as these options want it."""
        return read_weighted_table(
            estimator,
            X,
            y,
            sample_weight,
            categorical_features=self.columns.categorical_features,
            circular_features=self.columns.circular_features,
            class_weight=self.class_weight,
        )

    def make_form(self, table: Table) -> Form:
        """How weights and differences make a distance."""
        return QUADRATIC

    def task(
        self, all_references: References, samples: Samples | None = None, stage: int = 0
    ) -> Task:
        """The task on all samples of a table, or on one of the growing samples of it."""
        seen = all_references if samples is None else samples.references(all_references, stage)
        weight_set = self.make_weight_set(seen.form)
        start = self.make_start(seen, weight_set)
        # Laid out once: the solver and later every prediction use the same layout.
        problem = seen.problem().with_threads(n_threads(self.n_jobs))
        return Task(self, all_references, seen, problem, start, weight_set, samples, stage)

    def make_weight_set(self, form: Form) -> Cone | WithTriples:
        """Where weights live, without a price on any."""
        return self.cone

    def make_start(self, references: References, weight_set: Cone | WithTriples) -> Array:
        """Where a matrix starts, with Frobenius norm 1."""
        W = self._start_matrix(references)
        # Descent is from a point of the set; the paper's steps start anywhere.
        return unit(weight_set.prox(W, 0.0) if self.solver.needs_feasible_start else W)

    def priced(
        self, weight_set: Cone | WithTriples, penalty: Any, owner: Codes, gradient: Array
    ) -> WeightSet:
        """Where weights live and what they cost, in units of the gradient at the start."""
        priced: WeightSet = penalty.weight_set(self.cone, owner, norm(gradient))
        return priced

    def _start_matrix(self, references: References) -> Array:
        """The W that `init` of the solver stands for."""
        init, encoding = self.solver.init, references.encoding
        q = len(encoding.owner)
        if not isinstance(init, str):
            return encoding.unfolded(checked_start(init, references.is_used))
        if init == "random":
            random: Array = check_random_state(self.random_state).uniform(size=(q, q))
            return random + random.T
        if init == "im4e":
            linear = replace(references, form=LINEAR)
            problem = linear.problem().with_threads(n_threads(self.n_jobs))
            # Steps of the same kind, with limits of their own.
            found = feature_weights(problem, type(self.solver)())
            return np.diag(as_shares(share(found.weights)))
        if init == "auto" and references.screen_importances is not None:
            return np.diag(references.screen_importances[references.is_used][encoding.owner])
        return np.eye(q)


class VectorOptions(FitOptions):
    """What a fit of a weight for each feature is to do."""

    @classmethod
    def _cone(cls, solver: Solver, constraint: str) -> Cone:
        return vector_set(solver)

    def make_form(self, table: Table) -> Form:
        """The weighted Manhattan distance."""
        return LINEAR

    def make_start(self, references: References, weight_set: Cone | WithTriples) -> Array:
        """All columns alike, whichever way levels are encoded."""
        return even_start(self.solver, len(references.encoding.owner))


@dataclass(frozen=True, eq=False)
class TripleOptions(FitOptions):
    """What a fit of weights for triples of features is to do.

    Attributes
    ----------
    triples : object
        Which triples have a weight, as it was given.
    """

    triples: Any
    multiple: ClassVar[float] = AUTO_MULTIPLE_OF_TRIPLES
    narrower: ClassVar[tuple[float, ...]] = NARROWER

    @classmethod
    def _columns(cls, columns: Any) -> Columns:
        """How columns are read; a weight per level is not offered."""
        columns = resolved_columns(columns)
        if columns.nominal == "levels":
            raise ValueError(
                "CubicImmigrateClassifier has a weight per nominal column and none per level; use "
                "Columns(nominal='mismatch') or the default."
            )
        return clone(columns).set_params(nominal="mismatch")

    def make_form(self, table: Table) -> Form:
        """A distance with a term for each triple."""
        is_used = table.reader.is_used
        triples = chosen_triples(self.triples, table.reader.names, is_used)
        return Cubic(int(is_used.sum()), triples)

    def make_weight_set(self, form: Form) -> Cone | WithTriples:
        """The set of the matrix, and weights of triples that are not negative."""
        assert isinstance(form, Cubic)
        return WithTriples(self.cone, form.n_features)

    def priced(
        self, weight_set: Cone | WithTriples, penalty: Any, owner: Codes, gradient: Array
    ) -> WeightSet:
        """The set with a price on triples, in units of their steepest slope at the start."""
        assert isinstance(weight_set, WithTriples)
        steepest = float(np.max(-gradient[weight_set.n_features**2 :], initial=0.0))
        return replace(weight_set, strength=penalty.strength * steepest)

    def _start_matrix(self, references: References) -> Array:
        form = references.form
        assert isinstance(form, Cubic)
        return form.weights(super()._start_matrix(references), np.zeros(len(form.triples)))


def checked_start(init: Any, is_kept: Mask) -> Array:
    """A starting W as the paper wants it: square, symmetric, non-negative, not all zero.

    `init` covers all features; what comes back covers those of the mask `is_kept`.
    """
    n_features = len(is_kept)
    try:
        W = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init must be a matrix of {n_features} by {n_features} numbers, got {init!r}."
        ) from None
    if W.shape != (n_features, n_features):
        raise ValueError(
            f"init has shape {W.shape}; X has {n_features} features, so it must be "
            f"({n_features}, {n_features})."
        )
    if not np.isfinite(W).all():
        raise ValueError("init holds NaN or infinity; give finite weights.")
    # A matrix that was computed may be symmetric but for rounding; it is made so at the end.
    if not np.allclose(W, W.T, rtol=1e-10, atol=1e-12 * np.abs(W).max(initial=0)):
        raise ValueError("init is not symmetric; symmetrise it with (init + init.T) / 2.")
    if (W < 0).any():
        raise ValueError("init has negative weights; clip them with np.maximum(init, 0).")
    W = W[np.ix_(is_kept, is_kept)]
    if not W.any():
        raise ValueError(
            "init is all zero among the features in use, so every distance is 0; "
            "start from the identity."
        )
    return (W + W.T) / 2
