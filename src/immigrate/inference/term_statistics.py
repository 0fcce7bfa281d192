"""The exact statistics of chosen pairs or triples, block by block.

Columns (`term_columns`), their moments under the null model (`term_moments`), and p-values of
four forms, combined into one (`term_forms`).

Cost per pair: 50 n (rows of F + 27) operations; memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from immigrate.inference.encoding import N_FUNCTIONS, Encoded
from immigrate.inference.first_order import FirstOrder, first_order, no_effects
from immigrate.inference.main_effect_columns import MOST_ORDERED_COLUMNS
from immigrate.inference.residuals import Contrast
from immigrate.inference.term_columns import (
    N_SINGLE,
    column_penalty,
    low_columns,
    own_main_effects,
    term_columns,
)
from immigrate.inference.term_forms import combined_log_p, form_results
from immigrate.inference.term_moments import Moments, cleared_moments
from immigrate.typing import Array, Codes, Mask

BLOCK_BYTES = 16e6


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
    for block in _blocks_of_a_kind(data, terms, contrasts[0].n_sets):
        own = _block_moments(data, terms[block], contrasts)
        combined = combined_log_p([form_results(one, own.is_low) for one in own.moments])
        statistic[block], log_p[block] = own.kernel_statistic(), combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
        if with_effects:
            step = first_order(own.moments, own.penalty, contrasts)
            effects.forms[:, block], effects.gain[block] = step.forms, step.gain
    return TermResult(statistic, log_p, smallest, effects)


def _blocks_of_a_kind(data: Encoded, terms: Codes, n_sets: int) -> Iterator[Codes]:
    """Positions of terms that are all wide or all narrow, so many that they fit in memory.

    All terms of a block are padded to the widest. One nominal feature with 100 levels would
    make every pair of the table as wide as its own.
    """
    order, (n_features, k, n) = terms.shape[1], data.functions.phi.shape
    n_own = np.zeros(n_features, dtype=np.intp)
    for a in np.unique(terms):
        n_own[a] = data.n_additive_columns(int(a))
    is_wide = (data.functions.n_own > N_FUNCTIONS) | (n_own > MOST_ORDERED_COLUMNS)
    for kind in (False, True):
        positions = np.flatnonzero(is_wide[terms].any(axis=1) == kind)
        n_columns = k**2 + N_SINGLE + order * n_own[terms[positions]].max(initial=0)
        for block in blocks(len(positions), 8.0 * n_columns * (n + n_sets)):
            yield positions[block]


def blocks(n_terms: int, bytes_per_term: float) -> Iterator[slice]:
    """Slices of the list of terms whose columns fit in one block of memory."""
    size = int(np.clip(BLOCK_BYTES // bytes_per_term, 1, n_terms or 1))
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
            total += square / np.where(mean > 0, mean, 1.0)
        return total / len(self.moments)


def _block_moments(data: Encoded, terms: Codes, contrasts: list[Contrast]) -> _BlockMoments:
    functions = data.functions.first(max(int(data.functions.n_own[terms].max()), N_FUNCTIONS))
    C, G = term_columns(functions, terms), own_main_effects(data, terms)
    is_low = low_columns(functions, terms) if terms.shape[1] < 3 else None
    penalty = column_penalty(functions, terms, C**2 @ data.weight / data.n)
    return _BlockMoments([cleared_moments(C, G, one) for one in contrasts], is_low, penalty)
