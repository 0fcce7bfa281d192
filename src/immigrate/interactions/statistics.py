"""The exact statistics of chosen features, pairs or triples, block by block.

Columns and their moments under the null model (`additive.moments`), p-values of four forms and
their combination (`additive.p_values`), and the size of the effect to first order.

Cost per pair: 50 n (rows of F + 27) operations; memory: one block of columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from joblib import Parallel, delayed

from immigrate.additive.basis import MOST_ORDERED_COLUMNS, N_FUNCTIONS, N_SINGLE
from immigrate.additive.cleared import Cleared, EstimatedContrast, cleared_terms, left_rows
from immigrate.additive.design import (
    Design,
    main_effect_rows,
    own_main_effects,
    term_columns,
)
from immigrate.additive.estimated import (
    estimated_evidence,
    estimated_moments,
    forms_of,
    spreads_of,
)
from immigrate.additive.moments import Contrast, KnownContrast, Moments, known, moments_of, sums_of
from immigrate.additive.p_values import FormResult, combined_log_p, form_results, low_columns
from immigrate.additive.rows import LazyColumns, Rows, added, kept_numbers, mapped_rows
from immigrate.additive.sizes import FirstOrder, column_penalty, first_order
from immigrate.arrays import Array, Codes, Mask
from immigrate.progress import Run

BLOCK_BYTES = 16e6
# Rows of a block where samples are many, and columns that a term has, more or less.
BLOCK_ROWS, COLUMNS_OF_A_TERM = 8192, 48
# Arrays of the size of the columns that are there at once where variances are estimated.
ESTIMATED_ARRAYS = 6
MOST_CHUNKS, TERMS_PER_CHUNK = 16, 128


@dataclass(frozen=True)
class TermResult:
    """Evidence for each term of a list.

    Attributes
    ----------
    statistic : ndarray of shape (n_terms,)
        U'U over its null mean, averaged over the contrasts: about 1 without interaction.
    log_p : ndarray of shape (n_terms,)
        Natural logarithm of the p-value; NaN where no form could be tested.
    smallest_null_log_p : ndarray of shape (n_draws,)
        The smallest log p over all terms for each label set drawn from the null model.
    effects : FirstOrder
        How large each effect is to first order; of no terms where that was not asked for.
    """

    statistic: Array
    log_p: Array
    smallest_null_log_p: Array
    effects: FirstOrder


def exact_results(
    design: Design,
    terms: Codes,
    contrasts: Sequence[Contrast],
    run: Run,
    *,
    with_effects: bool = False,
) -> TermResult:
    """`term_results`, in parallel over chunks that do not depend on the number of workers."""
    run.stage = f"exact tests of {len(terms):,} terms"
    # Not by the number of workers: so the sums, and p-values to the last bit, do not depend on it.
    n_chunks = min(MOST_CHUNKS, len(terms) // TERMS_PER_CHUNK + 1)
    if n_chunks == 1 or not is_short(design, contrasts):
        # Of long tables threads share the rows instead.
        return term_results(design, terms, contrasts, with_effects=with_effects)
    threads = Parallel(n_jobs=run.n_jobs, require="sharedmem", return_as="generator")
    parts = []
    for part in threads(
        delayed(term_results)(design, chunk, contrasts, with_effects=with_effects)
        for chunk in np.array_split(terms, n_chunks)
    ):
        parts.append(part)
        run.tick(len(parts), n_chunks)
    return TermResult(
        statistic=np.concatenate([part.statistic for part in parts]),
        log_p=np.concatenate([part.log_p for part in parts]),
        smallest_null_log_p=np.min([part.smallest_null_log_p for part in parts], axis=0),
        effects=FirstOrder(
            np.concatenate([part.effects.forms for part in parts], axis=1),
            np.concatenate([part.effects.gain for part in parts]),
        ),
    )


def term_results(
    data: Design, terms: Codes, contrasts: Sequence[Contrast], *, with_effects: bool = False
) -> TermResult:
    """Statistic, p-value and size of the effect of every term (rows of feature indices)."""
    statistic, log_p = np.zeros(len(terms)), np.zeros(len(terms))
    smallest = np.zeros(contrasts[0].residual.shape[1] - 1)
    n_effects = len(terms) if with_effects else 0
    effects = FirstOrder(np.zeros((4, n_effects)), np.zeros(n_effects))
    for block, squares, forms, moments in evidence_by_block(data, terms, contrasts):
        combined = combined_log_p(forms)
        # The single functions of a pair or feature are last, and no part of U'U.
        kernel = slice(None) if terms.shape[1] > 2 else slice(0, -N_SINGLE)
        for one in moments:
            mean = np.einsum("bkk->b", one.S[:, kernel, kernel])
            # A mean of 0 is that of a term without testable columns, whose square is 0 too.
            square = np.sum(one.U[:, kernel, 0] ** 2, axis=1) / np.where(mean > 0, mean, 1.0)
            statistic[block] += square / len(moments)
        log_p[block] = combined[:, 0]
        # Of terms that could be tested: `fmin` passes over NaN.
        smallest = np.fmin(smallest, np.fmin.reduce(combined[:, 1:], axis=0))
        if with_effects:
            penalty = column_penalty(data, terms[block], squares / data.n)
            step = first_order(moments, penalty, contrasts)
            effects.forms[:, block], effects.gain[block] = step.forms, step.gain
    return TermResult(statistic, log_p, smallest, effects)


def evidence_by_block(
    data: Design, terms: Codes, contrasts: Sequence[Contrast]
) -> Iterator[tuple[Codes, Array, list[FormResult], list[Moments]]]:
    """Blocks of terms: sums of the squares of their columns, forms and moments per contrast."""

    def low(own: Codes) -> Mask | None:
        # All columns of a triple enter its only form, the score.
        return low_columns(data, own, _n_functions(data, own)) if own.shape[1] < 3 else None

    first = contrasts[0]
    if isinstance(first, EstimatedContrast):
        for block, cleared in cleared_blocks(data, terms, first):
            found = estimated_evidence(
                cleared,
                forms_of(cleared, low(terms[block]), N_SINGLE),
                spreads_of(data.variance_groups, terms[block]),
            )
            squares = np.einsum("bkk->bk", cleared.raw)
            yield block, squares, [found], [estimated_moments(cleared)]
        return
    ready = known(contrasts)
    for block, (squares, *sums) in _sums_by_block(data, terms, ready):
        moments = moments_of(tuple(sums), ready)
        is_low = low(terms[block])
        yield block, squares, [form_results(one, is_low) for one in moments], moments


def cleared_blocks(
    data: Design, terms: Codes, contrast: EstimatedContrast
) -> Iterator[tuple[Codes, Cleared]]:
    """Blocks of terms, cleared of main effects; none of a table with one feature."""
    if not len(terms):
        return
    n, run, is_all, G = len(data.weight), data.run, is_short(data, [contrast]), None
    is_complete = not any(levels.has_missing for levels in data.levels)
    # Made once for all blocks where there is room, and where they are those of all samples.
    if is_all and is_complete and 3 * data.n_columns.sum() * n <= kept_numbers():
        rows, place_of = main_effect_rows(data, terms)
        G = left_rows(lambda _: rows, contrast, run, is_all)
    n_rows, n_sets = n if is_all else BLOCK_ROWS, contrast.residual.shape[1]
    for block in _blocks_of_a_kind(data, terms, ESTIMATED_ARRAYS * n_rows, n_sets):
        own = terms[block]
        columns = partial(term_columns, data, own, k=_n_functions(data, own))
        if G is None:
            place = main_effect_rows(data, own, slice(0, 1))[1]
            main_effects = partial(rows_of_main_effects, data, own)
            own_G = left_rows(main_effects, contrast, run, is_all)
        else:
            place, own_G = place_of[block], G
            # Without the padding that only wider terms of other blocks need: the last row is zero.
            place = place[:, np.any(place < len(G.U) - 1, axis=0)]
        yield block, cleared_terms(columns, own_G, place, run, is_all)


def rows_of_main_effects(data: Design, terms: Codes, rows: Rows) -> Array:
    """The different rows of G of some terms."""
    return main_effect_rows(data, terms, rows)[0]


def _sums_by_block(
    data: Design, terms: Codes, contrasts: list[KnownContrast]
) -> Iterator[tuple[Codes, tuple[Array, ...]]]:
    """Blocks of terms with what `_row_sums` makes of all rows.

    Where one block of all samples fits in memory, blocks are formed one after another. Else a
    block of rows is made once for many terms, whose sums grow side by side.
    """
    n, n_sets = len(data.weight), contrasts[0].residual.shape[1]
    if is_short(data, contrasts):
        for block in _blocks_of_a_kind(data, terms, n, n_sets):
            yield block, _row_sums(data, terms[block], contrasts, slice(0, n))
        return
    slices = [slice(i, min(i + BLOCK_ROWS, n)) for i in range(0, n, BLOCK_ROWS)]
    for many in blocks(len(terms), sums_per_term(data, terms, contrasts), kept_numbers()):
        own = np.arange(len(terms))[many]
        parts = [own[one] for one in _blocks_of_a_kind(data, terms[own], BLOCK_ROWS, n_sets)]

        def sums(rows: slice, parts: list[Codes] = parts) -> tuple[Array, ...]:
            found = (_row_sums(data, terms[part], contrasts, rows) for part in parts)
            return tuple(one for part in found for one in part)

        total = added(mapped_rows(sums, slices, data.run))
        per = len(total) // len(parts)
        for i, part in enumerate(parts):
            yield part, total[per * i : per * (i + 1)]


def _row_sums(
    data: Design, terms: Codes, contrasts: list[KnownContrast], rows: slice
) -> tuple[Array, ...]:
    """Mean squares of the columns, then the sums that all contrasts need, over some rows."""
    C = term_columns(data, terms, rows, _n_functions(data, terms))
    G = own_main_effects(data, terms, rows)
    return C**2 @ data.weight[rows], *sums_of(C, G, contrasts, rows)


def _n_functions(data: Design, terms: Codes) -> int:
    """Functions of a feature in the columns of these terms."""
    return max(int(data.n_own[terms].max()), N_FUNCTIONS)


def is_short(data: Design, contrasts: Sequence[Contrast]) -> bool:
    """Whether the columns of a term and of the null model, for all samples, fit in memory."""
    # Of F, or of the contrast itself.
    Z = getattr(contrasts[0], "Z", getattr(getattr(contrasts[0], "explained", None), "Z", None))
    is_kept = len(data.weight) * COLUMNS_OF_A_TERM <= kept_numbers()
    return is_kept and not isinstance(Z, LazyColumns)


def sums_per_term(data: Design, terms: Codes, contrasts: list[KnownContrast]) -> float:
    """How many numbers the sums of one term are, at most."""
    k = data.is_low.shape[1] ** min(terms.shape[1], 2) + N_SINGLE
    widest = int(data.n_columns[terms].max())
    rows = k + terms.shape[1] * widest + 1
    # How wide the products with F are depends on the way it is kept; one column of zeros tells.
    moved = contrasts[0].explained.partial(np.zeros((1, 1, 1)), slice(0, 1)).shape[-1]
    return len(contrasts) * rows * (rows + 2.0 * moved + contrasts[0].residual.shape[1])


def _blocks_of_a_kind(data: Design, terms: Codes, n: int, n_sets: int) -> Iterator[Codes]:
    """Positions of terms that are all wide or all narrow, so many that n rows fit in memory.

    All terms of a block are padded to the widest. One nominal feature with 100 levels would
    make every pair of the table as wide as its own.
    """
    order, k = terms.shape[1], data.is_low.shape[1]
    is_wide = (data.n_own > N_FUNCTIONS) | (data.n_columns > MOST_ORDERED_COLUMNS)
    for kind in (False, True):
        positions = np.flatnonzero(is_wide[terms].any(axis=1) == kind)
        n_columns = k**2 + N_SINGLE + order * data.n_columns[terms[positions]].max(initial=0)
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
