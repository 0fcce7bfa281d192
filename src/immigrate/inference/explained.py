"""What the refit of the null model takes out of U: A F'F A' for the rows A of a term.

Three ways to the same covariance. With few classes F itself, (k, n). With many classes, or more
samples than memory, F is never made: the products A V Z are summed over blocks of rows, and L of
Q = LL' comes last. With more coefficients than samples, matrices of n^2 entries that all classes
share. Each first gives products that are sums over rows, `partial`, then the covariance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from immigrate.arrays import Array
from immigrate.inference.links import Link
from immigrate.inference.rows import Columns, Rows


class Explained(Protocol):
    """A covariance F'F of the residuals of one logit, by what it does to rows A."""

    def partial(self, A: Array, rows: Rows) -> Array:
        """Products with rows A (b, k, n_rows) on some of the samples; they add up."""
        ...

    def covariance(self, total: Array) -> Array:
        """A F'F A', (b, k, k), from the sum of all products."""
        ...


@dataclass(frozen=True, eq=False)
class Matrix:
    """F as it is, (k, n)."""

    F: Array

    def partial(self, A: Array, rows: Rows) -> Array:
        """A F'."""
        return _flat_product(A, self.F[:, rows].T)

    def covariance(self, total: Array) -> Array:
        """Its square."""
        return np.matmul(total, total.transpose(0, 2, 1))


def explained_by(F: Array | Explained) -> Explained:
    """Any of the three ways; an array is F itself."""
    return Matrix(F) if isinstance(F, np.ndarray) else F


def _flat_product(A: Array, right: Array) -> Array:
    return (A.reshape(-1, A.shape[-1]) @ right).reshape(*A.shape[:-1], -1)


@dataclass(frozen=True, eq=False)
class CoefficientForm:
    """F = L'Z'V for the residuals of one logit, with Q = LL' of all logits.

    Attributes
    ----------
    Z : columns (n, m)
    mu : ndarray of shape (n, n_logits)
    weight : ndarray of shape (n,)
    root : ndarray of shape (n_logits * m, n_logits * m)
        L, one block of rows per logit.
    """

    Z: Columns
    mu: Array
    weight: Array
    link: Link
    root: Array
    logit: int

    def partial(self, A: Array, rows: Rows) -> Array:
        """A V Z, logit by logit: (b, k, n_logits * m)."""
        Z, mu, weight, c = self.Z[rows], self.mu[rows], self.weight[rows], self.logit
        if mu.shape[1] == 1:
            return _flat_product(A, Z * (weight * self.link.covariance(mu, c, c))[:, None])
        own = A * (weight * mu[:, c])
        # V_cd = mu_c [c = d] - mu_c mu_d: one product with all mu_d Z, and one with Z.
        beside = (mu[:, :, None] * Z[:, None, :]).reshape(len(Z), -1)
        moved = -_flat_product(own, beside)
        m = Z.shape[1]
        moved[..., c * m : (c + 1) * m] += _flat_product(own, Z)
        return moved

    def covariance(self, total: Array) -> Array:
        """(A V Z L)(A V Z L)'."""
        moved = _flat_product(total, self.root)
        return np.matmul(moved, moved.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class NumberForm:
    """F, or G, of a number: a sum of L'Z' diag(v), each with its own v and L.

    Attributes
    ----------
    Z : columns (n, m)
    parts : tuple of pairs
        v, of shape (n,), and L, of shape (m, k).
    """

    Z: Columns
    parts: tuple[tuple[Array, Array], ...]

    def partial(self, A: Array, rows: Rows) -> Array:
        """A diag(v) Z for each v, side by side."""
        Z = self.Z[rows]
        return np.concatenate(
            [_flat_product(A, Z * variance[rows][:, None]) for variance, _ in self.parts], axis=-1
        )

    def covariance(self, total: Array) -> Array:
        """The square of their sum, each times its L."""
        moved = _flat_product(total, np.vstack([root for _, root in self.parts]))
        return np.matmul(moved, moved.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class SampleForm:
    """The covariance of `newton_inverse` in the space of samples, for one logit.

    With a = A sqrt(w), and X, J_c and T_c of that page,

        a X LL' X a' + a J_c S^-1 X a' + its transpose + a (T_c + J_c - diag(mu_c^2)) a'.

    Attributes
    ----------
    size : ndarray of shape (n,)
        sqrt(w).
    mu : ndarray of shape (n,)
    M, N : ndarray of shape (n, m)
    penalty : ndarray of shape (m,)
    root : ndarray of shape (n, n)
        L.
    solved : ndarray of shape (m, n)
        N' S^-1.
    """

    size: Array
    mu: Array
    M: Array
    N: Array
    penalty: Array
    root: Array
    solved: Array

    def partial(self, A: Array, rows: Rows) -> Array:
        """The rows themselves; all samples are there at once."""
        return A * self.size[rows]

    def covariance(self, total: Array) -> Array:
        """The sum of the four products."""
        on_M, on_N = _flat_product(total, self.M), _flat_product(total, self.N)
        moved = _flat_product(on_M, self.N.T) - total * self.mu  # a X
        shared = _flat_product(moved, self.root)
        half = np.matmul(on_N * self.penalty, _flat_product(moved, self.solved.T).swapaxes(1, 2))
        # T_c + J_c, J_c = N D N'.
        own = np.matmul(on_M + on_N * self.penalty, on_N.swapaxes(1, 2))
        squares = np.matmul(total * self.mu**2, total.swapaxes(1, 2))
        return (
            np.matmul(shared, shared.swapaxes(1, 2)) + half + half.swapaxes(1, 2) + own - squares
        )

    def weighted_size(self) -> float:
        """Trace of the covariance with every sample's weight divided out."""
        moved_root = self.M @ (self.N.T @ self.root) - self.mu[:, None] * self.root
        moved = (self.solved @ self.M) @ self.N.T - self.solved * self.mu  # N' S^-1 X
        half = np.sum((self.N * self.penalty) * moved.T)
        own = np.sum((self.M + self.N * self.penalty) * self.N)
        return float(np.sum(moved_root**2) + 2 * half + own - np.sum(self.mu**2))
