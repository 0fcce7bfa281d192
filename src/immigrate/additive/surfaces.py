"""The joint effect of two features as a surface: on a grid, or level by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.additive.basis import mid_ranks
from immigrate.additive.effects import Block, EffectModel, Term, pair_block
from immigrate.additive.levels import Levels
from immigrate.arrays import Array, Codes

MOST_SHOWN_AS_LEVELS = 12
"""An ordered feature with more levels is shown on a grid of its quantiles."""

N_GRID = 25


@dataclass(frozen=True)
class Surface:
    """What a pair adds beyond the sum of its main effects.

    Attributes
    ----------
    places : pair of ndarray
        Which levels of either feature are shown.
    value, standard_error : ndarray of shape (n_curves, g, h)
        For one class of two, for each of more classes, or of a number.
    counts : ndarray of shape (g, h)
        Samples nearest to each point, a sample of weight two counting twice.
    """

    places: tuple[Codes, Codes]
    value: Array
    standard_error: Array
    counts: Array


def surface(model: EffectModel, term: Term) -> Surface:
    """The surface of a pair that is in the model."""
    block, design = model.block(term), model.design
    levels = [design.levels[a] for a in term]
    places = [shown_levels(one) for one in levels]
    # A sample that has the level stands for it; the two samples of a point are combined.
    rows = [first_sample(one)[place] for one, place in zip(levels, places)]
    cleared = _cleared_columns(model, block, rows)  # (g * h, k)
    contrast = design.outcome.contrast
    value = contrast @ (cleared @ block.coefficients).T
    covariance = _logit_covariance(cleared, block)  # (K, K, g * h)
    variance = np.einsum("cd,ce,deg->cg", contrast, contrast, covariance)
    shape = (len(value), len(rows[0]), len(rows[1]))
    nearest = [_nearest(one, place) for one, place in zip(levels, places)]
    counts = np.zeros(shape[1:])
    is_known = (nearest[0] >= 0) & (nearest[1] >= 0)
    np.add.at(counts, (nearest[0][is_known], nearest[1][is_known]), design.weight[is_known])
    unit = design.outcome.unit
    return Surface(
        (places[0], places[1]),
        unit * value.reshape(shape),
        unit * np.sqrt(np.maximum(variance, 0.0)).reshape(shape),
        counts,
    )


def shown_levels(levels: Levels) -> Codes:
    """All levels of a feature that has few or nominal ones, else those at even ranks."""
    if levels.is_nominal or levels.n_levels <= MOST_SHOWN_AS_LEVELS:
        return np.arange(levels.n_levels)
    ranks = np.linspace(0.02, 0.98, N_GRID)
    last = levels.n_levels - 1
    places = np.unique(np.searchsorted(mid_ranks(levels.share), ranks).clip(0, last))
    # Where nearly all samples have the highest value, all ranks are in it.
    return places if len(places) > 1 else np.array([0, last])


def first_sample(levels: Levels) -> Codes:
    """The first sample of each level."""
    is_known = np.flatnonzero(levels.code >= 0)
    first = np.empty(levels.n_levels, dtype=np.intp)
    # Written backwards, so that the first sample of each level is the one that stays.
    first[levels.code[is_known][::-1]] = is_known[::-1]
    return first


def _cleared_columns(model: EffectModel, block: Block, rows: list[Codes]) -> Array:
    """Columns of the pair at all points, less what main effects explain of them."""
    design, (a, b) = model.design, block.features
    i, j = (grid.ravel() for grid in np.meshgrid(*rows, indexing="ij"))
    sides = ((a, i), (b, j))
    phi_a, phi_b = (design.phi_of(np.array([f]), at)[0] for f, at in sides)
    single_a, single_b = (design.single_of(np.array([f]), at)[0] for f, at in sides)
    products = (phi_a[:, None] * phi_b[None]).reshape(-1, len(i))
    columns = np.vstack([products, single_a * single_b])
    # The columns in the model have unit variance.
    own = pair_block(design, block.features)
    columns = columns[own.is_real] / own.root[:, None]
    effects = [design.main_effect(f).of(at) for f, at in sides]
    main_effects = np.vstack([np.ones((1, len(i))), *effects])
    return columns.T - main_effects.T @ block.slope


def _logit_covariance(cleared: Array, block: Block) -> Array:
    """Covariance of the values of each two logits at every point: (K, K, points)."""
    k, n_logits = block.coefficients.shape
    covariance = block.covariance.reshape(n_logits, k, n_logits, k)
    return np.einsum("gk,dkel,gl->deg", cleared, covariance, cleared, optimize=True)


def _nearest(levels: Levels, places: Codes) -> Codes:
    """Which of the places each sample is nearest to by rank; -1 where its value is missing."""
    if len(places) == levels.n_levels:
        return levels.code
    u = mid_ranks(levels.share)
    middle = (u[places][1:] + u[places][:-1]) / 2
    nearest = np.searchsorted(middle, u)
    return np.where(levels.code >= 0, nearest[levels.code], -1)
