"""H = (Z'VZ + D)^-1 of all logits at once, in the smaller of two spaces, and what it explains.

With m columns and K logits H has K m rows. Two or three classes: H itself, as a matrix. Many
classes soon have more coefficients than there are samples, and then n x n matrices do. Write

    B_d = Z' diag(w mu_d) Z + D,  M_d = diag(sqrt(w) mu_d) Z,  N_d = M_d B_d^-1,  T_d = M_d N_d'.

Since V_cd = mu_c [c = d] - mu_c mu_d, the information is block-diagonal less one product of n
rows, B - M'M, and Woodbury's identity gives

    H = B^-1 + B^-1 M' S^-1 M B^-1,  S = I - T,  T = sum_d T_d.

What the refit of the null model explains of the residuals of logit c is R_c Q R_c' with R_c the
rows of VZ and Q = H + H D H: of U = C'r it takes out A F'F A' for the rows A of a term. There are
three ways to that covariance. With few classes F itself, (k, n). With many classes, or more
samples than memory, F is never made: the products A V Z are summed over blocks of rows, and L of
Q = LL' comes last. With more coefficients than samples, with X = T_c - diag(mu_c),
J_d = N_d D N_d' and J their sum,

    X (S^-1 + S^-1 J S^-1) X + J_c S^-1 X + X S^-1 J_c + T_c + J_c - diag(mu_c^2),

with sqrt(w) on both sides: n^2 m operations per class and n^3 once, against (K m)^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from immigrate.additive.families import CLASSES, Family
from immigrate.additive.moments import Explained, Matrix, flat_product
from immigrate.additive.ridge import INTERCEPT_PENALTY, MOST_DENSE_LOGITS
from immigrate.additive.rows import Columns, LazyColumns, Rows, block_sum
from immigrate.arrays import Array


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
    family: Family
    root: Array
    logit: int

    def partial(self, A: Array, rows: Rows) -> Array:
        """A V Z, logit by logit: (b, k, n_logits * m)."""
        Z, mu, weight = self.Z[rows], self.mu[rows], self.weight[rows]
        logits = range(mu.shape[1])
        VZ = [self.family.spread(mu, weight, self.logit, d, Z) for d in logits]
        return flat_product(A, np.concatenate(VZ, axis=1))

    def covariance(self, total: Array) -> Array:
        """(A V Z L)(A V Z L)'."""
        moved = flat_product(total, self.root)
        return np.matmul(moved, moved.transpose(0, 2, 1))


@dataclass(frozen=True, eq=False)
class SampleForm:
    """The covariance in the space of samples, for one logit.

    With a = A sqrt(w), and X, J_c and T_c as above,

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
        on_M, on_N = flat_product(total, self.M), flat_product(total, self.N)
        moved = flat_product(on_M, self.N.T) - total * self.mu  # a X
        shared = flat_product(moved, self.root)
        half = np.matmul(on_N * self.penalty, flat_product(moved, self.solved.T).swapaxes(1, 2))
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


def information_matrix(Z: Columns, mu: Array, weight: Array, family: Family = CLASSES) -> Array:
    """Z'WVZ over all logits: (n_logits * m, n_logits * m), one block per pair of logits."""
    return block_sum(Z, lambda rows, own: (family.information(own, mu[rows], weight[rows]),))[0]


