"""H = (Z'VZ + D)^-1 of all logits at once, in the smaller of two spaces.

With m columns and K logits H has K m rows. Two or three classes: H itself, as a matrix. Many
classes soon have more coefficients than there are samples, and then n x n matrices do. Write

    B_d = Z' diag(w mu_d) Z + D,  M_d = diag(sqrt(w) mu_d) Z,  N_d = M_d B_d^-1,  T_d = M_d N_d'.

Since V_cd = mu_c [c = d] - mu_c mu_d, the information is block-diagonal less one product of n
rows, B - M'M, and Woodbury's identity gives

    H = B^-1 + B^-1 M' S^-1 M B^-1,  S = I - T,  T = sum_d T_d.

What the refit explains of the residuals of logit c, R_c Q R_c' with R_c the rows of VZ and
Q = H + H D H, then needs nothing larger than n x n either. With X = T_c - diag(mu_c),
J_d = N_d D N_d' and J their sum,

    X (S^-1 + S^-1 J S^-1) X + J_c S^-1 X + X S^-1 J_c + T_c + J_c - diag(mu_c^2),

with sqrt(w) on both sides. Cost: n^2 m operations per class and n^3 once, against (K m)^3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from immigrate.arrays import Array
from immigrate.inference.explained import CoefficientForm, Explained, SampleForm
from immigrate.inference.links import LOGIT, Link
from immigrate.inference.ridge import INTERCEPT_PENALTY, MOST_DENSE_LOGITS, information_matrix
from immigrate.inference.rows import Columns, LazyColumns, block_sum


class NewtonInverse(Protocol):
    """What the refit asks of H."""

    def steps(self, gradient: Array) -> Array:
        """H g for gradients (m, n_logits, d), in the same shape."""
        ...

    def explained(self, c: int) -> Array:
        """F with F'F = R_c Q R_c', the covariance that the refit explains: (k, n)."""
        ...

    def forms(self) -> list[tuple[Array | Explained, float]]:
        """For each logit F, or what stands for it, and the sum of F^2 over the sample weights."""
        ...


def newton_inverse(
    Z: Columns, mu: Array, weight: Array, penalty: Array, link: Link = LOGIT
) -> NewtonInverse:
    """H in the smaller space; that of the coefficients where there are two or three classes."""
    penalty = np.maximum(penalty, INTERCEPT_PENALTY)
    # Rows that are made in blocks cannot be in the space of samples, which needs all at once.
    is_few = mu.shape[1] <= MOST_DENSE_LOGITS or mu.shape[1] * Z.shape[1] <= len(Z)
    if isinstance(Z, LazyColumns) or is_few:
        return CoefficientSpace(Z, mu, weight, penalty, link)
    return SampleSpace(Z, mu, weight, penalty)


@dataclass(frozen=True)
class CoefficientSpace:
    """H as a matrix of (n_logits * m)^2 entries."""

    Z: Columns  # (n, m)
    mu: Array  # (n, n_logits)
    weight: Array  # (n,)
    penalty: Array  # (m,)
    link: Link = LOGIT

    def steps(self, gradient: Array) -> Array:
        """H g for gradients (m, n_logits, d)."""
        m, n_logits, n_sets = gradient.shape
        flat = gradient.transpose(1, 0, 2).reshape(n_logits * m, n_sets)
        return (self._inverse_and_root[0] @ flat).reshape(n_logits, m, n_sets).transpose(1, 0, 2)

    def explained(self, c: int) -> Array:
        """F = L'Z'V for the residuals of logit c, where Q = LL'."""
        m, root = self.Z.shape[1], self._inverse_and_root[1]
        Z = self.Z[:]
        blocks = [
            Z * (self.weight * self.link.covariance(self.mu, d, c))[:, None]
            for d in range(self.mu.shape[1])
        ]
        parts = [root[d * m : (d + 1) * m].T @ block.T for d, block in enumerate(blocks)]
        return _low_rank(np.sum(parts, axis=0))

    def forms(self) -> list[tuple[Array | Explained, float]]:
        """F of each logit; with many logits, or rows that are not there, a form without F."""
        n_logits = self.mu.shape[1]
        if not isinstance(self.Z, LazyColumns) and n_logits <= MOST_DENSE_LOGITS:
            matrices = [self.explained(c) for c in range(n_logits)]
            return [(F, float(np.sum(F**2 / self.weight))) for F in matrices]
        root = self._inverse_and_root[1]
        (sizes,) = block_sum(self.Z, self._explained_sizes)
        return [
            (CoefficientForm(self.Z, self.mu, self.weight, self.link, root, c), float(sizes[c]))
            for c in range(n_logits)
        ]

    def _explained_sizes(self, rows: slice, Z: Array) -> tuple[Array]:
        """Sum of F^2 / w over some rows, for each logit.

        F_c' = w mu_c (P_c - sum_d mu_d P_d) with P_d = Z L_d; for one logit or a number w V P.
        """
        mu, weight = self.mu[rows], self.weight[rows]
        roots = np.split(self._inverse_and_root[1], mu.shape[1])
        if len(roots) == 1:
            v = self.link.covariance(mu, 0, 0)
            return (np.array([(weight * v**2) @ np.sum((Z @ roots[0]) ** 2, axis=1)]),)
        mean = np.zeros((len(Z), roots[0].shape[1]))
        for d, root in enumerate(roots):
            mean += (Z * mu[:, d : d + 1]) @ root
        sums = [np.sum((Z @ root - mean) ** 2, axis=1) for root in roots]
        return (np.array([(weight * own**2) @ one for own, one in zip(mu.T, sums)]),)

    @cached_property
    def _inverse_and_root(self) -> tuple[Array, Array]:
        """H and the L of Q = 2H - H Z'VZ H = LL'."""
        information = information_matrix(self.Z, self.mu, self.weight, self.link)
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

    def explained(self, c: int) -> Array:
        """F with F'F = R_c Q R_c', by a Cholesky factorisation that stops at the rank."""
        inverse, root = self._kernel
        M, N, mu = self._rows(c), self._solved_rows[c], self.mu[:, c]
        moved_root = M @ (N.T @ root) - mu[:, None] * root  # X L
        moved_inverse = (inverse @ M) @ N.T - inverse * mu  # S^-1 X
        half = (N * self.penalty) @ (N.T @ moved_inverse)  # J_c S^-1 X
        own = M @ N.T + (N * self.penalty) @ N.T
        total = moved_root @ moved_root.T + half + half.T + own
        total[np.diag_indices_from(total)] -= mu**2
        size = np.sqrt(self.weight)
        return _cholesky_rows(size[:, None] * total * size)

    def forms(self) -> list[tuple[Array | Explained, float]]:
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


def _low_rank(F: Array) -> Array:
    """A matrix with the same F'F and no more rows than columns."""
    if F.shape[0] <= F.shape[1]:
        return F
    return linalg.qr(F, mode="r", check_finite=False)[0][: F.shape[1]]
