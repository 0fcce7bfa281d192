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

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_option, check_positive
from immigrate.core.cones import MATRIX_SETS, Cone, WeightSet, norm, share, unit
from immigrate.core.differences import ColumnDifferences
from immigrate.core.forms import LINEAR, QUADRATIC, Cubic, Form
from immigrate.core.triples import WithTriples
from immigrate.kernels.threads import n_threads
from immigrate.kinds.circular import mean_circular_difference
from immigrate.margin.encoding import Columns, resolved_columns
from immigrate.margin.penalties import Penalty
from immigrate.margin.references import References
from immigrate.margin.screen import (
    Screen,
    as_shares,
    feature_weights,
    resolved_screen,
    vector_set,
)
from immigrate.margin.triples import chosen_triples
from immigrate.solvers import Solver, even_start, resolved_solver
from immigrate.table import Table, read_weighted_table

# Of the typical distance; measured over real tables: docs/measurements/choosing-sigma.md.
AUTO_MULTIPLE = 0.125
AUTO_MULTIPLES = (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125)
# With triples, and what the sigma of a fit is multiplied by for predictions, to choose from:
# docs/measurements/three-way.md.
AUTO_MULTIPLE_OF_TRIPLES = 0.5
NARROWER = (1 / 2, 1 / 4, 1 / 8, 1 / 16)
# Section 4.2: from 4, halved until it is not larger than 0.2.
PAPER_GRID = (4.0, 2.0, 1.0, 0.5, 0.25, 0.125)
# Pairs in the sample behind a typical distance: enough for one per cent, at any table size.
MOST_ANCHORS, MOST_NEIGHBOURS = 64, 512
DEFAULT_COLUMNS = Columns()


@dataclass(frozen=True, eq=False, kw_only=True)
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
        given = {
            name: getattr(model, name)
            for name in ("references", "class_weight", "random_state", "n_jobs", "verbose")
        }
        return cls(
            solver=solver,
            constraint=constraint,
            cone=cone,
            columns=cls._columns(model.columns),
            screen=resolved_screen(getattr(model, "screen", None)),
            **given | others,
        )

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

    def make_weight_set(self, form: Form) -> Cone | WithTriples:
        """Where weights live, without a price on any."""
        return self.cone

    def make_start(self, references: References, weight_set: Cone | WithTriples) -> Array:
        """Where a matrix starts, with Frobenius norm 1."""
        W = self._start_matrix(references)
        # Descent is from a point of the set; the paper's steps start anywhere.
        return unit(weight_set.prox(W, 0.0) if self.solver.needs_feasible_start else W)

    def make_sigma(self, sigma: Any, references: References, start: Array) -> float:
        """`sigma` as a number: "auto" is a multiple of the typical distance at the start."""
        if not isinstance(sigma, str):
            return check_positive("sigma", sigma)
        check_option("sigma", sigma, ("auto",))
        return self.multiple * typical_distance_of(references, start)

    def has_price(self, penalty: Penalty | None) -> bool:
        """Whether weights cost something during the fit."""
        return penalty is not None and penalty.is_priced

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


@dataclass(frozen=True, eq=False, kw_only=True)
class TripleOptions(FitOptions):
    """What a fit of weights for triples of features is to do.

    Attributes
    ----------
    triples : object
        Which triples have a weight, as it was given.
    strength : float
        What they cost, as a share of the steepest slope of a triple at the start.
    """

    triples: Any
    strength: float
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

    def has_price(self, penalty: Penalty | None) -> bool:
        """Whether triples cost something."""
        return self.strength > 0

    def priced(
        self, weight_set: Cone | WithTriples, penalty: Any, owner: Codes, gradient: Array
    ) -> WeightSet:
        """The set with a price on triples, in units of their steepest slope at the start."""
        assert isinstance(weight_set, WithTriples)
        steepest = float(np.max(-gradient[weight_set.n_features**2 :], initial=0.0))
        return replace(weight_set, strength=self.strength * steepest)

    def _start_matrix(self, references: References) -> Array:
        form = references.form
        assert isinstance(form, Cubic)
        return form.weights(super()._start_matrix(references), np.zeros(len(form.triples)))


def typical_distance_of(references: References, start: Array) -> float:
    """The typical distance of samples under the weights that a fit starts from."""
    form, encoding = references.form, references.encoding
    matrix = form.matrix(start) if isinstance(form, Cubic) else start
    is_nominal = encoding.is_nominal if encoding.is_nominal.any() else None
    return typical_distance(
        references.table, matrix, is_nominal, encoding.mismatch, encoding.period
    )


def sigma_grid(sigmas: Any, references: References, start: Array) -> list[float]:
    """Candidates, largest first."""
    if isinstance(sigmas, str):
        check_option("sigmas", sigmas, ("auto", "paper"))
        if sigmas == "paper":
            return list(PAPER_GRID)
        distance = typical_distance_of(references, start)
        grid: list[float] = np.multiply(AUTO_MULTIPLES, distance).tolist()
        return grid
    is_list = isinstance(sigmas, Iterable) and np.ndim(np.asarray(sigmas)) != 0
    values = list(sigmas) if is_list else []
    if not values:
        raise ValueError(f"sigmas must be 'auto', 'paper' or a list of numbers, got {sigmas!r}.")
    return sorted((check_positive("sigmas", value) for value in values), reverse=True)


