"""Residuals of the additive model, cleared of what a refit would still explain.

A ridge fit leaves part of every main effect in e = Y - mu. One Newton step with a smaller
penalty D takes it out,

    H = (Z'VZ + D)^-1,  A = V Z H Z',  r = (I - A) e,

and gives r a known covariance, (I - A) V (I - A)' = V - V Z Q Z' V with Q = 2H - H Z'VZ H.
With Q = LL' and F = L'Z'V, the covariance of C'r for any columns C is C'VC - (FC)'(FC), which
needs no n x n matrix where there are few classes; `newton_inverse` has the case of many.

The variances of a number are not known from its mean. They are taken from the residuals
themselves, sample by sample (White's estimate), so that unequal ones do no harm:

    A = Z H Z',  omega_n = r_n^2 / (1 - 2 A_nn + (AA')_nn),

where the divisor is what is left of equal variances. The covariance (I - A) Omega (I - A)' is
Omega - (F'F) + (G'G) with M = Z' Omega Z, F = M^-1/2 Z' Omega and G = M^1/2 H Z' - F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.arrays import Array
from immigrate.inference.explained import Explained, NumberForm
from immigrate.inference.links import IDENTITY, LOGIT, Link
from immigrate.inference.newton_inverse import NewtonInverse, newton_inverse
from immigrate.inference.ridge import INTERCEPT_PENALTY, information_matrix
from immigrate.inference.rows import (
    Columns,
    LazyColumns,
    mapped,
    product,
    transposed_product,
)

TINY = np.finfo(np.float64).tiny
# A sample of which less of its own variance is left is fitted by its own columns.
SMALLEST_SHARE_LEFT = 0.05
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Draws:
    """How many label sets to draw from the null model, and from which seed."""

    n: int
    seed: int


@dataclass(frozen=True)
class Contrast:
    """Residuals of one logit, ready for any set of product columns.

    Attributes
    ----------
    residual : ndarray of shape (n, d)
        w * r for each of d sets of labels, the observed ones first: U = C @ residual.
    variance, fourth_cumulant : ndarray of shape (n,)
        w * V and w * V (1 - 6 V): those of the weighted residuals, were they not cleared. Of
        numbers w * omega and 2 w * omega^2, which says how few samples decide.
    share_left : float
        Variance of the cleared residuals as a share of that of the raw ones.
    explained : ndarray of shape (k, n), or Explained
        F, or what stands for it; the null covariance of U is C V C' - (C F')(C F')', rows of C
        being columns.
    added : ndarray of shape (k, n), or Explained
        G, whose square comes back where variances are unequal; no rows for classes.
    dispersion : float
        Variance of a residual over the weight that its sample has in a fit: 1 for classes, the
        mean of omega for numbers.
    is_estimated : bool
        Whether variances are estimated from the residuals, sample by sample.
    """

    residual: Array
    variance: Array
    fourth_cumulant: Array
    share_left: float
    explained: Array | Explained
    added: Array | Explained
    dispersion: float = 1.0
    is_estimated: bool = False

    @property
    def n_sets(self) -> int:
        """How many sets of labels there are."""
        return self.residual.shape[1]

    @property
    def curvature(self) -> float:
        """Sum of the weights that the samples have in a fit: of wV, or of w for numbers."""
        return float(self.variance.sum()) / self.dispersion


def refit(Z: Columns, mu: Array, weight: Array, penalty: Array, link: Link = LOGIT) -> Refit:
    """The Newton step of a null model: of classes, or of a number."""
    return (NumberRefit if link is IDENTITY else Refit)(Z, mu, weight, penalty)


@dataclass(frozen=True)
class Refit:
    """The Newton step of the null model as a linear map from e to r, for all logits at once."""

    Z: Columns  # (n, m)
    mu: Array  # (n, n_logits)
    weight: Array  # (n,)
    penalty: Array  # (m,), D

    def contrasts(self, Y: Array) -> list[Contrast]:
        """One contrast per logit for label sets Y (n, n_logits, d), scaled to their due size."""
        inverse = newton_inverse(self.Z, self.mu, self.weight, self.penalty)
        e = Y - self.mu[:, :, None]
        r = e - self._refitted(e, inverse)
        # Labels that are means over the copies of a sample vary within it.
        size = self.weight @ (r**2 + Y * (1 - Y)).reshape(len(r), -1)
        size = size.reshape(r.shape[1:])
        return [
            self._contrast(c, r[:, c], size[c], explained)
            for c, explained in enumerate(inverse.forms())
        ]

    def drawn(self, labels: Array, draws: Draws) -> Array:
        """Label sets from the null model: (n, n_logits, n_draws)."""
        return drawn_labels(self.mu, self.weight, draws.n, np.random.default_rng(draws.seed))

    def _contrast(
        self, c: int, r: Array, size: Array, explained: tuple[Array | Explained, float]
    ) -> Contrast:
        """The contrast of logit c from its cleared residuals r (n, d) and their squares."""
        v = LOGIT.covariance(self.mu, c, c)
        # The sum of squares to be expected without any fit; `due` is what a refit leaves of it.
        raw = float(np.sum(self.weight * v))
        due = max(raw - explained[1], 0.0)
        # Without the scaling an over-fitted null model, whose residuals are too small, costs
        # power.
        scale = np.sqrt(due / np.maximum(size, np.finfo(float).tiny))
        return Contrast(
            residual=self.weight[:, None] * r * scale,
            variance=self.weight * v,
            fourth_cumulant=self.weight * v * (1 - 6 * v),
            share_left=due / raw,
            explained=explained[0],
            added=np.empty((0, len(v))),
        )

    def _refitted(self, e: Array, inverse: NewtonInverse) -> Array:
        """A e = V Z H Z' e for e (n, n_logits, d)."""
        if isinstance(self.Z, LazyColumns):
            gradient = transposed_product(self.Z, self.weight[:, None, None] * e)
            step = inverse.steps(gradient)
            moved = product(self.Z, step.reshape(len(step), -1)).reshape(e.shape)
        else:
            gradient = np.tensordot(self.Z * self.weight[:, None], e, (0, 0))  # (m, n_logits, d)
            moved = np.tensordot(self.Z, inverse.steps(gradient), (1, 0))
        mu = self.mu[:, :, None]
        return mu * (moved - np.sum(mu * moved, axis=1, keepdims=True))


@dataclass(frozen=True)
class NumberRefit(Refit):
    """The same for a number, whose variances are estimated from its residuals."""

    def contrasts(self, Y: Array) -> list[Contrast]:
        """The contrast of number sets Y (n, 1, d), the observed ones first."""
        H, information = self._inverse_and_information()
        e = Y[:, 0] - self.mu
        r = e - product(self.Z, H @ transposed_product(self.Z, self.weight[:, None] * e))
        left = _variance_left(self.Z, H, information)
        omega = r[:, 0] ** 2 / np.maximum(left, SMALLEST_SHARE_LEFT)
        variance = self.weight * omega
        explained, added = self._corrections(H, variance)
        return [
            Contrast(
                residual=self.weight[:, None] * r,
                variance=variance,
                fourth_cumulant=2 * self.weight * omega**2,
                share_left=float(self.weight @ r[:, 0] ** 2 / max(variance.sum(), TINY)),
                explained=explained,
                added=added,
                dispersion=max(float(variance.sum() / self.weight.sum()), TINY),
                is_estimated=True,
            )
        ]

    def drawn(self, labels: Array, draws: Draws) -> Array:
        """The means plus residuals of random sign, each sample keeping its own variance."""
        contrast = self.contrasts(labels)[0]
        size = np.sqrt(contrast.variance / self.weight)
        rng = np.random.default_rng(draws.seed)
        # Signs alone are drawn: sizes stay with their samples, and so do unequal variances.
        sign = rng.choice([-1.0, 1.0], (len(size), draws.n))
        return (self.mu + size[:, None] * sign)[:, None, :]

    def _inverse_and_information(self) -> tuple[Array, Array]:
        """H, and Z'WZ without the penalty."""
        penalty = np.maximum(self.penalty, INTERCEPT_PENALTY)
        information = information_matrix(self.Z, self.mu, self.weight, IDENTITY)
        return np.linalg.inv(information + np.diag(penalty)), information

    def _corrections(self, H: Array, variance: Array) -> tuple[Array | Explained, ...]:
        """F and G."""
        Z = self.Z
        M = information_matrix(Z, self.mu, variance, IDENTITY)
        size, vectors = np.linalg.eigh(M)
        # Columns that repeat each other leave directions of size 0, which have no inverse root.
        is_real = size > RANK_TOLERANCE * size.max(initial=TINY)
        root, V = np.sqrt(size[is_real]), vectors[:, is_real]
        if isinstance(Z, LazyColumns):
            F = NumberForm(Z, ((variance, V / root),))
            return F, NumberForm(Z, ((self.weight, H @ (V * root)), (variance, -V / root)))
        F = (V / root).T @ (Z.T * variance)
        return F, (V * root).T @ (H @ Z.T) * self.weight - F


def _variance_left(Z: Columns, H: Array, information: Array) -> Array:
    """1 - 2 A_nn + (AA')_nn of every sample: what is left of equal variances."""

    def left(rows: slice, own: Array) -> Array:
        ZH = own @ H
        return 1 - 2 * np.sum(ZH * own, axis=1) + np.sum((ZH @ information) * ZH, axis=1)

    return mapped(left, Z)


def drawn_labels(mu: Array, weight: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """Label sets from the null model: (n, n_logits, n_draws).

    A sample of weight w is w copies, each with its own label; their mean is returned. Where w
    is no whole number the deviation of the mean is scaled to the variance V / w.
    """
    n_copies = np.maximum(np.round(weight), 1).astype(int)
    if mu.shape[1] == 1:
        counts = rng.binomial(n_copies, mu[:, 0], (n_draws, len(mu)))[..., None]
    else:
        counts = rng.multinomial(n_copies, mu / mu.sum(axis=1, keepdims=True), (n_draws, len(mu)))
    deviation = counts.transpose(1, 2, 0) / n_copies[:, None, None] - mu[:, :, None]
    return mu[:, :, None] + deviation * np.sqrt(n_copies / weight)[:, None, None]
