"""Proximal maps over positive semi-definite matrices, split into two parts that are easy alone.

Asked for is the positive semi-definite V that minimises |V - A|^2 / 2 + h(V), where h acts on
single elements: V >= 0, an l1 penalty, or both (`core/penalties.py`). Its multiplier N makes
V = P(A + N), P the positive part of the spectrum, and is a fixed point of

    N <- prox_h(Z) - Z,    Z = P(A + N) - N

which is Dykstra's alternating projection [1]_ where h says V >= 0. It crawls near the end, in two
ways that help each other: Nesterov's momentum with restarts [2]_ is safe from anywhere, and
Newton's method on the elements that N holds at 0, by the derivative of P [3]_, ends in a few steps
where it works.

Any N that `prox_h(Z) - Z` can take is a certificate: no V of norm 1 has <A, V> - h(V) above the
norm of P(A + N), whether or not the iteration has ended. So a splitting may start from the N of a
neighbour and end when its caller has seen enough; by default it starts from the answer without a
condition on the spectrum, prox_h(A) - A, and ends when exact.

References
----------
.. [1] J. P. Boyle and R. L. Dykstra, "A method for finding projections onto the intersection of
   convex sets in Hilbert spaces", 1986. :doi:`10.1007/978-1-4613-9940-7_3`
.. [2] B. O'Donoghue and E. Candes, "Adaptive restart for accelerated gradient schemes", 2015.
   :doi:`10.1007/s10208-013-9150-3`
.. [3] H. Qi and D. Sun, "A quadratically convergent Newton method for computing the nearest
   correlation matrix", 2006. :doi:`10.1137/050624509`
.. [4] J. Fan and Y. Yuan, "On the quadratic convergence of the Levenberg-Marquardt method without
   nonsingularity assumption", 2005. :doi:`10.1007/s00607-004-0083-1`
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array, Mask

MOST_ROUNDS = 2000
TOLERANCE = 1e-12
# A step of Newton's method that does not halve the distance is not taken; after so many rounds a
# damped one is tried. Its equations are solved by so many conjugate gradients.
PATIENCE = 25
MOST_GRADIENTS = 30
# Where less than the exact point will do, so many rounds often get there before a Newton step,
# which takes as long as ten of them, is worth its while.
FIRST_ROUNDS = 8
# Momentum at the start from the multiplier of a neighbour: from there it is the same way for many
# rounds, and steps that are long from the first save a seventh of them along a path. Momentum of 3
# to 12 does alike.
WARM_MOMENTUM = 5.0


class Separable(Protocol):
    """A function h of the elements of a matrix, homogeneous of degree 1."""

    def prox(self, A: Array, step: float) -> Array:
        """The V that minimises |V - A|^2 / 2 + step * h(V), with no condition on its spectrum."""
        ...

    def is_held(self, A: Array, step: float) -> Mask | None:
        """Elements that `prox` sets to 0; None where they do not decide one by one."""
        ...


class Split(NamedTuple):
    """What a splitting found.

    Attributes
    ----------
    point : ndarray of shape (p, p)
        V, exactly 0 where h wants it to be, and positive semi-definite up to `apart`.
    most : float
        An upper bound of <A, V> - step h(V) over all positive semi-definite V of norm 1.
    apart : float
        Distance between `point` and a matrix that is positive semi-definite; 0 if it is one.
    multiplier : ndarray of shape (p, p)
        N, for a splitting of a neighbour to start from.
    """

    point: Array
    most: float
    apart: float
    multiplier: Array

    def times(self, scale: float) -> Split:
        """The same of a matrix that is so many times as large."""
        point, most, apart, N = self
        return Split(scale * point, scale * most, scale * apart, scale * N)


# From `most` and a multiple of `point` to the positive semi-definite matrix that will do in its
# place, the same multiple; None where none will.
Accepted = Callable[[float, Array], Array | None]


def psd_prox(
    A: Array,
    h: Separable,
    step: float = 1.0,
    *,
    start: Array | None = None,
    accepted: Accepted | None = None,
) -> Split:
    """The proximal map of h over positive semi-definite matrices.

    Parameters
    ----------
    A : ndarray of shape (p, p)
    h : Separable
    step : float
    start : ndarray of shape (p, p), optional
        About the multiplier, as a splitting of a neighbour found it.
    accepted : callable, optional
        From the bound and the point found so far to one that will do. By default only exact ones
        will.
    """
    scale = np.abs(A).max(initial=0.0)
    if scale == 0:
        return Split(A, 0.0, 0.0, np.zeros_like(A))
    # In units of the matrix, so that neither squares nor the tolerance depend on its size.
    scale *= float(np.linalg.norm(A / scale))
    found = _psd_prox_of_unit(
        A / scale,
        h,
        step / scale,
        None if start is None else start / scale,
        None if accepted is None else lambda most, point: accepted(scale * most, point),
    )
    return found.times(scale)


def _psd_prox_of_unit(
    A: Array, h: Separable, step: float, start: Array | None, accepted: Accepted | None
) -> Split:
    """The proximal map at a matrix of norm 1."""
    alone = h.prox(A, step)
    if is_definite(alone):
        # The multiplier of this one is `alone - A`: the condition on the spectrum is met already.
        return Split(alone, _size(alone), 0.0, alone - A)
    lifted = ahead = alone - A if start is None else multiplier(h, -start, step)
    momentum, is_damped = 1.0 if start is None else WARM_MOMENTUM, False
    n_waiting = 0 if accepted is None else -FIRST_ROUNDS
    at = Spectrum.of(A + ahead)
    for _ in range(MOST_ROUNDS):
        part = at.positive_part()
        Z = part - ahead
        point = h.prox(Z, step)
        following = point - Z
        change = following - ahead
        moved = _size(change)
        if accepted is not None:
            enough = accepted(_size(part), point)
            if enough is not None:
                return Split(enough, _size(part), 0.0, ahead)
        if moved <= TOLERANCE:
            break
        is_held = h.is_held(Z, step) if n_waiting == 0 else None
        if is_held is not None:
            held = Held(is_held, following, part, moved if is_damped else TOLERANCE)
            trial = multiplier(h, -_newton_point(at, ahead, held, moved), step)
            there = Spectrum.of(A + trial)
            if _distance_to_fixed_point(h, trial, there.positive_part(), step) < moved / 2:
                lifted, ahead, at, momentum = trial, trial, there, 1.0
                continue
            is_damped = True
        n_waiting = n_waiting + 1 if n_waiting < PATIENCE - 1 else 0
        gone = following - lifted
        # Against the direction of the last step: the momentum has carried it too far.
        if np.vdot(change, gone) < 0:
            momentum = 1.0
        faster = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / faster * gone
        lifted, ahead, momentum = following, multiplier(h, -(following + push), step), faster
        at = Spectrum.of(A + ahead)
    return _split(h, at.positive_part(), ahead, step)


def _size(A: Array) -> float:
    """Norm of a matrix in units of another, whose squares are in range."""
    return math.sqrt(np.vdot(A, A))


def _split(h: Separable, part: Array, N: Array, step: float) -> Split:
    """What is known at the multiplier N, where P(A + N) is `part`."""
    point = h.prox(part - N, step)
    return Split(point, _size(part), _size(point - part), N)


def is_definite(A: Array) -> bool:
    """Whether all eigenvalues are positive: whether there is a factor by Cholesky's way."""
    is_so: bool = lapack.dpotrf(A, lower=1)[1] == 0
    return is_so


