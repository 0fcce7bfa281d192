"""Where W may live, and the best W for a linear cost.

Each constraint set of the paper is a convex cone K cut by a sphere. Two maps are all a
solver needs: the projection P_K onto the cone, and the scaling onto the sphere. Together
they give the oracle: the W of the set that minimises <Sigma, W> is P_K(-Sigma), scaled.
For K = PSD and the unit sphere this is Theorem 3.1. A `WeightSet` is the same with room for
a penalty: a proximal map in place of the projection, and a value that joins the cost
(`core/penalties.py`).

A cone is said by two things: what single elements may be (`Elements`), and whether the matrix has
to be positive semi-definite. Its projection, the penalties on top of it and their splitting are
composed of these two, so that such a cone works with every penalty and every solver once it stands
in `MATRIX_SETS`. A step that is no projection, as "clip", says so by its `stand_in`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array, Mask
from immigrate.core.psd import WIDE, PsdPart
from immigrate.core.splitting import Separable, psd_prox, raised_to_psd

# A projection this small against what was projected is rounding, not a direction.
NEGLIGIBLE = 1e-10
# An answer that is approached may end with this share of what the best one gains.
GOOD_SHARE = 0.6
# Eigenvalue decompositions of one projection onto matrices whose elements and spectrum are both
# restricted, about.
ROUNDS_OF_SPLITTING = 50


def norm(A: Array) -> float:
    """Euclidean (Frobenius) norm that neither overflows nor underflows on the way."""
    largest = float(np.abs(A).max(initial=0.0))
    if largest == 0:
        return 0.0
    # As `numpy.linalg.norm` has it, whose checks of its arguments take longer than a small sum.
    flat = (A / largest).ravel(order="K")
    return largest * math.sqrt(flat.dot(flat))


def unit(A: Array) -> Array:
    """`A` scaled to norm 1."""
    largest = np.abs(A).max()
    A = A / largest
    return A / np.linalg.norm(A)


def share(w: Array) -> Array:
    """Non-negative `w` scaled to sum 1."""
    w = w / w.max()
    return w / w.sum()


def even_sized(w: Array) -> Array:
    """Vector `w` scaled to the norm of even weights that sum to 1, 1 / sqrt(p)."""
    return unit(w) / np.sqrt(len(w))


def nonnegative_part(A: Array) -> Array:
    """Nearest array with no negative element; for a vector this is Relief's (.)^+."""
    return np.maximum(A, 0.0)


def psd_part(A: Array) -> Array:
    """Nearest positive semi-definite matrix: the positive part of the spectrum."""
    return PsdPart(A).matrix() if len(A) >= WIDE else psd_part_by_all(A)


def psd_part_by_all(A: Array) -> Array:
    """The positive part by all eigenvectors."""
    # What `scipy.linalg.eigh` calls, which takes three times as long for a small matrix.
    size, integers = workspace(len(A))
    eigenvalues, vectors, _, _, info = lapack.dsyevr(A, lower=1, lwork=size, liwork=integers)
    if info:
        raise np.linalg.LinAlgError("The eigenvalues of a matrix of weights do not converge.")
    is_positive = eigenvalues > 0
    root = vectors[:, is_positive] * np.sqrt(eigenvalues[is_positive])
    return root @ root.T


@cache
def workspace(n: int) -> tuple[int, int]:
    """Numbers and integers that LAPACK works with for the spectrum of n rows."""
    size, integers, _ = lapack.dsyevr_lwork(n, lower=1)
    return int(size), int(integers)


def clipped_psd_part(A: Array) -> Array:
    """What the R package does: the PSD part, then negative elements to 0.

    Not a projection onto any set, so a step along it need not lower the cost.
    """
    return nonnegative_part(psd_part(A))


