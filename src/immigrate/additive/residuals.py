"""Residuals of the additive model, cleared of what a refit would still explain.

A ridge fit leaves part of every main effect in e = Y - mu. One Newton step with a smaller
penalty D takes it out,

    H = (Z'VZ + D)^-1,  A = V Z H Z',  r = (I - A) e,

and gives r a known covariance, (I - A) V (I - A)' = V - V Z Q Z' V with Q = 2H - H Z'VZ H.
With Q = LL' and F = L'Z'V, the covariance of C'r for any columns C is C'VC - (FC)'(FC), which
needs no n x n matrix where there are few classes; `newton` has the case of many.

The variances of a number are not known from its mean. They are taken from the residuals
themselves, sample by sample (White's estimate), so that unequal ones do no harm:

    A = Z H Z',  omega_n = r_n^2 / (1 - 2 A_nn + (AA')_nn),

where the divisor is what is left of equal variances. The covariance (I - A) Omega (I - A)' is
Omega - (F'F) + (G'G) with M = Z' Omega Z, F = M^-1/2 Z' Omega and G = M^1/2 H Z' - F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.additive.families import Family
from immigrate.additive.moments import Contrast, Explained, Matrix
from immigrate.additive.newton import (
    NumberForm,
    information_matrix,
    newton_inverse,
    penalised_inverse,
)
from immigrate.additive.rows import Columns, LazyColumns, mapped, transposed_product
from immigrate.arrays import Array

TINY = np.finfo(np.float64).tiny
# A sample of which less of its own variance is left is fitted by its own columns.
SMALLEST_SHARE_LEFT = 0.05
RANK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Draws:
    """How many label sets to draw from the null model, and from which seed."""

    n: int
    seed: int


def contrasts_of(
    Z: Columns,
    Y: Array,
    mu: Array,
    weight: Array,
    penalty: Array,
    family: Family,
    draws: Draws | None = None,
) -> list[Contrast]:
    """Cleared residuals of the null model: one contrast per logit, with any drawn labels."""
    cleared = estimated_contrasts if family.is_estimated else known_contrasts
    labels = Y[:, :, None]
    if draws is not None:
        # Those that the mean does not tell are needed to draw.
        variance = weight
        if family.is_estimated:
            variance = cleared(Z, labels, mu, weight, penalty, family)[0].variance
        rng = np.random.default_rng(draws.seed)
        drawn = family.drawn(mu, weight, variance, draws.n, rng)
        labels = np.concatenate([labels, drawn], axis=2)
    return cleared(Z, labels, mu, weight, penalty, family)


def known_contrasts(
    Z: Columns, Y: Array, mu: Array, weight: Array, penalty: Array, family: Family
) -> list[Contrast]:
    """One contrast per logit for label sets Y (n, n_logits, d), scaled to their due size."""
    inverse, e = newton_inverse(Z, mu, weight, penalty, family), Y - mu[:, :, None]
    # A e = V Z H Z' e.
    step = inverse.steps(transposed_product(Z, weight[:, None, None] * e))
    moved = (Z @ step.reshape(len(step), -1)).reshape(e.shape)
    forms = inverse.forms()
    r = e - family.moved(mu, moved)
    size = weight @ (r**2 + family.variance_within(Y)).reshape(len(r), -1)
    contrasts = []
    for c, (explained, n_explained) in enumerate(forms):
        variance, fourth_cumulant = family.cumulants(mu, weight, c)
        # The sum of squares to be expected without any fit; `due` is what a refit leaves of it.
        raw = float(np.sum(variance))
        due = max(raw - n_explained, 0.0)
        # Without the scaling an over-fitted null model, whose residuals are too small, costs
        # power.
        scale = np.sqrt(due / np.maximum(size.reshape(r.shape[1:])[c], TINY))
        contrasts.append(
            Contrast(
                residual=weight[:, None] * r[:, c] * scale,
                variance=variance,
                fourth_cumulant=fourth_cumulant,
                share_left=due / raw,
                explained=explained,
                added=Matrix(np.empty((0, len(variance)))),
            )
        )
    return contrasts


def estimated_contrasts(
    Z: Columns, Y: Array, mu: Array, weight: Array, penalty: Array, family: Family
) -> list[Contrast]:
    """The contrast of number sets Y (n, 1, d), the observed ones first.

    The variances are estimated from the residuals.
    """
    information = information_matrix(Z, mu, weight, family)
    H = penalised_inverse(information, penalty)
    e = Y[:, 0] - mu
    r = e - Z @ (H @ transposed_product(Z, weight[:, None] * e))

    def left(rows: slice, own: Array) -> Array:
        """1 - 2 A_nn + (AA')_nn of every sample: what is left of equal variances."""
        ZH = own @ H
        return 1 - 2 * np.sum(ZH * own, axis=1) + np.sum((ZH @ information) * ZH, axis=1)

    omega = r[:, 0] ** 2 / np.maximum(mapped(left, Z), SMALLEST_SHARE_LEFT)
    variance = weight * omega
    size, vectors = np.linalg.eigh(information_matrix(Z, mu, variance, family))
    # Columns that repeat each other leave directions of size 0, which have no inverse root.
    is_real = size > RANK_TOLERANCE * size.max(initial=TINY)
    root, V = np.sqrt(size[is_real]), vectors[:, is_real]
    explained: Explained
    added: Explained
    if isinstance(Z, LazyColumns):
        explained = NumberForm(Z, ((variance, V / root),))
        added = NumberForm(Z, ((weight, H @ (V * root)), (variance, -V / root)))
    else:
        F = (V / root).T @ (Z.T * variance)
        explained, added = Matrix(F), Matrix((V * root).T @ (H @ Z.T) * weight - F)
    return [
        Contrast(
            residual=weight[:, None] * r,
            variance=variance,
            fourth_cumulant=2 * weight * omega**2,
            share_left=float(weight @ r[:, 0] ** 2 / max(variance.sum(), TINY)),
            explained=explained,
            added=added,
            dispersion=max(float(variance.sum() / weight.sum()), TINY),
            is_estimated=True,
        )
    ]