def smallest_eigenvalue(A: Array) -> float:
    """Of a symmetric matrix."""
    # The only one asked for: two thirds of the time of all of them.
    eigenvalues, *_, info = lapack.dsyevr(A, compute_v=0, range="I", il=1, iu=1, lower=1)
    if info != 0:
        raise np.linalg.LinAlgError(f"Eigenvalues did not converge: info = {info}.")
    return float(eigenvalues[0])


def raised_to_psd(A: Array) -> Array:
    """`A` with as much on its diagonal as makes it positive semi-definite; its zeros stay."""
    # The factor costs a tenth of the eigenvalues.
    if is_definite(A):
        return A
    lift = max(-smallest_eigenvalue(A), 0.0)
    raised = A.copy(order="C")
    # A row of zeros has no part in negative eigenvalues.
    raised.reshape(-1)[:: len(A) + 1] += lift * A.any(axis=0)
    return raised


def multiplier(h: Separable, Z: Array, step: float) -> Array:
    """prox_h(Z) - Z: the possible multiplier that is nearest to -Z."""
    return h.prox(Z, step) - Z


def _distance_to_fixed_point(h: Separable, N: Array, part: Array, step: float) -> float:
    return _size(multiplier(h, part - N, step) - N)


class Held(NamedTuple):
    """Which elements the multiplier holds at 0, and what Newton's method starts from.

    Attributes
    ----------
    is_held : ndarray of bool
    following : ndarray
        The next multiplier without momentum: its bound where an element is not held.
    part : ndarray
        P(A + N).
    damping : float
    """

    is_held: Mask
    following: Array
    part: Array
    damping: float


