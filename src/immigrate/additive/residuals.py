"""Residuals of the additive model, cleared of what a refit would still explain.

A ridge fit leaves part of every main effect in e = Y - mu. One Newton step with a smaller
penalty D takes it out,

    H = (Z'VZ + D)^-1,  A = V Z H Z',  r = (I - A) e,

and gives r a known covariance, (I - A) V (I - A)' = V - V Z Q Z' V with Q = 2H - H Z'VZ H.
With Q = LL' and F = L'Z'V, the covariance of C'r for any columns C is C'VC - (FC)'(FC), which
needs no n x n matrix where there are few classes; `newton` has the case of many.

The variances of a number are not known from its mean; `estimated` has the evidence that takes them
from the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from immigrate.additive.cleared import EstimatedContrast
from immigrate.additive.estimated import SMALLEST_SHARE_LEFT
from immigrate.additive.families import Family
from immigrate.additive.moments import Contrast, KnownContrast
from immigrate.additive.newton import information_matrix, newton_inverse, penalised_inverse
from immigrate.additive.rows import Columns, mapped, transposed_product
from immigrate.arrays import Array

TINY = np.finfo(np.float64).tiny
# Of what their sum of squares should be over what it is. A model that over-fits comes to 2 or 3;
# where features, or a pair that was found, separate the classes, thousands are reached, and what
# is left is what a ridge left.
LARGEST_SCALE = 10.0


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
) -> Sequence[Contrast]:
    """Cleared residuals of the null model: one contrast per logit, with any drawn labels."""
    labels, variance = Y[:, :, None], weight
    if draws is not None:
        if family.is_estimated:
            # Those that the mean does not tell are needed to draw.
            variance = estimated_contrast(Z, labels, mu, weight, penalty, family).variance
        rng = np.random.default_rng(draws.seed)
        drawn = family.drawn(mu, weight, variance, draws.n, rng)
        labels = np.concatenate([labels, drawn], axis=2)
    if family.is_estimated:
        return [estimated_contrast(Z, labels, mu, weight, penalty, family)]
    return known_contrasts(Z, labels, mu, weight, penalty, family)


def known_contrasts(
    Z: Columns, Y: Array, mu: Array, weight: Array, penalty: Array, family: Family
) -> list[KnownContrast]:
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
            KnownContrast(
                residual=weight[:, None] * r[:, c] * scale,
                variance=variance,
                fourth_cumulant=fourth_cumulant,
                is_noise=bool(scale[0] ** 2 <= LARGEST_SCALE),
                share_left=due / raw,
                dispersion=1.0,
                explained=explained,
            )
        )
    return contrasts


def estimated_contrast(
    Z: Columns, Y: Array, mu: Array, weight: Array, penalty: Array, family: Family
) -> EstimatedContrast:
    """The contrast of number sets Y (n, 1, d), the observed ones first."""
    information = information_matrix(Z, mu, weight, family)
    H = penalised_inverse(information, penalty)
    e = Y[:, 0] - mu
    r = e - Z @ (H @ transposed_product(Z, weight[:, None] * e))

    left, square = shares_left(Z, H, information), r[:, 0] ** 2
    mean = float(weight @ square / max(float(weight @ left), TINY))
    is_own = left >= SMALLEST_SHARE_LEFT
    variance = weight * np.where(is_own, square / np.where(is_own, left, 1.0), mean)
    return EstimatedContrast(
        residual=weight[:, None] * r,
        variance=variance,
        share_left=float(weight @ square / max(variance.sum(), TINY)),
        dispersion=max(float(variance.sum() / weight.sum()), TINY),
        Z=Z,
        weight=weight,
        left=left,
        information=information,
        inverse=H,
    )


def shares_left(Z: Columns, H: Array, information: Array) -> Array:
    """The diagonal of RR', 1 - 2 A_nn + (AA')_nn: what is left of equal variances."""

    def on(rows: slice, own: Array) -> Array:
        ZH = own @ H
        return 1 - 2 * np.sum(ZH * own, axis=1) + np.sum((ZH @ information) * ZH, axis=1)

    return mapped(on, Z)