class Answer(NamedTuple):
    """What a weight set says of a linear cost.

    Attributes
    ----------
    weights : ndarray or callable
        The proximal point: the best V, not yet scaled. Or what makes it, where `most` is its norm
        and known without it.
    most : float or None
        An upper bound of what is maximised, over V of norm 1; None where V itself tells.
    """

    weights: Array | Callable[[], Array]
    most: float | None = None

    def point(self) -> Array:
        """The proximal point."""
        return self.weights() if callable(self.weights) else self.weights


class Approach(NamedTuple):
    """An answer that may not be the best one.

    Attributes
    ----------
    weights : ndarray
        A point of the cone, not yet scaled.
    most : float or None
        As in `Answer`: a bound, however far the point is from the best.
    multiplier : ndarray or None
        What certifies the bound, per unit of the step. Where to start with the next question.
    """

    weights: Array
    most: float | None = None
    multiplier: Array | None = None


class Aim(NamedTuple):
    """From where an answer is approached, and how near is near enough.

    Attributes
    ----------
    multiplier : ndarray or None
        That of a neighbouring answer.
    here : float
        What the present weights gain.
    tol : float
        How much more the best answer may gain, relative to its own gain, such that none is needed.
    """

    multiplier: Array | None
    here: float
    tol: float = 0.0

    def is_met(self, most: float, there: Callable[[], float]) -> bool:
        """Whether there is next to nothing to gain, or a good share of it is gained `there`."""
        if most - self.here <= self.tol * most:
            return True
        found = there()
        return found > NEGLIGIBLE and found - self.here >= GOOD_SHARE * (most - self.here)


class WeightSet(Protocol):
    """Where the weights may live, and what they cost there.

    A solver asks for nothing else, so a penalty is another weight set: its proximal map in place
    of the projection, and a value that is not 0.
    """

    @property
    def is_projection(self) -> bool:
        """Whether `prox` is the proximal map of a convex set and penalty.

        Only then does a step along it lower the cost, and does the Frank-Wolfe gap mean anything.
        """
        ...

    @property
    def can_warm_start(self) -> bool:
        """Whether a solution at one sigma is a good start for the next."""
        ...

    @property
    def has_formula(self) -> bool:
        """Whether `best` is a formula, or else has to be approached."""
        ...

    def prox(self, W: Array, step: float) -> Array:
        """The V of the cone that minimises |V - W|^2 / 2 + step * value(V)."""
        ...

    def best(self, A: Array, step: float) -> Answer:
        """The V that maximises <A, V> - step * value(V) over the cone at fixed norm."""
        ...

    def approach(self, A: Array, step: float, aim: Aim) -> Approach:
        """About the best V: as near as the aim asks for, where there is no formula."""
        ...

    def value(self, W: Array) -> float:
        """The penalty, homogeneous of degree 1; 0 for a plain cone."""
        ...

    def scaled(self, W: Array) -> Array:
        """The multiple of a point of the cone that lies on the sphere."""
        ...


@dataclass(frozen=True)
class Elements:
    """What the elements of a matrix may be, one by one.

    Attributes
    ----------
    is_signed : bool
        Whether elements may be negative.
    support : callable or None
        From the number of features to a symmetric mask of the elements that may differ from 0;
        None where all may. For positive semi-definite matrices the diagonal has to belong to it.
    """

    is_signed: bool = True
    support: Callable[[int], Mask] | None = None

    @property
    def are_free(self) -> bool:
        """Whether they may be anything."""
        return self.is_signed and self.support is None

    def part(self, A: Array) -> Array:
        """Nearest array of such elements."""
        if not self.is_signed:
            A = nonnegative_part(A)
        return A if self.support is None else np.where(self.support(len(A)), A, 0.0)

    def prox(self, A: Array, step: float) -> Array:
        """The same: no price is paid, however long the step."""
        return self.part(A)

    def is_held(self, A: Array, step: float) -> Mask:
        """Elements that `part` sets to 0."""
        held = np.zeros(A.shape, dtype=bool) if self.is_signed else A < 0
        return held if self.support is None else held | ~self.support(len(A))