def _newton_point(at: Spectrum, N: Array, held: Held, moved: float) -> Array:
    """Where the linearised P would be 0 on the elements held, and N is at its bound elsewhere.

    The derivative is 0 among negative eigenvalues, and nearly so for matrices of low rank: there
    the elements of N are not determined, and full steps lead astray. Damping by the distance left
    [4]_ keeps them short, and fades so fast that the last steps are Newton's.
    """
    derivative, is_held = at.derivative(), held.is_held
    dropped = np.where(is_held, 0.0, held.following - N)
    missing = np.where(is_held, -held.part - derivative(dropped), 0.0)
    step = conjugate_gradients(
        lambda H: np.where(is_held, derivative(H), 0.0) + held.damping * H,
        missing,
        tol=min(1e-2, moved),
        most=MOST_GRADIENTS,
    )
    point = N + dropped + step
    return (point + point.T) / 2


class Spectrum(NamedTuple):
    """Eigenvalues of a symmetric matrix and its eigenvectors, one per column."""

    eigenvalues: Array
    vectors: Array

    @classmethod
    def of(cls, A: Array) -> Spectrum:
        """Straight from LAPACK: for small matrices the checks around it take as long again."""
        eigenvalues, vectors, *_, info = lapack.dsyevr(A, lower=1)
        if info != 0:
            raise np.linalg.LinAlgError(f"Eigenvalues did not converge: info = {info}.")
        return cls(eigenvalues, vectors)

    def positive_part(self) -> Array:
        """Nearest positive semi-definite matrix."""
        # They ascend.
        first = int(self.eigenvalues.searchsorted(0.0, side="right"))
        root = self.vectors[:, first:] * np.sqrt(self.eigenvalues[first:])
        return root @ root.T

    def slopes(self) -> Array:
        """Of the positive part between two eigenvalues; where they are equal, its derivative."""
        above = np.maximum(self.eigenvalues, 0.0)
        distance = self.eigenvalues[:, None] - self.eigenvalues
        is_same = np.abs(distance) < 1e-14
        return np.divide(
            above[:, None] - above,
            distance,
            out=np.broadcast_to(above > 0, distance.shape).astype(float),
            where=~is_same,
        )

    def derivative(self) -> Callable[[Array], Array]:
        """Of the positive part, in the direction of any symmetric matrix."""
        slopes, V = self.slopes(), self.vectors
        return lambda H: V @ (slopes * (V.T @ H @ V)) @ V.T


def conjugate_gradients(
    product: Callable[[Array], Array], target: Array, *, tol: float, most: int
) -> Array:
    """Matrix whose product is about `target`, after at most so many steps."""
    solution, rest = np.zeros_like(target), target
    direction, size = rest, float(np.vdot(rest, rest))
    small = tol**2 * size
    for _ in range(most):
        if size <= small:
            break
        image = product(direction)
        length = size / float(np.vdot(direction, image))
        solution = solution + length * direction
        rest = rest - length * image
        before, size = size, float(np.vdot(rest, rest))
        direction = rest + size / before * direction
    return solution
