"""What a solver is given: labelled samples, where the weights start and where they live.

`MarginProblem` has the constants of the optimisation: samples, and how much each one's margin
counts. A `Task` adds what options and table decide before the first step.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sklearn

from immigrate.arrays import Array, Codes, Mask
from immigrate.core.couplings import MarginParts, margin_parts
from immigrate.core.differences import ColumnKinds
from immigrate.core.forms import QUADRATIC, Cubic, Form
from immigrate.kernels import ClassScores, MarginPass, Pieces, pass_over
from immigrate.solvers import Solution

if TYPE_CHECKING:
    from immigrate.core.cones import Cone, WeightSet
    from immigrate.margin.encoding import References
    from immigrate.margin.growing import Samples
    from immigrate.margin.options import FitOptions
    from immigrate.margin.penalties import Penalty
    from immigrate.margin.triples import WithTriples

# Squares, and cubes, of larger spans leave the range of float64.
LARGEST_SPAN = {1: 1e151, 2: 1e151, 3: 1e101}
# Smaller distances, or costs made of them, lose their last digits.
SMALLEST_DISTANCE = 1e-303
SIGMA_RANGE = (1e-300, 1e300)
# How far from the training samples new ones may lie, by the degree of the form and the bytes of a
# number.
LARGEST_REACH = {
    (1, 8): 1e150,
    (2, 8): 1e150,
    (3, 8): 1e100,
    (1, 4): 1e15,
    (2, 4): 1e15,
    (3, 4): 1e10,
}
# Rows whose margins are split at once, at most; arrays of the size of their differences that this
# takes. More rows are no faster: 16 stay nearer to the cache than 64.
ROWS_PER_BLOCK, COPIES_PER_BLOCK = 16, 4


class MarginProblem:
    """Labelled samples whose soft margin is to be made large.

    The table is held in units of its own span, rounded to a power of two, so that squares
    neither overflow nor vanish whatever the user's units; scaling by a power of two is
    exact. Everything that goes in or comes out is in the user's units.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Numbers, codes of nominal levels, NaN where a value is missing.
    y : ndarray of shape (n,)
        Class codes 0, 1, ..., each with at least two samples, or numbers as floats.
    form : Form, default=QUADRATIC
        How weights and differences make a distance.
    kinds : ColumnKinds, optional
        How the values of features differ. As numbers on a line by default.
    count : ndarray of shape (n,), optional
        How often each sample counts as a neighbour of others, 0 for never. Once by default.
    is_anchor : ndarray of shape (n,), optional
        Samples whose margin counts. All by default.
    anchor_weight : ndarray of shape (n,), optional
        D of Eq. 10, non-negative with sum 1. By default the same for every anchor.
    n_threads : int
    """

    def __init__(
        self,
        X: Array,
        y: np.ndarray,
        *,
        form: Form = QUADRATIC,
        kinds: ColumnKinds | None = None,
        count: Array | None = None,
        is_anchor: Mask | None = None,
        anchor_weight: Array | None = None,
        n_threads: int = 1,
    ) -> None:
        self.n_samples, self.n_features = X.shape
        self.form = form
        self._dtype = X.dtype
        kinds = ColumnKinds(np.zeros(X.shape[1], dtype=bool)) if kinds is None else kinds
        self._is_nominal = kinds.is_nominal
        # The known training values lie between these; NaN where nothing is known.
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
        self._exponent = self._span_exponent(low, high, kinds.mismatch)
        scaled = self._scaled(X)
        self._low, self._high = self._scaled(low), self._scaled(high)
        pieces = Pieces.of(
            scaled,
            y,
            form=form,
            kinds=kinds.scaled(-self._exponent),
            count=count,
            is_anchor=is_anchor,
        )
        self._pieces = pieces
        self._passes = pass_over(pieces, anchor_weight, n_threads=n_threads)

    def with_anchor_weight(self, anchor_weight: Array) -> MarginProblem:
        """The same samples with other anchor weights, as boosting needs them every round."""
        other = copy.copy(self)
        other._passes = self._passes.with_anchor_weight(anchor_weight)
        return other

    def with_threads(self, n_threads: int) -> MarginProblem:
        """The same samples with passes on so many threads; what they keep is theirs alone."""
        other = copy.copy(self)
        other._passes = self._passes.with_threads(n_threads)
        return other

    def evaluate(self, W: Array, sigma: float, *, reject_above: float = np.inf) -> MarginPass:
        """Cost, gradient and leave-one-out scores at `W`.

        The gradient is left out (None) when the cost is above `reject_above`: a line search
        that refuses a point has no use for the second half of the work.
        """
        unit = self._distance_unit
        own, width, limit = self._weights(W), _clipped(sigma / unit), reject_above / unit
        result = self._passes.margin(own, width, reject_above=limit)
        # By the chain rule, what turns weights into those of the scaled table turns the gradient
        # there into the one here.
        gradient = None if result.gradient is None else self._weights(result.gradient) * unit
        return MarginPass(result.cost * unit, gradient, _in_units(result.scores, unit))

    def loo_scores(self, W: Array, sigma: float) -> ClassScores:
        """Scores of each training sample against all the others, without the gradient."""
        return self.evaluate(W, sigma, reject_above=-np.inf).scores

    def class_scores(self, X_new: Array, W: Array, sigma: float) -> ClassScores:
        """Scores of new samples against each class of the training samples."""
        return self.class_scores_many(X_new, [W], [sigma])[0]

    def class_scores_many(
        self,
        X_new: Array,
        weights: Sequence[Array],
        sigmas: Sequence[float],
        n_jobs: int | None = None,
    ) -> list[ClassScores]:
        """Class scores of new samples by several weights and sigmas, in one sweep."""
        unit = self._distance_unit
        scaled = [_clipped(sigma / unit) for sigma in sigmas]
        own = [self._weights(W) for W in weights]
        many = self._passes.scores_many(self._within_reach(X_new), own, scaled, n_jobs)
        return [_in_units(scores, unit) for scores in many]

    def margin_parts_many(
        self, X_new: Array, weights: Sequence[Array], sigmas: Sequence[float], classes: Codes
    ) -> Iterator[MarginParts]:
        """Margins of new samples and their parts, under one model after the other.

        All of it is float64 whatever the table is. The differences of all rows from all samples
        are held at once, so give it one block of `row_blocks` at a time.

        Parameters
        ----------
        X_new : ndarray of shape (r, p)
        weights : sequence of ndarray
        sigmas : sequence of float
        classes : ndarray of shape (2, r)
            The class to which parts pull each sample where they are positive, and the other.
        """
        unit, pieces = self._distance_unit, self._pieces
        new = self._within_reach(X_new).astype(np.float64)
        differences = pieces.differences.with_gaps_of(new)
        table = differences.samples(pieces.samples.values.astype(np.float64, copy=False))
        d = differences(differences.samples(new), table)
        share = (classes[:, :, None] == pieces.target.y) * pieces.target.count
        for W, sigma in zip(weights, sigmas):
            sigma = _clipped(sigma / unit)
            yield margin_parts(self.form, self._weights(W), sigma, d, share, unit)

    def row_blocks(self, n_rows: int) -> Iterator[slice]:
        """Rows whose differences from all samples fit in scikit-learn's ``working_memory``."""
        n_numbers = sklearn.get_config()["working_memory"] * 2**20 / 8
        fitting = int(n_numbers / (COPIES_PER_BLOCK * self.n_samples * self.n_features))
        size = min(max(fitting, 1), ROWS_PER_BLOCK)
        return (slice(start, start + size) for start in range(0, n_rows, size))

    def release(self) -> None:
        """Give back what only training needs, when a model is kept for its predictions."""
        self._passes.release()

    def cost_rounding(self, sigma: float) -> float:
        """Size of the rounding error of a cost: its logarithms come multiplied by sigma."""
        return 8 * float(np.finfo(np.float64).eps) * sigma * float(np.log(self.n_samples))

    @property
    def _distance_unit(self) -> float:
        return float(np.ldexp(1.0, self.form.degree * self._exponent))

    def _weights(self, W: Array) -> Array:
        """For differences in units of the span: the same where all terms are of one degree."""
        return self.form.in_units(W, self._exponent) if isinstance(self.form, Cubic) else W

    def _scaled(self, X: Array) -> Array:
        """Numbers in units of the span; codes of levels stay as they are."""
        return np.ldexp(X, np.where(self._is_nominal, 0, -self._exponent))

    def _span_exponent(self, low: Array, high: Array, mismatch: float | Array) -> int:
        """Exponent of the power of two that is just above the largest difference."""
        # Halves do not overflow; a feature of which nothing is known has no range.
        half = high / 2 - low / 2
        span = 2 * np.where(np.isnan(half), 0.0, half)
        largest = float(np.where(self._is_nominal, mismatch, span).max())
        if largest > LARGEST_SPAN[self.form.degree]:
            raise ValueError(
                f"A feature of X spans {largest:.3g}; squared distances would overflow. "
                "Scale the features first, for example with StandardScaler."
            )
        if 0 < largest < SMALLEST_DISTANCE ** (1 / self.form.degree):
            raise ValueError(
                f"No feature of X spans more than {largest:.3g}; distances would vanish. "
                "Scale the features first, for example with StandardScaler."
            )
        return int(np.frexp(largest)[1])

    def _within_reach(self, X_new: Array) -> Array:
        """New samples in the units of the table, unless squares of differences would overflow."""
        scaled = self._scaled(np.asarray(X_new, dtype=np.float64))
        # Differences count and not values: a constant feature may be as large as it likes.
        beyond = np.fmax(self._low - scaled, scaled - self._high)[:, ~self._is_nominal]
        largest = float(np.fmax.reduce(beyond, axis=None, initial=0.0))
        if largest > LARGEST_REACH[self.form.degree, self._dtype.itemsize]:
            raise ValueError(
                f"X holds values that lie {largest:.3g} times the span of the training features "
                "beyond them; distances would overflow. Check the units, or scale the features."
            )
        return scaled.astype(self._dtype)


