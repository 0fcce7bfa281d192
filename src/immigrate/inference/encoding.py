"""Each feature twice: as columns Z of the additive model, and as functions to multiply.

A missing value is 0 in every column and function, so that what is not known adds nothing to any
product. A feature that is one value or missing is a flag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np
from scipy import special

from immigrate.arrays import Array, Codes, Mask
from immigrate.inference.levels import (
    MOST_TABLED,
    LevelColumns,
    Levels,
    centred_columns,
    cosines,
    mid_ranks,
    recurred_cosines,
)
from immigrate.inference.main_effect_columns import (
    AdditiveColumns,
    Basis,
    MainEffect,
    additive_columns,
    main_effect,
    n_additive_columns,
    rough_basis,
    smooth_basis,
)
from immigrate.inference.outcomes import Outcome
from immigrate.inference.rows import ALONE, Rows, Run, fits_whole

N_FUNCTIONS = 4
"""Functions phi of an ordered feature; their products span a pair with 16 columns."""

N_SMOOTH = 2
"""Those of them that the score form uses."""

# The normal score, and the side of the median.
N_SINGLE = 2
"""Functions with a form of their own."""

MOST_LEVELS_AS_EIGENVECTORS = 6
# Levels at which functions are looked at to count them.
PROBED = slice(0, 32)
ALL = slice(None)
# Products of a nominal feature tell its most common levels apart, and the rest as one; the
# additive model knows more levels than that, so that no main effect is left in a product.
MOST_NOMINAL_GROUPS = 10
# A level with fewer samples belongs to the rest: what a product says about it would rest on a
# handful of labels. A feature with nearly as many levels as samples so has no products at all.
FEWEST_SAMPLES_PER_GROUP = 10


@dataclass(frozen=True, eq=False)
class Functions:
    """What the columns of a term are products of.

    Attributes
    ----------
    codes : list of ndarray of shape (n,)
        The level of each sample, for each feature.
    rows : list of LevelColumns or None
        phi_k / k of each feature; features with the same shares of levels have the same.
    singles : list of LevelColumns or None
        The normal score of each value, and on which side of the median it is; None for features
        with few levels.
    is_low : ndarray of shape (p, k)
        The functions that enter the score form: two of an ordered feature, all of a nominal
        one, whose functions have no order.
    """

    codes: list[Codes]
    rows: list[LevelColumns | None]
    singles: list[LevelColumns | None]
    is_low: Mask
    n: int

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def n_own(self) -> Codes:
        """How many functions each feature has; the rest of its rows are zero."""
        sizes = [
            0 if one is None else np.any(one.at(PROBED) != 0, axis=0).sum() for one in self.rows
        ]
        return np.array(sizes, dtype=np.intp)

    @cached_property
    def has_single(self) -> Mask:
        """Which features have single functions: (p,)."""
        return np.array([one is not None for one in self.singles], dtype=bool)

    @cached_property
    def is_kept(self) -> bool:
        """Whether all functions of all samples fit in memory."""
        return fits_whole(self.n, len(self) * (self.is_low.shape[1] + N_SINGLE))

    @cached_property
    def phi(self) -> Array:
        """phi_k / k of each feature, zero rows where it has fewer: (p, k, n)."""
        return self._made_phi(np.arange(len(self)), slice(None), self.is_low.shape[1])

    @cached_property
    def single(self) -> Array:
        """The single functions, 0 where there are none: (p, 2, n)."""
        return self._made_single(np.arange(len(self)), slice(None))

    def phi_of(self, features: Codes, rows: Rows = ALL, k: int | None = None) -> Array:
        """The first k functions of some features on some samples: (f, k, n_rows)."""
        k = self.is_low.shape[1] if k is None else min(k, self.is_low.shape[1])
        # Made once and kept where there is room; else made again for the rows at hand.
        if self.is_kept:
            return self.phi[features, :k][..., rows]
        return self._made_phi(features, rows, k)

    def single_of(self, features: Codes, rows: Rows = ALL) -> Array:
        """The single functions of some features on some samples: (f, 2, n_rows)."""
        if self.is_kept:
            return self.single[features][..., rows]
        return self._made_single(features, rows)

    def _made_phi(self, features: Codes, rows: Rows, k: int) -> Array:
        phi = np.zeros((len(features), k, _n_rows(rows, self.n)))
        for own, a in zip(phi, features):
            columns = self.rows[a]
            if columns is not None:
                values = columns.of(self.codes[a][rows])[:k]
                # Features with fewer functions leave the last rows at 0.
                own[: len(values)] = values
        return phi

    def _made_single(self, features: Codes, rows: Rows) -> Array:
        single = np.zeros((len(features), N_SINGLE, _n_rows(rows, self.n)))
        for own, a in zip(single, features):
            columns = self.singles[a]
            if columns is not None:
                own[:] = columns.of(self.codes[a][rows])
        return single


def _n_rows(rows: Rows, n: int) -> int:
    return len(range(*rows.indices(n))) if isinstance(rows, slice) else len(rows)


@dataclass(frozen=True)
class Encoded:
    """A data set ready for the test: samples of positive weight, features that vary.

    Attributes
    ----------
    levels : list of Levels, one per feature
    functions : Functions
        What products are made of.
    outcome : Outcome
        What is to be explained.
    rough : frozenset of int
        Features whose main effect needs the rough basis.
    adjusted : frozenset of int
        Features that are always in the null model and in no term.
    n_for_basis : float or None
        Number of samples that decides how fine the columns of features are; None is `n`. Some of
        the samples have the columns of all.
    run : Run
        Threads that share blocks of rows, where there are too many for one.
    """

    levels: list[Levels]
    functions: Functions
    outcome: Outcome
    weight: Array
    rough: frozenset[int] = frozenset()
    adjusted: frozenset[int] = frozenset()
    n_for_basis: float | None = None
    run: Run = ALONE

    @property
    def n(self) -> float:
        """Number of samples, a sample of weight two counting twice."""
        return float(self.weight.sum())

    @property
    def Y(self) -> Array:
        """The outcome as a matrix (n, n_logits)."""
        return self.outcome.Y

    @property
    def tested(self) -> Codes:
        """The features that terms are made of."""
        is_adjusted = np.isin(np.arange(len(self.levels)), list(self.adjusted))
        return np.flatnonzero(~is_adjusted)

    def basis(self, feature: int) -> Basis:
        """How closely the main effect of a feature is followed."""
        n = self.n if self.n_for_basis is None else self.n_for_basis
        return rough_basis(n) if feature in self.rough else smooth_basis(n)

    def n_additive_columns(self, feature: int) -> int:
        """How many columns a feature has in the additive model."""
        return n_additive_columns(self.levels[feature], self.basis(feature))

    def additive_columns(self, feature: int) -> AdditiveColumns:
        """Columns of one feature in the additive model."""
        return additive_columns(self.levels[feature], self.weight, self.basis(feature))

    def main_effect(self, feature: int) -> MainEffect:
        """The same for as many samples as are asked for."""
        if feature not in self._main_effects:
            effect = main_effect(self.levels[feature], self.weight, self.basis(feature))
            if len(self.weight) <= MOST_TABLED:
                # Quickly made again, while thousands of them would fill the memory.
                return effect
            self._main_effects[feature] = effect
        return self._main_effects[feature]

    @cached_property
    def _main_effects(self) -> dict[int, MainEffect]:
        return {}

    def samples(self, index: Codes) -> Encoded:
        """Some of the samples, with the columns and functions that all of them have."""
        outcome, functions = self.outcome, self.functions
        return replace(
            self,
            levels=[replace(one, code=one.code[index]) for one in self.levels],
            functions=replace(
                functions, codes=[code[index] for code in functions.codes], n=len(index)
            ),
            outcome=replace(outcome, Y=outcome.Y[index], strata=outcome.strata[index]),
            weight=self.weight[index],
            n_for_basis=self.n if self.n_for_basis is None else self.n_for_basis,
        )


def interaction_functions(levels: list[Levels], n: int) -> Functions:
    """Functions of all features, as many as the feature with the most has."""
    # Functions by what they depend on: kind, number of samples and shares of the levels.
    known: dict[tuple[bool, float, bytes], tuple[LevelColumns | None, LevelColumns | None]] = {}
    own = []
    for one in levels:
        # Features without ties all have the same shares, and so the same functions of ranks.
        key = (one.is_nominal, one.n_observed, blake2b(one.share.tobytes()).digest())
        if key not in known:
            known[key] = (phi_columns(one), single_columns(one))
        own.append(known[key])
    widths = [0 if phi is None else np.shape(phi.at(PROBED))[1] for phi, _ in own]
    is_low = np.zeros((len(levels), max(widths, default=1)), dtype=bool)
    for row, one, width in zip(is_low, levels, widths):
        # Nominal functions have no order, so that none of them is smoother than another.
        row[: width if one.is_nominal else N_SMOOTH] = True
    codes = [one.code for one in levels]
    return Functions(codes, [phi for phi, _ in own], [single for _, single in own], is_low, n)


def feature_phi(levels: Levels) -> Array:
    """phi_k / k of one feature: (k, n)."""
    columns = phi_columns(levels)
    return np.zeros((0, len(levels.code))) if columns is None else columns.of(levels.code)


def single_functions(levels: Levels) -> Array:
    """Normal quantile of the mid-rank and sign beyond the median, unit variance: (2, n)."""
    columns = single_columns(levels)
    return np.zeros((2, len(levels.code))) if columns is None else columns.of(levels.code)


def phi_columns(levels: Levels) -> LevelColumns | None:
    """phi_k / k as functions of the level; None where there is one level.

    The weights 1/k are those of the cosine expansion of -|u - u'|; nominal levels have no
    smooth and rough functions and weigh the same.
    """
    if levels.n_levels < 2:
        return None
    if levels.is_nominal:
        return LevelColumns(_nominal_functions(levels).__getitem__, levels.n_levels)
    if levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        u = mid_ranks(levels.share)
        # With so few levels cosines are neither uncorrelated nor of unit variance; these are.
        table = _eigenfunctions(-np.abs(u[:, None] - u), levels.share)[:, :N_FUNCTIONS]
        order = np.arange(1.0, table.shape[1] + 1)
        return LevelColumns(table.__getitem__, levels.n_levels, order=order)
    u = mid_ranks(levels.share)
    waves = cosines if levels.n_levels <= MOST_TABLED else recurred_cosines
    return centred_columns(
        lambda places: waves(u[places], N_FUNCTIONS),
        levels.share,
        is_scaled=True,
        order=np.arange(1.0, N_FUNCTIONS + 1),
    )


def single_columns(levels: Levels) -> LevelColumns | None:
    """Normal scores and sides as functions of the level.

    None for nominal levels and for few levels, whose products the phi span.
    """
    if levels.is_nominal or levels.n_levels <= MOST_LEVELS_AS_EIGENVECTORS:
        return None
    u = mid_ranks(levels.share)

    def columns(places: Codes | slice) -> Array:
        own = u[places]
        return np.column_stack([special.ndtri(own), np.sign(own - 0.5)])

    return centred_columns(columns, levels.share, is_scaled=True)


def _nominal_functions(levels: Levels) -> Array:
    """All contrasts of the most common levels and the rest: those of "same level or not"."""
    # Levels come with the most common first, so that these are the first ones.
    n_common = int(np.sum(levels.share * levels.n_observed >= FEWEST_SAMPLES_PER_GROUP))
    group = np.minimum(np.arange(levels.n_levels), min(n_common, MOST_NOMINAL_GROUPS - 1))
    share = np.bincount(group, levels.share).astype(np.float64)
    return _eigenfunctions(np.eye(len(share)), share)[group]


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