def penalised_inverse(information: Array, penalty: Array) -> Array:
    """(Z'VZ + D)^-1 of all logits, as it is; D is the same for each."""
    own = np.maximum(penalty, INTERCEPT_PENALTY)
    full = np.tile(own, len(information) // len(own))
    return np.asarray(np.linalg.inv(information + np.diag(full)), dtype=np.float64)


class NewtonInverse(Protocol):
    """What the refit asks of H."""

    def steps(self, gradient: Array) -> Array:
        """H g for gradients (m, n_logits, d), in the same shape."""
        ...

    def forms(self) -> list[tuple[Explained, float]]:
        """What is explained of each logit, and the sum of F^2 over the sample weights."""
        ...


def newton_inverse(
    Z: Columns, mu: Array, weight: Array, penalty: Array, family: Family = CLASSES
) -> NewtonInverse:
    """H in the smaller space; that of the coefficients where there are two or three classes."""
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    # Rows that are made in blocks cannot be in the space of samples, which needs all at once.
    is_few = mu.shape[1] <= MOST_DENSE_LOGITS or mu.shape[1] * Z.shape[1] <= len(Z)
    if isinstance(Z, LazyColumns) or is_few:
        return CoefficientSpace(Z, mu, weight, penalty, family)
    return SampleSpace(Z, mu, weight, penalty)


@dataclass(frozen=True)
class CoefficientSpace:
    """H as a matrix of (n_logits * m)^2 entries."""

    Z: Columns  # (n, m)
    mu: Array  # (n, n_logits)
    weight: Array  # (n,)
    penalty: Array  # (m,)
    family: Family = CLASSES

    def steps(self, gradient: Array) -> Array:
        """H g for gradients (m, n_logits, d)."""
        m, n_logits, n_sets = gradient.shape
        flat = gradient.transpose(1, 0, 2).reshape(n_logits * m, n_sets)
        return (self._inverse_and_root[0] @ flat).reshape(n_logits, m, n_sets).transpose(1, 0, 2)

    def explained(self, c: int) -> Array:
        """F = L'Z'V for the residuals of logit c, where Q = LL'."""
        m, root = self.Z.shape[1], self._inverse_and_root[1]
        Z = self.Z[:]
        logits, spread = range(self.mu.shape[1]), self.family.spread
        blocks = [spread(self.mu, self.weight, d, c, Z) for d in logits]
        parts = [root[d * m : (d + 1) * m].T @ block.T for d, block in enumerate(blocks)]
        F = np.sum(parts, axis=0)
        if F.shape[0] <= F.shape[1]:
            return F
        # R of F = QR has the same F'F, and no more rows than columns.
        return linalg.qr(F, mode="r", check_finite=False)[0][: F.shape[1]]

    def forms(self) -> list[tuple[Explained, float]]:
        """F of each logit; with many logits, or rows that are not there, a form without F."""
        n_logits = self.mu.shape[1]
        if not isinstance(self.Z, LazyColumns) and n_logits <= MOST_DENSE_LOGITS:
            matrices = [self.explained(c) for c in range(n_logits)]
            return [(Matrix(F), float(np.sum(F**2 / self.weight))) for F in matrices]
        root = self._inverse_and_root[1]
        (sizes,) = block_sum(self.Z, self._explained_sizes)
        return [
            (CoefficientForm(self.Z, self.mu, self.weight, self.family, root, c), float(sizes[c]))
            for c in range(n_logits)
        ]

    def _explained_sizes(self, rows: slice, Z: Array) -> tuple[Array]:
        """Sum of F^2 / w over some rows, for each logit: F' = w V P with P = Z L."""
        mu, n_logits, sizes = self.mu[rows], self.mu.shape[1], np.zeros(self.mu.shape[1])
        # Some columns of L at a time: of all there are n_logits times as many.
        for root in np.array_split(self._inverse_and_root[1], n_logits, axis=1):
            P = np.stack([Z @ own for own in np.split(root, n_logits)], axis=1)
            sizes += self.weight[rows] @ np.sum(self.family.moved(mu, P) ** 2, axis=2)
        return (sizes,)

    @cached_property
    def _inverse_and_root(self) -> tuple[Array, Array]:
        """H and the L of Q = 2H - H Z'VZ H = LL'."""
        information = information_matrix(self.Z, self.mu, self.weight, self.family)
        penalised = information.copy()
        penalised[np.diag_indices_from(penalised)] += np.tile(self.penalty, self.mu.shape[1])
        inverse = linalg.inv(penalised, check_finite=False)
        inverse = (inverse + inverse.T) / 2
        Q = 2 * inverse - inverse @ information @ inverse
        if self.mu.shape[1] > MOST_DENSE_LOGITS:
            # Positive definite, and large: a Cholesky factor takes a tenth of the time.
            return inverse, linalg.cholesky(Q, lower=True, check_finite=False)
        eigenvalues, vectors = linalg.eigh(Q)
        return inverse, vectors * np.sqrt(np.maximum(eigenvalues, 0.0))


@dataclass(frozen=True)
class SampleSpace:
    """H by Woodbury's identity: one block of m^2 per logit, and matrices of n^2 entries."""

    Z: Array  # (n, m)
    mu: Array  # (n, n_logits)
    weight: Array  # (n,)
    penalty: Array  # (m,)

    def steps(self, gradient: Array) -> Array:
        """H g for gradients (m, n_logits, d)."""
        own = np.matmul(self._block_inverses, gradient.transpose(1, 0, 2))  # (n_logits, m, d)
        shared = self._kernel[0] @ sum(self._rows(d) @ step for d, step in enumerate(own))
        moved = [N.T @ shared for N in self._solved_rows]
        return (own + np.array(moved)).transpose(1, 0, 2)

    def forms(self) -> list[tuple[Explained, float]]:
        """A form for each logit; matrices of n^2 entries are shared by all of them."""
        inverse, root = self._kernel
        size = np.sqrt(self.weight)
        forms = [
            SampleForm(size, self.mu[:, c], self._rows(c), N, self.penalty, root, N.T @ inverse)
            for c, N in enumerate(self._solved_rows)
        ]
        return [(form, form.weighted_size()) for form in forms]

    def _rows(self, d: int) -> Array:
        """M_d, (n, m)."""
        return self.Z * (np.sqrt(self.weight) * self.mu[:, d])[:, None]

    @cached_property
    def _block_inverses(self) -> Array:
        """B_d^-1 of every logit, (n_logits, m, m)."""
        blocks = np.array([self.Z.T @ ((self.weight * mu)[:, None] * self.Z) for mu in self.mu.T])
        own = np.arange(len(self.penalty))
        blocks[:, own, own] += self.penalty
        inverses = np.linalg.inv(blocks)
        return np.asarray((inverses + inverses.transpose(0, 2, 1)) / 2)

    @cached_property
    def _solved_rows(self) -> list[Array]:
        """N_d of every logit, each (n, m)."""
        return [self._rows(d) @ inverse for d, inverse in enumerate(self._block_inverses)]

    @cached_property
    def _kernel(self) -> tuple[Array, Array]:
        """S^-1, and the L of S^-1 + S^-1 J S^-1 = LL'."""
        S, J = np.eye(len(self.Z)), np.zeros((len(self.Z), len(self.Z)))
        for d, N in enumerate(self._solved_rows):
            S -= self._rows(d) @ N.T
            J += (N * self.penalty) @ N.T
        inverse = linalg.inv((S + S.T) / 2, check_finite=False)
        inverse = (inverse + inverse.T) / 2
        return inverse, _cholesky_rows(inverse + inverse @ J @ inverse).T


def _cholesky_rows(matrix: Array) -> Array:
    """F with F'F equal to a positive semi-definite matrix, as many rows as its rank."""
    factor, pivots, rank, _ = lapack.dpstrf(matrix, lower=0)
    F = np.empty((rank, len(matrix)))
    # LAPACK counts pivots from 1.
    F[:, pivots - 1] = np.triu(factor)[:rank]
    return F
