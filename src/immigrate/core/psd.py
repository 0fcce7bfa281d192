"""The positive semi-definite part of a large symmetric matrix, by the fewer of its eigenvectors.

A = P - N, its positive and its negative part, so that either of them gives the other: P = A + N. A
large matrix is therefore reduced to a tridiagonal one, of which it costs little to know how many
eigenvalues are negative, and only the eigenvectors of the rarer sign are carried back. Along a
path of sigma the negative ones go from a half of all to a tenth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from immigrate.arrays import Array

# Features from which on the eigenvectors of one sign are the faster way.
WIDE = 256
# Up to this share of all, finding some eigenvectors of a tridiagonal matrix is faster than all.
FEW = 1 / 8


class PsdPart:
    """The positive part of a large matrix: its norm is known before its elements are.

    Parameters
    ----------
    A : ndarray of shape (p, p)
    """

    def __init__(self, A: Array) -> None:
        # Scaled by a power of two, which is exact, so that no square leaves the range of floats.
        self._exponent = int(np.frexp(np.abs(A).max(initial=0.0))[1])
        A = np.ldexp(A, -self._exponent)
        # One triangle is read below, and both come back: they have to be the same.
        self._whole = (A + A.T) / 2
        self._reduced = Tridiagonal.of(self._whole)

    def norm(self) -> float:
        """Frobenius norm, for which eigenvalues are enough."""
        size = np.linalg.norm(np.maximum(self._reduced.eigenvalues(), 0.0))
        return float(np.ldexp(size, self._exponent))

    def matrix(self) -> Array:
        """The part itself, by the eigenvectors of whichever sign has fewer."""
        p, n_negative = len(self._whole), self._reduced.n_negative()
        if 2 * n_negative <= p:
            root = self._reduced.root_of_sign(-1, n_negative)
            return np.ldexp(self._whole + root @ root.T, self._exponent)
        root = self._reduced.root_of_sign(1, p - n_negative)
        return np.ldexp(root @ root.T, self._exponent)


class Tridiagonal(NamedTuple):
    """A = Q T Q' with T tridiagonal, and Q as the reflections that LAPACK stores.

    Each stage is a call of its own, a third of the whole at most, and between two of them Python
    hears Ctrl-C.
    """

    diagonal: Array
    beside: Array
    reflections: Array
    factors: Array

    @classmethod
    def of(cls, A: Array) -> Tridiagonal:
        """From a symmetric matrix."""
        space, _ = lapack.dsytrd_lwork(len(A), lower=1)
        stored, diagonal, beside, factors, info = lapack.dsytrd(A, lower=1, lwork=int(space))
        _check(info)
        return cls(diagonal, beside, np.asfortranarray(stored[1:, :-1]), factors)

    def eigenvalues(self) -> Array:
        """Of A, without the vectors."""
        eigenvalues, info = lapack.dsterf(self.diagonal, self.beside)
        _check(info)
        return eigenvalues

    def n_negative(self) -> int:
        """Number of negative eigenvalues: the signs of the pivots, by Sylvester's law."""
        tiny = np.finfo(float).tiny
        pivot, n_negative = 1.0, 0
        squares = [0.0, *(self.beside**2).tolist()]
        for value, square in zip(self.diagonal.tolist(), squares):
            # A pivot of 0 counts as positive; it must not be divided by.
            pivot = value - square / pivot or tiny
            n_negative += int(pivot < 0)
        return n_negative

    def root_of_sign(self, sign: int, n: int) -> Array:
        """R of R R' = the part of A with eigenvalues of one sign, of which there are `n`."""
        if n == 0:
            return np.zeros((len(self.diagonal), 0))
        eigenvalues, vectors = self._few(sign, n) if n <= FEW * len(self.diagonal) else self._all()
        is_asked = sign * eigenvalues > 0
        vectors = self._carried_back(vectors[:, is_asked])
        return vectors * np.sqrt(np.abs(eigenvalues[is_asked]))

    def _few(self, sign: int, n: int) -> tuple[Array, Array]:
        """The `n` lowest or highest eigenvalues of T and their vectors: relative robustness."""
        p = len(self.diagonal)
        first, last = (1, n) if sign < 0 else (p - n + 1, p)
        # Both arrays are overwritten, and the second has a place to spare.
        m, eigenvalues, vectors, info = lapack.dstemr(
            self.diagonal.copy(), np.append(self.beside, 0.0), 2, 0.0, 0.0, first, last
        )
        _check(info)
        return eigenvalues[:m], vectors[:, :m]

    def _all(self) -> tuple[Array, Array]:
        """All eigenvalues of T and their vectors: divide and conquer, where SciPy has it."""
        if not hasattr(lapack, "dstevd"):
            return self._few(1, len(self.diagonal))
        eigenvalues, vectors, info = lapack.dstevd(self.diagonal, self.beside)
        _check(info)
        return eigenvalues, vectors

    def _carried_back(self, vectors: Array) -> Array:
        """Q times vectors; the reflections leave the first row alone."""
        rows = np.asfortranarray(vectors[1:])
        _, work, _ = lapack.dormqr("L", "N", self.reflections, self.factors, rows, -1)
        rows, _, info = lapack.dormqr(
            "L", "N", self.reflections, self.factors, rows, int(work[0]), overwrite_c=1
        )
        _check(info)
        return np.concatenate([vectors[:1], rows])


def _check(info: int) -> None:
    if info != 0:
        raise np.linalg.LinAlgError(f"Eigenvalues did not converge: info = {info}.")
