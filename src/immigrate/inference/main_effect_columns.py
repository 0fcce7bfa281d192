"""Columns of one feature in the additive model: how closely its main effect is followed.

A smooth basis for every feature, and a rough one for those whose effect is shown to need it.
A missing value is 0 in every column, the mean of a centred column, and an indicator lets
missingness have its own effect.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from immigrate.arrays import Array, Codes
from immigrate.inference.levels import (
    MOST_TABLED,
    Formula,
    LevelColumns,
    Levels,
    centred_columns,
    cosines,
    mid_ranks,
    recurred_cosines,
)
from immigrate.inference.rows import Rows

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
    # 4 up to 800 samples, then growing with the root of their number.
    n_cosines = int(np.clip(np.ceil(4 * (n / 800) ** 0.5), FEWEST_COSINES, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_LEVEL, MOST_LEVELS)))


def rough_basis(n: float) -> Basis:
    """For features whose effect the smooth basis cannot follow."""
    affordable = min(n // FEWEST_SAMPLES_PER_COSINE, FEWEST_ROUGH_COSINES)
    fewest = max(affordable, smooth_basis(n).n_cosines)
    n_cosines = int(np.clip(n // SAMPLES_PER_ROUGH_COSINE, fewest, MOST_COSINES))
    return Basis(n_cosines, most_levels=int(min(n // SAMPLES_PER_ROUGH_LEVEL, MOST_ROUGH_LEVELS)))


@dataclass(frozen=True, eq=False)
class MainEffect:
    """The columns of one feature in Z, for as many samples as are asked for.

    Attributes
    ----------
    code : ndarray of shape (n,)
    columns : LevelColumns or None
        None for a feature that does not vary.
    penalty : ndarray of shape (k,)
    missing : float or None
        Share of the weight whose value is missing, where there is a column that says so.
    """

    code: Codes
    columns: LevelColumns | None
    penalty: Array
    missing: float | None

    def of(self, rows: Rows) -> Array:
        """Their values, (k, n_rows)."""
        code = self.code[rows]
        values = np.zeros((0, len(code))) if self.columns is None else self.columns.of(code)
        if self.missing is None:
            return values
        return np.vstack([values, (code < 0) - self.missing])


def main_effect(levels: Levels, weight: Array, basis: Basis) -> MainEffect:
    """Columns of one feature in Z: dummies for few levels, else value and cosines; centred."""
    columns, penalty = None, np.zeros(0)
    if levels.n_levels >= 2:
        if _has_dummies(levels, basis):
            table = _dummies(levels)
            columns = centred_columns(table.__getitem__, levels.share)
            penalty = np.ones(table.shape[1])
        else:
            columns = centred_columns(_smooth_formula(levels, basis), levels.share)
            penalty = basis.penalty
    is_missing = levels.code < 0
    # An indicator that is the same for all samples would be the intercept again.
    if not is_missing.any() or is_missing.all():
        return MainEffect(levels.code, columns, penalty, None)
    missing = float(np.average(is_missing, weights=weight))
    return MainEffect(levels.code, columns, np.append(penalty, 1.0), missing)


def additive_columns(levels: Levels, weight: Array, basis: Basis) -> AdditiveColumns:
    """Columns of one feature in Z, all samples at once."""
    effect = main_effect(levels, weight, basis)
    return AdditiveColumns(effect.of(slice(None)), effect.penalty)


def n_additive_columns(levels: Levels, basis: Basis) -> int:
    """How many columns `additive_columns` has."""
    n_indicators = int(np.any(levels.code < 0) and np.any(levels.code >= 0))
    if levels.n_levels < 2:
        return n_indicators
    if _has_dummies(levels, basis):
        return min(levels.n_levels, MOST_NOMINAL_DUMMIES) + n_indicators
    return basis.n_columns + n_indicators


def has_same_columns(levels: Levels, one: Basis, other: Basis) -> bool:
    """Whether a feature has the same columns with either basis."""
    dummies = [_has_dummies(levels, basis) for basis in (one, other)]
    return all(dummies) or (not any(dummies) and one.n_cosines == other.n_cosines)


def _has_dummies(levels: Levels, basis: Basis) -> bool:
    """Nominal levels, and ordered ones where each can have a column of its own."""
    return levels.is_nominal or levels.n_levels <= max(basis.most_levels, basis.n_columns)


def _dummies(levels: Levels) -> Array:
    """One column per level, the rarest sharing one where there are very many."""
    n_columns = min(levels.n_levels, MOST_NOMINAL_DUMMIES)
    return np.eye(n_columns)[np.minimum(np.arange(levels.n_levels), n_columns - 1)]


def _smooth_formula(levels: Levels, basis: Basis) -> Formula:
    """The standardised value, clipped, cosines of its mid-rank and a square."""
    # Squares of huge or tiny values would leave the range of floats.
    value = levels.value / np.abs(levels.value).max()
    value = value - levels.share @ value
    deviation = np.sqrt(levels.share @ value**2)
    u = mid_ranks(levels.share)
    waves = cosines if levels.n_levels <= MOST_TABLED else recurred_cosines

    def columns(places: Codes | slice) -> Array:
        z, own = np.clip(value[places] / deviation, -LARGEST_Z, LARGEST_Z), u[places]
        return np.column_stack([z, waves(own, basis.n_cosines), special.ndtri(own) ** 2])

    return columns
