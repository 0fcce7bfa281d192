"""Columns of one feature in the additive model: how closely its main effect is followed.

A smooth basis for every feature, and a rough one for those whose effect is shown to need it.
A missing value is 0 in every column, the mean of a centred column, and an indicator lets
missingness have its own effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from immigrate.inference.levels import Levels, centred, cosines, mid_ranks
from immigrate.typing import Array

MOST_NOMINAL_DUMMIES = 100
# Beyond this a value of the standardised feature says no more than that it is far out.
LARGEST_Z = 4.0
SQUARE_PENALTY = 4.0
# The smooth basis: how many cosines, and how many well-filled levels have dummies instead.
FEWEST_COSINES, MOST_COSINES = 4, 12
SAMPLES_PER_LEVEL, MOST_LEVELS = 40, 12
# The rough basis: one cosine per 50 samples, 8 at least where there are 20 for each.
SAMPLES_PER_ROUGH_COSINE, FEWEST_ROUGH_COSINES, FEWEST_SAMPLES_PER_COSINE = 50, 8, 20
SAMPLES_PER_ROUGH_LEVEL, MOST_ROUGH_LEVELS = 15, 30
MOST_ORDERED_COLUMNS = MOST_ROUGH_LEVELS + 1
"""Columns of an ordered feature in the additive model, at most; one says that it is missing."""


@dataclass(frozen=True)
class Basis:
    """How closely the main effect of an ordered feature is followed.

    Attributes
    ----------
    n_cosines : int
        Cosines of the mid-rank, beside the value itself and a square for the tails, where
        cosines of ranks are flat.
    most_levels : int
        With at most this many levels, or no more than there would be columns, each has a
        column of its own instead.
    """

    n_cosines: int
    most_levels: int

    @property
    def n_columns(self) -> int:
        """The value, the cosines and the square."""
        return 2 + self.n_cosines

    @property
    def penalty(self) -> Array:
        """Relative ridge penalty of each column."""
        return np.concatenate([[1.0], np.arange(1.0, self.n_cosines + 1) ** 2, [SQUARE_PENALTY]])


@dataclass(frozen=True)
class AdditiveColumns:
    """Columns of one feature in the additive model, each with its ridge penalty."""

    values: Array  # (k, n)
    penalty: Array  # (k,)


def smooth_basis(n: float) -> Basis:
    """For every feature: four cosines, and more once n can pay for them."""
    n_cosines = int(np.clip(np.ceil(4 * (n / 800) ** 0.5), FEWEST_COSINES, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_LEVEL, MOST_LEVELS)))


def rough_basis(n: float) -> Basis:
    """For features whose effect the smooth basis cannot follow."""
    affordable = min(n // FEWEST_SAMPLES_PER_COSINE, FEWEST_ROUGH_COSINES)
    fewest = max(affordable, smooth_basis(n).n_cosines)
    n_cosines = int(np.clip(n // SAMPLES_PER_ROUGH_COSINE, fewest, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_ROUGH_LEVEL, MOST_ROUGH_LEVELS)))


def additive_columns(levels: Levels, weight: Array, basis: Basis) -> AdditiveColumns:
    """Columns of one feature in Z: dummies for few levels, else value and cosines; centred."""
    if levels.n_levels < 2:
        values, penalty = np.zeros((0, len(weight))), np.zeros(0)
    else:
        if _has_dummies(levels, basis):
            per_level = _dummies(levels)
            penalty = np.ones(per_level.shape[1])
        else:
            per_level, penalty = _smooth_columns(levels, basis), basis.penalty
        values = levels.per_sample(centred(per_level, levels.share))
    is_missing = levels.code < 0
    if is_missing.any() and not is_missing.all():
        indicator = is_missing - np.average(is_missing, weights=weight)
        values, penalty = np.vstack([values, indicator]), np.append(penalty, 1.0)
    return AdditiveColumns(values, penalty)


def n_additive_columns(levels: Levels, basis: Basis) -> int:
    """How many columns `additive_columns` has."""
    n_indicators = int(np.any(levels.code < 0) and np.any(levels.code >= 0))
    if levels.n_levels < 2:
        return n_indicators
    if _has_dummies(levels, basis):
        return min(levels.n_levels, MOST_NOMINAL_DUMMIES) + n_indicators
    return basis.n_columns + n_indicators


def _has_dummies(levels: Levels, basis: Basis) -> bool:
    """Nominal levels, and ordered ones where each can have a column of its own."""
    return levels.is_nominal or levels.n_levels <= max(basis.most_levels, basis.n_columns)


def _dummies(levels: Levels) -> Array:
    """One column per level, the rarest sharing one where there are very many."""
    n_columns = min(levels.n_levels, MOST_NOMINAL_DUMMIES)
    return np.eye(n_columns)[np.minimum(np.arange(levels.n_levels), n_columns - 1)]


def _smooth_columns(levels: Levels, basis: Basis) -> Array:
    """The standardised value, clipped, cosines of its mid-rank and a square."""
    value = levels.value / np.abs(levels.value).max()
    centred = value - levels.share @ value
    z = np.clip(centred / np.sqrt(levels.share @ centred**2), -LARGEST_Z, LARGEST_Z)
    u = mid_ranks(levels.share)
    return np.column_stack([z, cosines(u, basis.n_cosines), special.ndtri(u) ** 2])