@dataclass(frozen=True)
class Cone:
    """A cone cut by a sphere, without a penalty: `prox` is the projection and `value` is 0.

    Attributes
    ----------
    elements : Elements
    is_psd : bool
        Whether matrices have to be positive semi-definite.
    scaled : callable
        The multiple of a point of the cone that lies on the sphere.
    can_warm_start : bool
        Whether a solution at one sigma is a good start for the next.
    stand_in : callable or None
        What is done in place of a projection.
    """

    elements: Elements
    is_psd: bool = False
    scaled: Callable[[Array], Array] = unit
    can_warm_start: bool = False
    stand_in: Callable[[Array], Array] | None = None

    @property
    def has_formula(self) -> bool:
        """Whether the projection is one map, or else a splitting into two."""
        return not self.is_psd or self.elements.are_free

    @property
    def is_projection(self) -> bool:
        """Whether `project` deserves its name."""
        return self.stand_in is None

    @property
    def n_decompositions(self) -> int:
        """Eigenvalue decompositions of one projection, about."""
        if self.stand_in is None and not self.is_psd:
            return 0
        return 1 if self.stand_in or self.elements.are_free else ROUNDS_OF_SPLITTING

    def project(self, A: Array) -> Array:
        """Nearest point of the cone."""
        if self.stand_in is not None:
            return self.stand_in(A)
        if not self.is_psd:
            return self.elements.part(A)
        return psd_part(A) if self.has_formula else self._split(A).point()

    def prox(self, W: Array, step: float) -> Array:
        """Nearest point of the cone, for any step."""
        return self.project(W)

    def best(self, A: Array, step: float) -> Answer:
        """The proximal point, whose own value is the largest."""
        if not self.has_formula:
            return self._split(A)
        if self.is_psd and len(A) >= WIDE:
            # <A, P(A)> = |P(A)|^2 for a cone; of a large matrix the norm is known first.
            part = PsdPart(A)
            return Answer(part.matrix, part.norm())
        return Answer(self.prox(A, step))

    def _split(self, A: Array) -> Answer:
        """The projection by a splitting, raised into the cone where that stopped short of it."""
        split = psd_prox(A, self.elements)
        point = split.point if split.apart == 0 else raised_to_psd(split.point)
        return Answer(point, split.most)

    def approach(self, A: Array, step: float, aim: Aim) -> Approach:
        """The proximal point itself, or a splitting that is ended when it is good enough."""
        if self.has_formula:
            return Approach(self.prox(A, step))
        return approach_by_splitting(self, self.elements, A, step, aim)

    def value(self, W: Array) -> float:
        """No penalty."""
        return 0.0


FREE, NONNEGATIVE = Elements(), Elements(is_signed=False)

# With non-negative weights a start from a larger sigma can end in a poor solution: MONK-1 falls
# from 95.8 to 58.7 % right.
MATRIX_SETS: dict[str, Cone] = {
    "psd": Cone(FREE, is_psd=True, can_warm_start=True),
    "nonnegative": Cone(NONNEGATIVE),
    "both": Cone(NONNEGATIVE, is_psd=True),
    "clip": Cone(NONNEGATIVE, stand_in=clipped_psd_part),
}

# (-g)^+ minimises <g, w> over the non-negative vectors of one norm. The R package scales it to
# sum 1, where that is not so: the best vector of sum 1 is a single feature.
VECTOR_SETS: dict[str, Cone] = {
    "sphere": Cone(NONNEGATIVE, scaled=even_sized),
    "sum": Cone(NONNEGATIVE, scaled=share),
}


