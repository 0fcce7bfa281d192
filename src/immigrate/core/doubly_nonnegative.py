"""Projection onto matrices that are both positive semi-definite and element-wise non-negative.

The nearest such matrix is the PSD part P of A + N, for the N >= 0 that makes it smallest: N and P
are then nowhere positive together. So N is a fixed point of

    N <- (N - P(A + N))^+

which is Dykstra's alternating projection [1]_. It crawls near the end, in two ways that help each
other: Nesterov's momentum with restarts [2]_ is safe from anywhere, and Newton's method on the
elements where N is positive, by the derivative of P [3]_, ends in a few steps where it works.

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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from immigrate.typing import Array

MOST_ROUNDS = 2000
TOLERANCE = 1e-12
# A step of Newton's method that does not halve the distance is not taken; after so many rounds a
# damped one is tried. Its equations are solved by so many conjugate gradients.
PATIENCE = 25
MOST_GRADIENTS = 30


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
        is_positive = self.eigenvalues > 0
        root = self.vectors[:, is_positive] * np.sqrt(self.eigenvalues[is_positive])
        return root @ root.T

    def derivative(self) -> Callable[[Array], Array]:
        """Of the positive part, in the direction of any symmetric matrix."""
        above = np.maximum(self.eigenvalues, 0.0)
        distance = self.eigenvalues[:, None] - self.eigenvalues
        is_same = np.abs(distance) < 1e-14
        slope = np.divide(
            above[:, None] - above,
            distance,
            out=np.broadcast_to(above > 0, distance.shape).astype(float),
            where=~is_same,
        )
        V = self.vectors
        return lambda H: V @ (slope * (V.T @ H @ V)) @ V.T


def nearest_doubly_nonnegative(A: Array) -> Array:
    """The projection of a matrix of norm 1."""
    lifted = ahead = np.zeros_like(A)
    momentum, n_waiting, is_damped = 1.0, 0, False
    at = Spectrum.of(A)
    for _ in range(MOST_ROUNDS):
        part = at.positive_part()
        following = np.maximum(ahead - part, 0.0)
        moved = float(np.linalg.norm(following - ahead))
        if moved <= TOLERANCE:
            break
        if n_waiting == 0:
            trial = _newton_point(at, part, ahead, moved, moved if is_damped else TOLERANCE)
            there = Spectrum.of(A + trial)
            if _distance_to_fixed_point(trial, there.positive_part()) < moved / 2:
                lifted, ahead, at, momentum = trial, trial, there, 1.0
                continue
            is_damped = True
        n_waiting = (n_waiting + 1) % PATIENCE
        # Against the direction of the last step: the momentum has carried it too far.
        if np.vdot(ahead - following, following - lifted) > 0:
            momentum = 1.0
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / faster * (following - lifted)
        lifted, ahead, momentum = following, np.maximum(following + push, 0.0), faster
        at = Spectrum.of(A + ahead)
    return np.maximum(at.positive_part(), 0.0)


def _distance_to_fixed_point(N: Array, part: Array) -> float:
    return float(np.linalg.norm(np.maximum(N - part, 0.0) - N))


def _newton_point(at: Spectrum, part: Array, N: Array, moved: float, damping: float) -> Array:
    """Where the linearised P would be 0 on the elements that N holds up, and N is 0 elsewhere.

    The derivative is 0 among negative eigenvalues, and nearly so for matrices of low rank: there
    the elements of N are not determined, and full steps lead astray. Damping by the distance left
    [4]_ keeps them short, and fades so fast that the last steps are Newton's.
    """
    is_held = part < N
    derivative = at.derivative()
    dropped = np.where(is_held, 0.0, -N)
    missing = np.where(is_held, -part - derivative(dropped), 0.0)
    step = _conjugate_gradients(
        lambda H: np.where(is_held, derivative(H), 0.0) + damping * H,
        missing,
        tol=min(1e-2, moved),
    )
    point = np.maximum(N + dropped + step, 0.0)
    return (point + point.T) / 2


def _conjugate_gradients(product: Callable[[Array], Array], target: Array, tol: float) -> Array:
    """Matrix whose product is about `target`."""
    solution, rest = np.zeros_like(target), target
    direction, size = rest, float(np.vdot(rest, rest))
    small = tol**2 * size
    for _ in range(MOST_GRADIENTS):
        if size <= small:
            break
        image = product(direction)
        length = size / float(np.vdot(direction, image))
        solution = solution + length * direction
        rest = rest - length * image
        before, size = size, float(np.vdot(rest, rest))
        direction = rest + size / before * direction
    return solution
