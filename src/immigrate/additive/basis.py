"""The functions of one feature: of its levels, as many as its kind and their number allow.

Everything is built from mid-ranks u = (weight below + half the own weight) / total, so that a
sample of weight two counts as two samples. Each feature has functions for two uses:

    products     phi_k / k, what the columns of a term are products of: cosines of the mid-rank,
                 contrasts of a few levels or of the most common nominal ones; beside cosines the
                 normal score and the side of the median, which have forms of their own;
    main effect  its columns in the additive model: a smooth basis for every feature, and a rough
                 one for those whose effect is shown to need it.

Values on a circle, such as hours, have waves that meet where it closes. Cosine and sine of a
harmonic have the same size and the same penalty, so that it does not matter where it begins.

A missing value is 0 in every function and column, the mean of a centred column, so that what is
not known adds nothing to any product; an indicator lets missingness have its own effect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import special

from immigrate.additive.levels import Levels
from immigrate.additive.rows import Rows
from immigrate.arrays import Array, Codes, Mask

# With more levels, functions of them are computed where they are needed instead of kept.
MOST_TABLED = 2**16

N_FUNCTIONS = 4
"""Functions phi of an ordered feature; their products span a pair with 16 columns."""

N_SMOOTH = 2
"""Those of them that the score form uses."""

# The normal score, and the side of the median.
N_SINGLE = 2
"""Functions with a form of their own."""

MOST_LEVELS_AS_EIGENVECTORS = 6
# Products of a nominal feature tell its most common levels apart, and the rest as one; the
# additive model knows more levels than that, so that no main effect is left in a product.
MOST_NOMINAL_GROUPS = 10
# A level with fewer samples belongs to the rest: what a product says about it would rest on a
# handful of labels. The most common level is told from the rest whatever its size, unless it has
# next to none: a feature with nearly as many levels as samples has no products at all.
FEWEST_SAMPLES_PER_GROUP, FEWEST_OF_ALL = 6, 3

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

Formula = Callable[[Codes | slice], Array]


@dataclass(frozen=True, eq=False)
class LevelColumns:
    """Columns as functions of the level, centred over the samples.

    Attributes
    ----------
    formula : callable
        From places of levels to columns (l, k), not yet centred.
    n_levels : int
    shift, size, order : ndarray of shape (k,), or float
        The column is (formula - shift) / size / order.
    """

    formula: Formula
    n_levels: int
    shift: Array | float = 0.0
    size: Array | float = 1.0
    order: Array | float = 1.0

    def at(self, places: Codes | slice) -> Array:
        """Values at some of the levels: (l, k)."""
        values = self.formula(places) - self.shift
        for divisor in (self.size, self.order):
            if not isinstance(divisor, float):
                values /= divisor
        return values

    def of(self, code: Codes) -> Array:
        """Values of samples with these levels (k, n_rows); a missing one, -1, has 0."""
        if self.n_levels <= MOST_TABLED:
            return self._padded[code].T
        values = self.at(code)
        # The code -1 has read the last level, which is not meant.
        values[code < 0] = 0.0
        return values.T

    @cached_property
    def _padded(self) -> Array:
        """Values at all levels, and a last row of zeros for missing ones."""
        table = self.at(slice(None))
        return np.vstack([table, np.zeros((1, table.shape[1]))])


def centred_columns(
    formula: Formula, share: Array, *, is_scaled: bool = False, order: Array | float = 1.0
) -> LevelColumns:
    """Columns of a formula less their mean over the samples, with unit variance if asked for."""
    n = len(share)
    # A level per sample is possible: formulas are never evaluated at all of them at once.
    blocks = [slice(i, min(i + MOST_TABLED, n)) for i in range(0, n, MOST_TABLED)]
    shift = sum(share[own] @ formula(own) for own in blocks)
    if not is_scaled:
        return LevelColumns(formula, n, shift, order=order)
    # Two passes over the levels: a difference of large sums would lose its digits.
    size = np.sqrt(sum(share[own] @ (formula(own) - shift) ** 2 for own in blocks))
    return LevelColumns(formula, n, shift, size, order)


def mid_ranks(share: Array) -> Array:
    """Mid-rank of each level as a share: half of its own weight and all the weight below."""
    return np.cumsum(share) - share / 2


def cosines(u: Array, n_terms: int, n_levels: int = 0) -> Array:
    """sqrt(2) cos(pi k u) for k = 1..n_terms: (len(u), n_terms).

    For features of many levels by cos(k t) = 2 cos(t) cos((k-1) t) - cos((k-2) t): one cosine for
    all of them, and the last one is right to 1e-13.
    """
    if n_levels <= MOST_TABLED:
        return np.sqrt(2) * np.cos(np.pi * np.outer(u, np.arange(1, n_terms + 1)))
    columns = np.empty((n_terms, len(u)))
    double = 2 * np.cos(np.pi * u)
    columns[0] = double / 2
    before: Array | float = 1.0
    for k in range(1, n_terms):
        np.multiply(double, columns[k - 1], out=columns[k])
        columns[k] -= before
        before = columns[k - 1]
    return np.sqrt(2) * columns.T


def circular_waves(u: Array, n_harmonics: int) -> Array:
    """sqrt(2) times cos(2 pi k u) and sin(2 pi k u) for k = 1..n_harmonics: (len(u), 2 k)."""
    angle = 2 * np.pi * np.outer(u, np.arange(1, n_harmonics + 1))
    both = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    return np.sqrt(2) * both.reshape(len(u), -1)


def product_functions(levels: Levels) -> tuple[LevelColumns | None, LevelColumns | None]:
    """phi_k / k as functions of the level, and the single functions beside them.

    The weights 1/k are those of the cosine expansion of -|u - u'|; nominal levels have no smooth
    and rough functions and weigh the same. The single functions are the normal quantile of the
    mid-rank and the sign beyond the median, with unit variance: none for nominal levels, nor for
    few levels, whose products the phi span, nor on a circle, which has no high side. A feature
    of one level has neither.
    """
    n_levels, share = levels.n_levels, levels.share
    if n_levels < 2:
        return None, None
    if levels.is_nominal:
        # All contrasts of the most common levels and the rest: those of "same level or not".
        # Levels come with the most common first, so that these are the first ones.
        count = share * levels.n_observed
        n_common = max(np.sum(count >= FEWEST_SAMPLES_PER_GROUP), count[0] >= FEWEST_OF_ALL)
        group = np.minimum(np.arange(n_levels), min(int(n_common), MOST_NOMINAL_GROUPS - 1))
        share = np.bincount(group, share).astype(np.float64)
        table = _eigenfunctions(np.eye(len(share)), share)[group]
        return LevelColumns(table.__getitem__, n_levels), None
    u = mid_ranks(share)
    # On a circle both waves of a harmonic have its order.
    order = np.ceil(np.arange(1.0, N_FUNCTIONS + 1) / (2 if levels.is_circular else 1))
    if n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        # With so few levels cosines are neither uncorrelated nor of unit variance; these are.
        distance = np.abs(u[:, None] - u)
        if levels.is_circular:
            # Its expansion has 1 / k^2 at both waves of every harmonic k.
            distance = distance * (1 - distance)
        table = _eigenfunctions(-distance, share)[:, :N_FUNCTIONS]
        return LevelColumns(table.__getitem__, n_levels, order=order[: table.shape[1]]), None
    if levels.is_circular:
        return centred_columns(
            lambda places: circular_waves(u[places], N_FUNCTIONS // 2), share, order=order
        ), None

    def phi(places: Codes | slice) -> Array:
        return cosines(u[places], N_FUNCTIONS, n_levels)

    def single(places: Codes | slice) -> Array:
        own = u[places]
        return np.column_stack([special.ndtri(own), np.sign(own - 0.5)])

    return (
        centred_columns(phi, share, is_scaled=True, order=order),
        centred_columns(single, share, is_scaled=True),
    )


def _eigenfunctions(kernel: Array, share: Array) -> Array:
    """Eigenfunctions of the centred kernel, unit variance, strongest first, without the constant.

    One column each, one row a level.
    """
    centring = np.eye(len(share)) - share
    root = np.sqrt(share)
    # Symmetric in the weighted space; the division at the end leads back from there.
    _, vectors = np.linalg.eigh(root[:, None] * (centring @ kernel @ centring.T) * root)
    # Eigenvalues rise: the first vector is the constant, with the eigenvalue 0.
    return vectors[:, :0:-1] / root[:, None]


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

    def has_dummies(self, levels: Levels) -> bool:
        """Whether each level has a column: nominal ones, and ordered ones where they are few."""
        most = max(self.most_levels, self.n_smooth(levels))
        return levels.is_nominal or levels.n_levels <= most

    def n_smooth(self, levels: Levels) -> int:
        """Columns without one for each level: value, cosines and square, or waves on a circle."""
        return 2 * (self.n_cosines // 2 + 1) if levels.is_circular else 2 + self.n_cosines

    def n_columns(self, levels: Levels) -> int:
        """How many columns a feature has in the additive model."""
        n_indicators = int(levels.has_missing and np.any(levels.code >= 0))
        if levels.n_levels < 2:
            return n_indicators
        if self.has_dummies(levels):
            return min(levels.n_levels, MOST_NOMINAL_DUMMIES) + n_indicators
        return self.n_smooth(levels) + n_indicators


def column_counts(levels: list[Levels], bases: list[Basis]) -> Codes:
    """How many columns each feature has in the additive model."""
    counts = [basis.n_columns(own) for basis, own in zip(bases, levels)]
    return np.array(counts, dtype=np.intp)


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
    """The columns of one feature in the additive model, for as many samples as are asked for.

    Attributes
    ----------
    code : ndarray of shape (n,)
    columns : LevelColumns or None
        None for a feature that does not vary.
    penalty : ndarray of shape (k,)
        Relative ridge penalty of each column.
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
    """Columns of one feature: dummies for few levels, else value and cosines; centred."""
    columns, penalty = None, np.zeros(0)
    if levels.n_levels >= 2:
        if basis.has_dummies(levels):
            # One column per level, the rarest sharing one where there are very many.
            k = min(levels.n_levels, MOST_NOMINAL_DUMMIES)
            table = np.eye(k)[np.minimum(np.arange(levels.n_levels), k - 1)]
            columns, penalty = centred_columns(table.__getitem__, levels.share), np.ones(k)
        else:
            columns, penalty = _smooth_columns(levels, basis)
    is_missing = levels.code < 0
    # An indicator that is the same for all samples would be the intercept again.
    if not is_missing.any() or is_missing.all():
        return MainEffect(levels.code, columns, penalty, None)
    missing = float(np.average(is_missing, weights=weight))
    return MainEffect(levels.code, columns, np.append(penalty, 1.0), missing)


