"""Projection onto matrices that are both positive semi-definite and element-wise non-negative.

The nearest such matrix is the PSD part P of A + N, for the N >= 0 that minimises |P(A + N)|^2 / 2,
whose gradient is P itself. So N and P are nowhere positive together, and N is a fixed point of

    N <- (N - P(A + N))^+

which is Dykstra's alternating projection [1]_. Newton's method on the elements where N is
positive, by the derivative of P [2]_, gets there in a few steps where it works. With few samples
the matrices are of low rank, N is not unique, and Newton's steps lead astray. Then the proximal
point method [3]_ takes over: it minimises |P(A + N)|^2 / 2 + h |N - C|^2 / 2 by Newton's method
with a line search, which cannot fail because the minimum is unique, moves the centre C there, and
makes h smaller from one centre to the next.

References
----------
.. [1] J. P. Boyle and R. L. Dykstra, "A method for finding projections onto the intersection of
   convex sets in Hilbert spaces", 1986. :doi:`10.1007/978-1-4613-9940-7_3`
.. [2] H. Qi and D. Sun, "A quadratically convergent Newton method for computing the nearest
   correlation matrix", 2006. :doi:`10.1137/050624509`
.. [3] X.-Y. Zhao, D. Sun and K.-C. Toh, "A Newton-CG augmented Lagrangian method for
   semidefinite programming", 2010. :doi:`10.1137/080718206`
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array, Mask
from immigrate.core.splitting import Spectrum, conjugate_gradients

TOLERANCE = 1e-12
# How strongly the first centre holds N, by how much less each one after it, and the least.
FIRST_HOLD, RELEASE, LAST_HOLD = 0.01, 3.0, 1e-12
MOST_CENTRES, MOST_STEPS, MOST_CUTS = 100, 30, 10
STEP_CUT = 4.0
# Share of the decrease that the slope promises, which a step has to reach.
ENOUGH = 1e-4
# Elements of N up to this size count as 0.
AT_ZERO = 1e-8
# Newton's equations of up to so many unknowns are solved directly, others by so many conjugate
# gradients.
MOST_DIRECT, MOST_GRADIENTS = 200, 30


class Dual(NamedTuple):
    """N >= 0 with what is known there: the spectrum of A + N, and P, its positive part."""

    N: Array
    spectrum: Spectrum
    part: Array

    @classmethod
    def at(cls, A: Array, N: Array) -> Dual:
        """The point `N` of the dual of the projection of `A`."""
        spectrum = Spectrum.of(A + N)
        return cls(N, spectrum, spectrum.positive_part())

    def distance(self) -> float:
        """How far N is from being a fixed point."""
        return _residual(self.N, self.part)


def _residual(N: Array, gradient: Array) -> float:
    return float(np.linalg.norm(np.maximum(N - gradient, 0.0) - N))


def nearest_doubly_nonnegative(A: Array) -> Array:
    """The projection of a matrix of norm 1."""
    return np.maximum(solved_dual(A).part, 0.0)


def solved_dual(A: Array) -> Dual:
    """The fixed point N with its P."""
    here = _by_newton(A)
    hold = FIRST_HOLD
    for _ in range(MOST_CENTRES):
        if here.distance() <= TOLERANCE:
            break
        here = _proximal_point(A, here, hold)
        hold = max(hold / RELEASE, LAST_HOLD)
    return here


def _by_newton(A: Array) -> Dual:
    """As far as each full step of Newton's method at least halves the distance."""
    here = Dual.at(A, np.zeros_like(A))
    distance = here.distance()
    while distance > TOLERANCE:
        there = Dual.at(A, _newton_point(here, distance))
        if not there.distance() < distance / 2:
            break
        here, distance = there, there.distance()
    return here


