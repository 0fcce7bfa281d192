"""The positive part of a small symmetric matrix, its derivative, and equations in matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array


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
