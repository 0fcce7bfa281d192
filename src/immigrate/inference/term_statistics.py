"""The exact statistics of chosen pairs or triples, block by block.

Columns (`term_columns`), their moments under the null model (`term_moments`), and p-values of
four forms, combined into one (`term_forms`).

Cost per pair: 50 n (rows of F + 27) operations; memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.inference.encoding import N_FUNCTIONS, N_SINGLE, Encoded
from immigrate.inference.explained import explained_by
from immigrate.inference.first_order import FirstOrder, first_order, no_effects
from immigrate.inference.main_effect_columns import MOST_ORDERED_COLUMNS
from immigrate.inference.residuals import Contrast
from immigrate.inference.rows import LazyColumns, fits_whole, kept_bytes, mapped_rows
from immigrate.inference.term_columns import (
    column_penalty,
    low_columns,
    own_main_effects,
    term_columns,
)
from immigrate.inference.term_forms import combined_log_p, form_results
from immigrate.inference.term_moments import Moments, Sums, cleared, sums_of
from immigrate.typing import Array, Codes, Mask

BLOCK_BYTES = 16e6
# Rows of a block where samples are many, and columns that a term has, more or less.
BLOCK_ROWS, COLUMNS_OF_A_TERM = 8192, 48


@dataclass(frozen=True)
class TermResult:
    """Evidence for each term of a list.

    Attributes
    ----------
    statistic : ndarray of shape (n_terms,)
        U'U over its null mean, averaged over the contrasts: about 1 without interaction.
    log_p : ndarray of shape (n_terms,)
        Natural logarithm of the p-value.
    smallest_null_log_p : ndarray of shape (n_draws,)
        The smallest log p over all terms for each label set drawn from the null model.
    effects : FirstOrder
        How large each effect is to first order; of no terms where that was not asked for.
    """

    statistic: Array
    log_p: Array
    smallest_null_log_p: Array
    effects: FirstOrder


def term_results(
    data: Encoded, terms: Codes, contrasts: list[Contrast], *, with_effects: bool = False
) -> TermResult:
    """Statistic, p-value and size of the effect of every term (rows of feature indices)."""
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(contrasts[0].n_sets - 1)
    effects = no_effects(len(terms) if with_effects else 0)
    for block, own in _moments_by_block(data, terms, contrasts):
        combined = combined_log_p([form_results(one, own.is_low) for one in own.moments])
        statistic[block], log_p[block] = own.kernel_statistic(), combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
        if with_effects:
            step = first_order(own.moments, own.penalty, contrasts)
            effects.forms[:, block], effects.gain[block] = step.forms, step.gain
    return TermResult(statistic, log_p, smallest, effects)


def _moments_by_block(
    data: Encoded, terms: Codes, contrasts: list[Contrast]
) -> Iterator[tuple[Codes, _BlockMoments]]:
    """Blocks of terms with their moments.

    Where one block of all samples fits in memory, blocks are formed one after another. Else a
    block of rows is made once for many terms, whose sums grow side by side.
    """
    if is_short(data, contrasts):
        for block in _blocks_of_a_kind(data, terms, contrasts[0].n_sets):
            yield block, _block_moments(data, terms[block], contrasts)
        return
    n_sums = sums_per_term(data, terms, contrasts)
    for many in blocks(len(terms), 8.0 * n_sums, kept_bytes()):
        own = np.arange(len(terms))[many]
        parts = [
            own[block]
            for block in _blocks_of_a_kind(data, terms[own], contrasts[0].n_sets, BLOCK_ROWS)
        ]
        sums = _summed_rows(data, [terms[part] for part in parts], contrasts)
        for part, one in zip(parts, sums):
            yield part, one.moments(data, terms[part], contrasts)


def is_short(data: Encoded, contrasts: list[Contrast]) -> bool:
    """Whether the columns of a term and of the null model, for all samples, fit in memory."""
    Z = getattr(contrasts[0].explained, "Z", None)
    return fits_whole(len(data.weight), COLUMNS_OF_A_TERM) and not isinstance(Z, LazyColumns)


def sums_per_term(data: Encoded, terms: Codes, contrasts: list[Contrast]) -> float:
    """How many numbers the sums of one term are, at most."""
    k = data.functions.is_low.shape[1] ** min(terms.shape[1], 2) + N_SINGLE
    widest = max(data.n_additive_columns(int(a)) for a in np.unique(terms))
    rows = k + terms.shape[1] * widest + 1
    # How wide the products with F are depends on the way it is kept; one column of zeros tells.
    moved = (
        explained_by(contrasts[0].explained).partial(np.zeros((1, 1, 1)), slice(0, 1)).shape[-1]
    )
    return len(contrasts) * rows * (rows + 2.0 * moved + contrasts[0].n_sets)


@dataclass(frozen=True)
class _BlockSums:
    """Sums of a block of terms over rows: those of the contrasts, and mean squares of columns."""

    sums: list[Sums]
    squares: Array

    def plus(self, other: _BlockSums) -> _BlockSums:
        """Those of both sets of rows."""
        pairs = zip(self.sums, other.sums)
        return _BlockSums([one.plus(two) for one, two in pairs], self.squares + other.squares)

    def moments(self, data: Encoded, terms: Codes, contrasts: list[Contrast]) -> _BlockMoments:
        """What all forms are made of."""
        k = _n_functions(data, terms)
        is_low = low_columns(data.functions, terms, k) if terms.shape[1] < 3 else None
        penalty = column_penalty(data.functions, terms, self.squares / data.n)
        return _BlockMoments(
            [cleared(*both) for both in zip(self.sums, contrasts)], is_low, penalty
        )


def _summed_rows(
    data: Encoded, blocks_of_terms: list[Codes], contrasts: list[Contrast]
) -> list[_BlockSums]:
    """Sums of all blocks of terms, a block of rows at a time."""

    def part(rows: slice) -> list[_BlockSums]:
        return [_row_sums(data, terms, contrasts, rows) for terms in blocks_of_terms]

    n = len(data.weight)
    slices = [slice(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]
    total: list[_BlockSums] = []
    for own in mapped_rows(part, slices, data.run):
        total = [one.plus(two) for one, two in zip(total, own)] if total else own
    return total


def _row_sums(data: Encoded, terms: Codes, contrasts: list[Contrast], rows: slice) -> _BlockSums:
    C = term_columns(data.functions, terms, rows, _n_functions(data, terms))
    G = own_main_effects(data, terms, rows)
    sums = [sums_of(C, G, one, rows) for one in contrasts]
    return _BlockSums(sums, C**2 @ data.weight[rows])


def _n_functions(data: Encoded, terms: Codes) -> int:
    """Functions of a feature in the columns of these terms."""
    return max(int(data.functions.n_own[terms].max()), N_FUNCTIONS)


def _blocks_of_a_kind(
    data: Encoded, terms: Codes, n_sets: int, n: int | None = None
) -> Iterator[Codes]:
    """Positions of terms that are all wide or all narrow, so many that they fit in memory.

    All terms of a block are padded to the widest. One nominal feature with 100 levels would
    make every pair of the table as wide as its own.
    """
    order, (n_features, k) = terms.shape[1], data.functions.is_low.shape
    n = len(data.weight) if n is None else n
    # Columns that main effects take; of features that are in no term nobody asks.
    n_own = np.zeros(n_features, dtype=np.intp)
    for a in np.unique(terms):
        n_own[a] = data.n_additive_columns(int(a))
    is_wide = (data.functions.n_own > N_FUNCTIONS) | (n_own > MOST_ORDERED_COLUMNS)
    for kind in (False, True):
        positions = np.flatnonzero(is_wide[terms].any(axis=1) == kind)
        n_columns = k**2 + N_SINGLE + order * n_own[terms[positions]].max(initial=0)
        for block in blocks(len(positions), 8.0 * n_columns * (n + n_sets)):
            yield positions[block]


def blocks(
    n_terms: int, bytes_per_term: float, most_bytes: float | None = None
) -> Iterator[slice]:
    """Slices of the list of terms whose columns fit in one block of memory."""
    most_bytes = BLOCK_BYTES if most_bytes is None else most_bytes
    # One term at least, even where it does not fit.
    size = int(np.clip(most_bytes // bytes_per_term, 1, n_terms or 1))
    return (slice(start, start + size) for start in range(0, n_terms, size))


@dataclass(frozen=True)
class _BlockMoments:
    """What all forms of a block of terms are made of.

    Attributes
    ----------
    moments : list of Moments, one per contrast
    is_low : ndarray of shape (b, k) or None
        Which columns enter the score; None for triples.
    penalty : ndarray of shape (b, k)
        A weak ridge for fits of the columns.
    """

    moments: list[Moments]
    is_low: Mask | None
    penalty: Array

    def kernel_statistic(self) -> Array:
        """U'U of the observed labels over its null mean, averaged over the contrasts."""
        kernel = slice(0, -N_SINGLE if self.is_low is not None else None)
        total = np.zeros(len(self.penalty))
        for one in self.moments:
            mean = np.einsum("bkk->b", one.S[:, kernel, kernel])
            square = np.sum(one.U[:, kernel, 0] ** 2, axis=1)
            # A mean of 0 is that of a term without testable columns, whose square is 0 too.
            total += square / np.where(mean > 0, mean, 1.0)
        return total / len(self.moments)


def _block_moments(data: Encoded, terms: Codes, contrasts: list[Contrast]) -> _BlockMoments:
    """The moments of a block of terms, all samples at once."""
    return _row_sums(data, terms, contrasts, slice(0, len(data.weight))).moments(
        data, terms, contrasts
    )