def _newton_point(here: Dual, distance: float) -> Array:
    """Where the linearised P would be 0 on the elements that N holds up, and N is 0 elsewhere."""
    is_held = here.part < here.N
    derivative = here.spectrum.derivative()
    dropped = np.where(is_held, 0.0, -here.N)
    missing = np.where(is_held, -here.part - derivative(dropped), 0.0)
    step = conjugate_gradients(
        lambda H: np.where(is_held, derivative(H), 0.0) + TOLERANCE * H,
        missing,
        tol=min(1e-2, distance),
        most=MOST_GRADIENTS,
    )
    point = np.maximum(here.N + dropped + step, 0.0)
    return (point + point.T) / 2


def _proximal_point(A: Array, centre: Dual, hold: float) -> Dual:
    """About the N >= 0 that minimises |P(A + N)|^2 / 2 + hold |N - C|^2 / 2, C the centre."""
    here = centre
    for _ in range(MOST_STEPS):
        moved = here.N - centre.N
        gradient = here.part + hold * moved
        rest = _residual(here.N, gradient)
        # Exact enough: what is left is less than what the centre holds back.
        if here.distance() <= TOLERANCE or rest <= hold * float(np.linalg.norm(moved)):
            break
        # Elements at 0 that a step would take below it stay out of Newton's equations.
        is_free = (min(rest, AT_ZERO) < here.N) | (gradient <= 0)
        step = _newton_step(here.spectrum, is_free, np.where(is_free, -gradient, 0.0), hold)
        here = _searched(A, here, centre, hold, np.where(is_free, step, -here.N))
    return here


def _searched(A: Array, here: Dual, centre: Dual, hold: float, step: Array) -> Dual:
    """The first point along a step, made shorter and shorter, that is lower by enough."""

    def value(point: Dual) -> float:
        moved = point.N - centre.N
        return float(np.vdot(point.part, point.part) + hold * np.vdot(moved, moved)) / 2

    gradient = here.part + hold * (here.N - centre.N)
    now, rest = value(here), _residual(here.N, gradient)
    length = 1.0
    for _ in range(MOST_CUTS):
        there = Dual.at(A, np.maximum(here.N + length * step, 0.0))
        promised = float(np.vdot(gradient, there.N - here.N))
        if value(there) <= now + ENOUGH * promised:
            break
        # Values differ by their rounding near the end; the gradient still tells points apart.
        if _residual(there.N, there.part + hold * (there.N - centre.N)) < rest / 2:
            break
        length /= STEP_CUT
    return there


def _newton_step(spectrum: Spectrum, is_free: Mask, target: Array, hold: float) -> Array:
    """H on the free elements, such that the derivative of P along it plus hold * H is `target`."""
    if np.count_nonzero(np.triu(is_free)) <= MOST_DIRECT:
        return _direct_step(spectrum, is_free, target, hold)
    derivative = spectrum.derivative()
    step = conjugate_gradients(
        lambda H: np.where(is_free, derivative(H), 0.0) + hold * H,
        target,
        tol=min(0.1, float(np.linalg.norm(target))),
        most=MOST_GRADIENTS,
    )
    return (step + step.T) / 2


def _direct_step(spectrum: Spectrum, is_free: Mask, target: Array, hold: float) -> Array:
    """The same with the equations written out, an unknown for each free element of a triangle."""
    row, column = np.nonzero(np.triu(is_free))
    # Elements beside the diagonal stand for two: scaled, so that products of vectors are those
    # of matrices.
    size = np.where(row == column, 1.0, np.sqrt(2.0))
    V = spectrum.vectors
    turned = V[row][:, :, None] * V[column][:, None, :]
    turned = (turned + turned.transpose(0, 2, 1)) * (size / 2)[:, None, None]
    turned = turned.reshape(len(row), -1)
    curvature = (turned * spectrum.slopes().ravel()) @ turned.T
    curvature[np.diag_indices(len(row))] += hold
    _, solution, info = lapack.dposv(curvature, target[row, column] * size)
    if info != 0:
        raise np.linalg.LinAlgError(f"Newton's equations could not be solved: info = {info}.")
    step = np.zeros_like(target)
    step[row, column] = step[column, row] = solution.ravel() / size
    return step