def _smooth_columns(levels: Levels, basis: Basis) -> tuple[LevelColumns, Array]:
    """The standardised value, clipped, cosines of its mid-rank and a square, or circular waves."""
    u, order = mid_ranks(levels.share), np.arange(1.0, basis.n_cosines + 1)
    if levels.is_circular:
        n_harmonics = basis.n_smooth(levels) // 2
        penalty = np.repeat(np.arange(1.0, n_harmonics + 1) ** 2, 2)
        return centred_columns(
            lambda places: circular_waves(u[places], n_harmonics), levels.share
        ), penalty
    # Squares of huge or tiny values would leave the range of floats.
    value = levels.value / np.abs(levels.value).max()
    value = value - levels.share @ value
    deviation = np.sqrt(levels.share @ value**2)

    def formula(places: Codes | slice) -> Array:
        z, own = np.clip(value[places] / deviation, -LARGEST_Z, LARGEST_Z), u[places]
        waves = cosines(own, basis.n_cosines, levels.n_levels)
        return np.column_stack([z, waves, special.ndtri(own) ** 2])

    penalty = np.concatenate([[1.0], order**2, [SQUARE_PENALTY]])
    return centred_columns(formula, levels.share), penalty


def term_functions(
    levels: list[Levels],
) -> tuple[list[LevelColumns | None], list[LevelColumns | None], Codes, Mask]:
    """Products and single functions of features, how many products, and which are low.

    Low are those that enter the score form.
    """
    # Functions by what they depend on: kind, number of samples and shares of the levels.
    known: dict[tuple[Any, ...], tuple[LevelColumns | None, LevelColumns | None]] = {}
    own = []
    for one in levels:
        # Features without ties all have the same shares, and so the same functions of ranks.
        kind = (one.is_nominal, one.is_circular)
        key = (*kind, one.n_observed, blake2b(one.share.tobytes()).digest())
        if key not in known:
            known[key] = product_functions(one)
        own.append(known[key])
    products, singles = [phi for phi, _ in own], [single for _, single in own]
    widths = [0 if phi is None else phi.at(slice(0, 1)).shape[1] for phi in products]
    k = max(widths, default=1)
    is_low = np.zeros((len(levels), k), dtype=bool)
    for row, one, width in zip(is_low, levels, widths):
        # Nominal functions have no order, so that none of them is smoother than another.
        row[: width if one.is_nominal else N_SMOOTH] = True
    return products, singles, np.array(widths, dtype=np.intp), is_low


def stacked(functions: list[LevelColumns | None], codes: list[Codes], rows: Rows, k: int) -> Array:
    """The first k functions of features on some samples: (f, k, n_rows)."""
    codes = [code[rows] for code in codes]
    values = np.zeros((len(codes), k, len(codes[0]) if codes else 0))
    for own, columns, code in zip(values, functions, codes):
        if columns is not None:
            found = columns.of(code)[:k]
            # Features with fewer functions leave the last rows at 0.
            own[: len(found)] = found
    return values