def typical_distance(
    X: Array,
    W: Array,
    is_nominal: Mask | None = None,
    mismatch: float | Array = 1.0,
    period: Array | None = None,
) -> float:
    """Median q over pairs of samples; the mean where more than half of the pairs coincide.

    This is the unit of sigma. From a sample of pairs spread over the table. Rows are taken in the
    order of their sums, so that neither the order of the table nor that of its columns matters.
    `W` is a matrix, or a weight for each column.
    """
    rows = _spread(_row_order(X, is_nominal, period), MOST_NEIGHBOURS)
    samples = X[rows].astype(np.float64)
    differences = ColumnDifferences.of(samples, is_nominal, mismatch=mismatch, period=period)
    is_plain = differences.is_plain and W.ndim == 2
    distances = plain_distances if is_plain else mixed_distances
    q = distances(samples, W, differences)
    # The median is 0 where most samples coincide, as in tables of few levels.
    middle = float(np.median(q)) or float(q.mean())
    # Samples that are all alike have no distance; any width will do.
    return middle if middle > 0 else 1.0


def plain_distances(X: Array, W: Array, _: ColumnDifferences) -> Array:
    """Distances of some samples from all others, numbers without gaps."""
    is_diagonal = not np.count_nonzero(W - np.diag(W.diagonal()))
    if is_diagonal:
        # A diagonal W needs no p x p product: q is the weighted sum of squares.
        X = X * np.sqrt(W.diagonal())
    distances = []
    for i in _spread(np.arange(len(X)), MOST_ANCHORS):
        # Without the sample itself, which is at distance 0.
        d = np.abs(np.delete(X, i, axis=0) - X[i])
        if is_diagonal:
            distances.append(np.einsum("ja,ja->j", d, d))
        else:
            distances.append(QUADRATIC.distance(W, d.T[:, None, :])[0])
    return np.concatenate(distances)


def mixed_distances(X: Array, W: Array, differences: ColumnDifferences) -> Array:
    """Distances of some samples from all others, columns of any kind."""
    samples, form = differences.samples(X), LINEAR if W.ndim == 1 else QUADRATIC
    rows, distances = np.arange(len(X)), []
    for i in _spread(rows, MOST_ANCHORS):
        d = differences(samples.take(rows[[i]]), samples.take(np.delete(rows, i)))
        distances.append(form.distance(W, d)[0])
    return np.concatenate(distances)


def _row_order(X: Array, is_nominal: Mask | None = None, period: Array | None = None) -> Codes:
    """Rows by their sums: the same rows in the same places for any order of rows and columns."""
    codes = np.nan_to_num(X.astype(np.float64, copy=False))
    if is_nominal is not None:
        X = _with_shares(X, is_nominal)
    if period is not None:
        X = _with_mean_differences(X, period)
    X = np.nan_to_num(X).astype(np.float64)
    # Summed from the smallest value on, so that the order of columns does not round otherwise.
    ascending = np.sort(X, axis=1)
    total = ascending.sum(axis=1)
    order = np.argsort(total, kind="stable")
    if not np.any(np.diff(total[order]) == 0):
        return order
    # Rows of equal values differ in how they lie to all others. The order of the columns decides
    # last, where nothing else tells two rows apart.
    return np.lexsort([*codes.T, _alignment(X), *ascending.T, total])


def _with_shares(codes: Array, is_nominal: Mask) -> Array:
    """Levels by how many samples have them, because their codes follow from their names."""
    X = codes.copy()
    for j in np.flatnonzero(is_nominal):
        known = ~np.isnan(codes[:, j])
        _, level, size = np.unique(codes[known, j], return_inverse=True, return_counts=True)
        X[known, j] = size[level] / len(X)
    return X


def _with_mean_differences(values: Array, period: Array) -> Array:
    """Circular columns by how far values are from the others: where they begin means nothing."""
    X = values.copy()
    for j in np.flatnonzero(np.isfinite(period)):
        known = ~np.isnan(values[:, j])
        x = values[known, j].astype(np.float64)
        # To nine digits: the last ones depend on where the circle begins.
        share = mean_circular_difference(x, x, float(period[j])) / period[j]
        X[known, j] = np.round(share, 9) * period[j]
    return X


def _alignment(X: Array) -> Array:
    """Sum of the squared scalar products of each row with all rows, to nine digits."""
    X = X - X.mean(axis=0)
    X /= np.abs(X).max() or 1.0
    alignment: Array = np.einsum("ia,ia->i", np.linalg.multi_dot([X, X.T, X]), X)
    # Fewer digits than it has: the last ones depend on the order of the sums.
    largest = float(alignment.max()) or 1.0
    return np.round(alignment / largest, 9)


def _spread(values: Codes, most: int) -> Codes:
    return values[np.linspace(0, len(values) - 1, min(most, len(values))).astype(int)]


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