def _clipped(sigma: float) -> float:
    """Beyond these limits sigma acts as 0 or infinity to the last digit."""
    return min(max(sigma, SIGMA_RANGE[0]), SIGMA_RANGE[1])


def _in_units(scores: ClassScores, unit: float) -> ClassScores:
    return ClassScores(scores.free_energy * unit, scores.distance * unit)


@dataclass(frozen=True, eq=False)
class Task:
    """Everything that options and table decide before the first step.

    Attributes
    ----------
    options : FitOptions
    all_references : References
        All samples of the table, as references of new ones.
    references : References
        Those that the solver looks at.
    problem : MarginProblem
        Their cost and gradient, over the features that passed the screen.
    start : ndarray
        Where the weights start.
    weight_set : Cone or WithTriples
        Where they live, without a price on any.
    samples : Samples or None
        The growing samples that the solver looks at; None where it looks at all.
    stage : int
        Which of them this is.
    """

    options: FitOptions
    all_references: References
    references: References
    problem: MarginProblem
    start: Array
    weight_set: Cone | WithTriples
    samples: Samples | None = None
    stage: int = 0

    @property
    def is_warm(self) -> bool:
        """Whether fits along a path of sigma may start where the one before ended."""
        return self.options.solver.can_warm_start and self.weight_set.can_warm_start

    def priced(
        self, sigma: float, penalty: Penalty | None, at_start: MarginPass | None = None
    ) -> tuple[WeightSet, MarginPass | None]:
        """Where weights live and what they cost at this sigma, and the pass at the start.

        The pass is taken where there are prices, which are in units of its gradient, unless it
        is known.
        """
        if penalty is None or not penalty.is_priced:
            return self.weight_set, at_start
        if at_start is None:
            at_start = self.problem.evaluate(self.start, sigma)
        assert at_start.gradient is not None
        owner = self.references.encoding.owner
        return self.options.priced(self.weight_set, penalty, owner, at_start.gradient), at_start

    def kept(self, solution: Solution, sigma: float, penalty: Penalty | None) -> Solution:
        """The solution with the weights that the penalty leaves, and their scores."""
        weights = solution.weights if penalty is None else penalty.kept(solution.weights)
        if weights is solution.weights:
            return solution
        # Pruned weights score differently, which takes one more sweep.
        scores = self.problem.loo_scores(weights, sigma)
        return replace(solution, weights=weights, scores=scores)


@dataclass(frozen=True, eq=False)
class Fit:
    """A solution, the task that it solves, and its standard error against the whole table.

    Attributes
    ----------
    task : Task
    solution : Solution
    sigma : float
    error : ndarray or None
        Standard error of each weight; None where all samples were looked at.
    """

    task: Task
    solution: Solution
    sigma: float
    error: Array | None = None
