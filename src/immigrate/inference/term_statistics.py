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
from immigrate.inference.main_effect_columns import MOST_ORDERED_COLUMNS
from immigrate.inference.residuals import Contrast
from immigrate.inference.term_columns import (
    N_SINGLE,
    low_columns,
    own_main_effects,
    term_columns,
)
from immigrate.inference.term_forms import FormResult, combined_log_p, form_results
from immigrate.inference.term_moments import Moments, cleared_moments
from immigrate.typing import Array, Codes

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
    """

    statistic: Array
    log_p: Array
    smallest_null_log_p: Array


def term_results(data: Encoded, terms: Codes, contrasts: list[Contrast]) -> TermResult:
    """Statistic and p-value of every term (rows of feature indices)."""
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(contrasts[0].n_sets - 1)
    for block in _blocks_of_a_kind(data, terms, contrasts[0].n_sets):
        forms, statistic[block] = _block_forms(data, terms[block], contrasts)
        combined = combined_log_p(forms)
        log_p[block] = combined[:, 0]
        smallest = np.minimum(smallest, combined[:, 1:].min(axis=0))
    return TermResult(statistic, log_p, smallest)


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


def _block_forms(
    data: Encoded, terms: Codes, contrasts: list[Contrast]
) -> tuple[list[FormResult], Array]:
    """The forms of each contrast, and U'U over its null mean, averaged over the contrasts."""
    order = terms.shape[1]
    functions = data.functions.first(max(int(data.functions.n_own[terms].max()), N_FUNCTIONS))
    C, G = term_columns(functions, terms), own_main_effects(data, terms)
    is_low = low_columns(functions, terms) if order == 2 else None
    moments = (cleared_moments(C, G, contrast) for contrast in contrasts)
    results = [(form_results(one, is_low), _kernel_statistic(one, order)) for one in moments]
    statistic = np.sum([statistic for _, statistic in results], axis=0) / len(contrasts)
    return [forms for forms, _ in results], statistic


def _kernel_statistic(moments: Moments, order: int) -> Array:
    """U'U of the observed labels over its null mean."""
    kernel = slice(0, -N_SINGLE if order == 2 else None)
    mean = np.einsum("bkk->b", moments.S[:, kernel, kernel])
    square = np.sum(moments.U[:, kernel, 0] ** 2, axis=1)
    return square / np.where(mean > 0, mean, 1.0)
