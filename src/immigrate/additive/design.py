"""The user's table as columns of functions: each feature twice, and products of several.

Once as columns Z of the additive model, and once as functions to multiply (`additive.basis`). A
missing value is 0 in every column and function, and a feature that does not vary is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from immigrate.additive.basis import (
    MOST_TABLED,
    N_SINGLE,
    N_SMOOTH,
    Basis,
    LevelColumns,
    MainEffect,
    column_counts,
    main_effect,
    rough_basis,
    smooth_basis,
    stacked,
    term_functions,
)
from immigrate.additive.families import Outcome, outcome_of
from immigrate.additive.levels import Levels, feature_levels, variance_groups
from immigrate.additive.rows import ALL, Columns, LazyColumns, Rows, kept_numbers, row_sum
from immigrate.arrays import Array, Codes, Mask
from immigrate.progress import ALONE, Run
from immigrate.table import Table


@dataclass(frozen=True, eq=False)
class Design:
    """A table ready for the test: samples of positive weight, features that vary.

    Attributes
    ----------
    columns : ndarray of shape (p,)
        Position of each feature in the user's table.
    levels : list of Levels, one per feature
    products : list of LevelColumns or None
        phi_k / k of each feature; features with the same shares of levels have the same.
    singles : list of LevelColumns or None
        The normal score of each value, and on which side of the median it is; None for features
        with few levels.
    n_own : ndarray of shape (p,)
        How many functions each feature has.
    is_low : ndarray of shape (p, k)
        The functions that enter the score form: two of an ordered feature, all of a nominal
        one, whose functions have no order.
    outcome : Outcome
        What is to be explained.
    weight : ndarray of shape (n,)
        How often each sample was seen.
    phi, single : ndarray of shape (p, k, n), (p, 2, n), or None
        All functions of all samples, rows of zeros where a feature has fewer; None where they do
        not fit in memory.
    adjusted : frozenset of int
        Features that are always in the null model and in no term.
    bases : list of Basis
        How closely the main effect of each feature is followed; some of the samples have the
        bases of all.
    rough : frozenset of int
        Features whose main effect needs the rough basis.
    run : Run
        Threads that share blocks of rows, where there are too many for one.
    tested : ndarray
        The features that terms are made of.
    has_single : ndarray of shape (p,)
        Which features have single functions.
    n_columns : ndarray of shape (p,)
        How many columns each feature has in the additive model.
    n : float
        Number of samples, a sample of weight two counting twice.
    """

    columns: Codes
    levels: list[Levels]
    products: list[LevelColumns | None]
    singles: list[LevelColumns | None]
    n_own: Codes
    is_low: Mask
    outcome: Outcome
    weight: Array
    phi: Array | None
    single: Array | None
    adjusted: frozenset[int]
    bases: list[Basis]
    rough: frozenset[int] = frozenset()
    run: Run = ALONE
    tested: Codes = field(init=False)
    has_single: Mask = field(init=False)
    n_columns: Codes = field(init=False)
    n: float = field(init=False)

    def __post_init__(self) -> None:
        vars(self).update(
            tested=np.setdiff1d(np.arange(len(self.levels)), sorted(self.adjusted)),
            has_single=np.array([one is not None for one in self.singles], dtype=bool),
            n_columns=column_counts(self.levels, self.bases),
            n=float(self.weight.sum()),
        )

    def features_of(self, columns: Sequence[int]) -> tuple[int, ...]:
        """The features that columns of the table are; a column that does not vary is none."""
        place = {int(column): i for i, column in enumerate(self.columns)}
        return tuple(place[column] for column in columns if column in place)

    def phi_of(self, features: Codes, rows: Rows = ALL, k: int | None = None) -> Array:
        """The first k functions of some features on some samples: (f, k, n_rows)."""
        k = self.is_low.shape[1] if k is None else min(k, self.is_low.shape[1])
        # Made once and kept where there is room; else made again for the rows at hand.
        if self.phi is not None:
            return self.phi[features, :k][..., rows]
        chosen = [self.products[a] for a in features]
        return stacked(chosen, [self.levels[a].code for a in features], rows, k)

    def single_of(self, features: Codes, rows: Rows = ALL) -> Array:
        """The single functions of some features on some samples: (f, 2, n_rows)."""
        if self.single is not None:
            return self.single[features][..., rows]
        chosen = [self.singles[a] for a in features]
        return stacked(chosen, [self.levels[a].code for a in features], rows, N_SINGLE)

    def main_effect(self, feature: int) -> MainEffect:
        """The columns of a feature in the additive model, for as many samples as are asked for."""
        if feature not in self._main_effects:
            effect = main_effect(self.levels[feature], self.weight, self.bases[feature])
            if len(self.weight) * self.n_columns.sum() > kept_numbers() and (
                len(self.weight) <= MOST_TABLED
            ):
                # Quickly made again, while thousands of them would fill the memory.
                return effect
            self._main_effects[feature] = effect
        return self._main_effects[feature]

    @cached_property
    def variance_groups(self) -> list[Codes]:
        """Groups of samples by each feature whose variances may differ."""
        return [variance_groups(levels, self.n) for levels in self.levels]

    @cached_property
    def _main_effects(self) -> dict[int, MainEffect]:
        return {}

    def additive_columns(self, features: Codes) -> tuple[Columns, Array, Codes]:
        """Z = [1, columns of the features] (n, m), relative penalties, owner of each column."""
        effects = [self.main_effect(int(a)) for a in features]
        penalty = np.concatenate([[0.0], *(effect.penalty for effect in effects)])
        owner = np.concatenate(
            [[-1], *(np.full(len(one.penalty), a) for a, one in zip(features, effects))]
        ).astype(int)

        n, m = len(self.weight), len(penalty)
        if n * m <= kept_numbers():
            Z = np.vstack([np.ones((1, n)), *(effect.of(ALL) for effect in effects)]).T
            return np.ascontiguousarray(Z), penalty, owner

        def ones(rows: Rows) -> Array:
            return np.ones((1, len(self.weight[rows])))

        parts = (ones, *(effect.of for effect in effects))
        return LazyColumns(parts, (n, m), self.run), penalty, owner

    def with_rough(self, rough: frozenset[int]) -> Design:
        """The same with the rough basis for some features."""
        smooth, finer = smooth_basis(self.n), rough_basis(self.n)
        bases = [finer if a in rough else smooth for a in range(len(self.levels))]
        return replace(self, rough=rough, bases=bases)

    def samples(self, index: Codes) -> Design:
        """Some of the samples, with the columns and functions that all of them have."""
        return replace(
            self,
            levels=[replace(one, code=one.code[index]) for one in self.levels],
            outcome=self.outcome.rows(index),
            weight=self.weight[index],
            phi=None if self.phi is None else self.phi[..., index],
            single=None if self.single is None else self.single[..., index],
        )


def table_design(table: Table, *, adjusted: Mask | None = None, run: Run = ALONE) -> Design:
    """Levels and functions of the features of a table that vary, with its weights as counts.

    `adjusted` marks columns that are always in the null model and in no term.
    """
    X, reader = table.values.astype(np.float64, copy=False), table.reader
    weight = np.ones(len(X)) if table.weight is None else table.weight.as_counts()
    outcome, most_kept = outcome_of(table.outcome, weight), kept_numbers()
    every = [
        feature_levels(x, weight, kind.is_nominal, kind.period < np.inf)
        for x, kind in zip(X.T, reader.kinds)
    ]
    columns = np.flatnonzero([levels.n_levels > 1 for levels in every])
    levels = [every[j] for j in columns]
    products, singles, n_own, is_low = term_functions(levels)
    # All functions of all samples, where they fit in memory.
    k, codes, phi, single = is_low.shape[1], [one.code for one in levels], None, None
    if len(X) * len(levels) * (k + N_SINGLE) <= most_kept:
        phi, single = stacked(products, codes, ALL, k), stacked(singles, codes, ALL, N_SINGLE)
    is_adjusted = np.zeros(len(levels), bool) if adjusted is None else adjusted[columns]
    return Design(
        columns,
        levels,
        products,
        singles,
        n_own,
        is_low,
        outcome,
        weight,
        phi,
        single,
        adjusted=frozenset(np.flatnonzero(is_adjusted).tolist()),
        bases=[smooth_basis(float(weight.sum()))] * len(levels),
        run=run,
    )


def phi_products(phi: Array, terms: Codes) -> Array:
    """All products of one phi of each feature of a term: (b, k^order, n) from (p, k, n)."""
    columns = phi[terms[:, 0]]
    for feature in terms[:, 1:].T:
        columns = columns[:, :, None] * phi[feature][:, None]
        columns = columns.reshape(len(terms), -1, columns.shape[-1])
    return columns


def term_columns(design: Design, terms: Codes, rows: Rows = ALL, k: int | None = None) -> Array:
    """C of each pair: phi products, then those of the single functions: (b, k^2 + 2, n_rows).

    Of a feature its functions: (b, k + 2, n_rows). Of a triple the phi products with k <= 2:
    (b, 8, n_rows). `k` is the number of functions of each feature; None takes all.
    """
    # Each feature is made once, however many terms of the block it is in.
    features, position = np.unique(terms, return_inverse=True)
    position = position.reshape(terms.shape)
    if terms.shape[1] == 3:
        return phi_products(design.phi_of(features, rows, N_SMOOTH), position)
    single = design.single_of(features, rows)
    # Zeros where one of the features has no single functions, so that the form does not count.
    last = np.prod([single[place] for place in position.T], axis=0)
    return np.concatenate([phi_products(design.phi_of(features, rows, k), position), last], axis=1)


def own_main_effects(design: Design, terms: Codes, rows: Rows = ALL) -> Array:
    """G of each term: additive columns of its features, on the samples where all are known.

    (b, m, n_rows), zero rows where there are fewer. A single feature has none beside itself.
    """
    columns, place = main_effect_rows(design, terms, rows)
    return columns[place]


def main_effect_rows(design: Design, terms: Codes, rows: Rows = ALL) -> tuple[Array, Codes]:
    """Rows (u, n_rows), and which of them are G of each term (b, m): most are in many terms."""
    weight = design.weight[rows]
    if terms.shape[1] == 1:
        return np.zeros((1, len(weight))), np.empty((len(terms), 0), dtype=np.intp)
    features, position = np.unique(terms, return_inverse=True)
    position = position.reshape(terms.shape)
    own = [design.main_effect(int(a)).of(rows) for a in features]
    widths = np.array([len(values) for values in own])
    # The last row is zero, for features with fewer columns than others.
    columns = np.vstack([*own, np.zeros((1, len(weight)))])
    place = np.full((len(features), widths.max()), len(columns) - 1)
    place[np.arange(widths.max()) < widths[:, None]] = np.arange(len(columns) - 1)
    of_terms = place[position].reshape(len(terms), -1)
    if not any(design.levels[a].has_missing for a in features):
        return columns, of_terms
    # Where one is missing, its correlates stand in for it: only there are their effects stronger.
    is_known = np.array([design.levels[a].code[rows] >= 0 for a in features])
    is_complete = np.all(is_known[position], axis=1, keepdims=True)
    G = np.concatenate([columns[of_terms] * is_complete, is_complete], axis=1)
    return G.reshape(-1, len(weight)), np.arange(G.shape[0] * G.shape[1]).reshape(G.shape[:2])


def term_squares(design: Design, terms: Codes) -> Array:
    """Weighted sums of the squares of the columns of terms: (b, k)."""
    weight, n_columns = design.weight, len(terms) * (design.is_low.shape[1] ** 2 + N_SINGLE)
    return row_sum(
        lambda rows: (term_columns(design, terms, rows) ** 2 @ weight[rows],),
        len(weight),
        n_columns,
        design.run,
    )[0]