class Oracle:
    """The best W of the set for the cost linearised at the present one.

    Parameters
    ----------
    weights : ndarray, callable or None
        V = P_K(-Sigma), scaled: Theorem 3.1 for the PSD cone; or what makes it, where the gap is
        known without it. None where the projection is 0 and so no direction improves the margin.
    gap : float
        1 - <-Sigma, W> / <-Sigma, V>, with V scaled to the norm of W and the penalty, if
        there is one, taken from both: non-negative, and 0 exactly where W is the oracle's own
        answer, a stationary point on its sphere. NaN where `prox` is no projection.
    multiplier : ndarray or None
        What certifies the gap, if it takes that (`Approach`).
    """

    def __init__(
        self,
        weights: Array | Callable[[], Array] | None,
        gap: float,
        multiplier: Array | None = None,
    ) -> None:
        self._weights = weights
        # Whether there is a best W at all.
        self.has_direction = weights is not None
        self.gap = gap
        self.multiplier = multiplier

    @property
    def weights(self) -> Array | None:
        """V, or None where no direction improves the margin."""
        if callable(self._weights):
            self._weights = self._weights()
        return self._weights


def oracle(W: Array, gradient: Array, weight_set: WeightSet) -> Oracle:
    """Theorem 3.1 for any weight set, and how far `W` is from its own answer."""
    size = norm(gradient)
    if size == 0:
        return Oracle(None, np.nan)
    direction = -gradient / size
    # In units of the gradient, so that neither its square nor that of the answer overflows.
    answer = weight_set.best(direction, 1 / size)
    best, most = answer
    here = np.vdot(direction, W) - weight_set.value(W) / size
    if callable(best):
        assert most is not None
        if most <= NEGLIGIBLE:
            return Oracle(None, np.nan)
        gap = float(1 - here / (most * norm(W)))
        return Oracle(lambda: weight_set.scaled(answer.point()), gap)
    if norm(best) <= NEGLIGIBLE:
        return Oracle(None, np.nan)
    best = weight_set.scaled(best)
    if not weight_set.is_projection:
        return Oracle(best, np.nan)
    same_size = best * (norm(W) / norm(best))
    # A splitting that ended early gives no best answer, but its bound holds all the same.
    there = (
        np.vdot(direction, same_size) - weight_set.value(same_size) / size
        if most is None
        else most * norm(W)
    )
    return Oracle(best, float(1 - here / there))


def oracle_within(
    W: Array, gradient: Array, weight_set: WeightSet, tol: float, multiplier: Array | None
) -> Oracle:
    """The same, no better than it takes to tell whether the gap is at most `tol`.

    The bound of any multiplier holds, so that a gap within the tolerance is no larger than it
    looks; where it is not within, the answer gains a good share of what the best one would.
    """
    size = norm(gradient)
    if size == 0 or weight_set.has_formula:
        return oracle(W, gradient, weight_set)
    direction, step = -gradient / size, 1 / size
    here = gain(W, direction, step, weight_set)
    found = weight_set.approach(direction, step, Aim(multiplier, here, tol))
    assert found.most is not None
    if norm(found.weights) <= NEGLIGIBLE:
        return oracle(W, gradient, weight_set)
    gap = float(1 - here / found.most)
    return Oracle(weight_set.scaled(found.weights), gap, found.multiplier)


def gain(V: Array, A: Array, step: float, weight_set: WeightSet) -> float:
    """<A, V> - step * value(V) for V scaled to norm 1: what the best V makes largest."""
    # Of every round of a splitting: V is about as large as weights, whose squares are in range.
    size = math.sqrt(np.vdot(V, V))
    if size <= NEGLIGIBLE:
        return -np.inf
    return (float(np.vdot(A, V)) - step * weight_set.value(V)) / size


def approach_by_splitting(
    weight_set: WeightSet, h: Separable, A: Array, step: float, aim: Aim
) -> Approach:
    """A splitting from the multiplier of a neighbour, ended when it is good enough."""

    def accepted(most: float, point: Array) -> Array | None:
        raised = raised_to_psd(point)
        is_met = aim.is_met(most, lambda: gain(raised, A, step, weight_set))
        return raised if is_met else None

    start = None if aim.multiplier is None else step * aim.multiplier
    split = psd_prox(A, h, step, start=start, accepted=accepted)
    point = split.point if split.apart == 0 else raised_to_psd(split.point)
    return Approach(point, split.most, split.multiplier / step)
