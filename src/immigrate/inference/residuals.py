"""Residuals of the additive model, cleared of what a refit would still explain.

A ridge fit leaves part of every main effect in e = Y - mu. One Newton step with a smaller
penalty D takes it out,

    H = (Z'VZ + D)^-1,  A = V Z H Z',  r = (I - A) e,

and gives r a known covariance, (I - A) V (I - A)' = V - V Z Q Z' V with Q = 2H - H Z'VZ H.
With Q = LL' and F = L'Z'V, the covariance of C'r for any columns C is C'VC - (FC)'(FC), which
needs no n x n matrix where there are few classes; `newton_inverse` has the case of many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.inference.newton_inverse import NewtonInverse, newton_inverse
from immigrate.inference.ridge import label_covariance
from immigrate.typing import Array


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
        w * V and w * V (1 - 6 V): those of the weighted residuals, were they not cleared.
    share_left : float
        Variance of the cleared residuals as a share of that of the raw ones.
    explained : ndarray of shape (k, n)
        F; the null covariance of U is C V C' - (C F')(C F')', rows of C being columns.
    """

    residual: Array
    variance: Array
    fourth_cumulant: Array
    share_left: float
    explained: Array

    @property
    def n_sets(self) -> int:
        """How many sets of labels there are."""
        return self.residual.shape[1]


@dataclass(frozen=True)
class Refit:
    """The Newton step of the null model as a linear map from e to r, for all logits at once."""

    Z: Array  # (n, m)
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
            self._contrast(c, r[:, c], size[c], inverse.explained(c))
            for c in range(self.mu.shape[1])
        ]

    def _contrast(self, c: int, r: Array, size: Array, explained: Array) -> Contrast:
        """The contrast of logit c from its cleared residuals r (n, d) and their squares."""
        v = label_covariance(self.mu, c, c)
        raw = float(np.sum(self.weight * v))
        due = max(raw - float(np.sum(explained**2 / self.weight)), 0.0)
        # Without the scaling an over-fitted null model, whose residuals are too small, costs
        # power.
        scale = np.sqrt(due / np.maximum(size, np.finfo(float).tiny))
        return Contrast(
            residual=self.weight[:, None] * r * scale,
            variance=self.weight * v,
            fourth_cumulant=self.weight * v * (1 - 6 * v),
            share_left=due / raw,
            explained=explained,
        )

    def _refitted(self, e: Array, inverse: NewtonInverse) -> Array:
        """A e = V Z H Z' e for e (n, n_logits, d)."""
        gradient = np.tensordot(self.Z * self.weight[:, None], e, (0, 0))  # (m, n_logits, d)
        moved = np.tensordot(self.Z, inverse.steps(gradient), (1, 0))
        mu = self.mu[:, :, None]
        return mu * (moved - np.sum(mu * moved, axis=1, keepdims=True))


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
