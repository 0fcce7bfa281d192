"""True terms one by one, so that their shadows vanish.

A feature correlated with one of a true pair forms a pair that departs from additivity too.
Once the true pair is part of the null model, its shadow has nothing left to explain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immigrate.additive.design import Design, term_squares
from immigrate.additive.null_model import NullModel, with_term
from immigrate.additive.sizes import no_effects
from immigrate.inference.search import Search, Study, exact_results, sorted_search
from immigrate.inference.term_statistics import TermResult

# The null model must not outgrow the data: 18 columns per pair, half the samples at most.
MOST_FOUND_COLUMNS_PER_SAMPLE = 0.5
MOST_FOUND = 50
# Westfall-Young p-values are fractions that can equal alpha.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Found:
    """A term and the evidence for it when it entered the model."""

    term: tuple[int, ...]
    statistic: float
    log_p: float
    log_p_adjusted: float


@dataclass(frozen=True)
class Stepwise:
    """Terms in order of entry, the null model that holds them all, and why no more were sought.

    `limit` is empty where nothing was left at alpha.
    """

    found: list[Found]
    model: NullModel
    limit: str = ""


def stepwise_terms(study: Study, model: NullModel, search: Search, alpha: float) -> Stepwise:
    """Add the strongest term to the null model and test again, until none is significant.

    Terms that were not tested exactly in `search` are not tried.
    """
    found: list[Found] = []
    n_columns = model.Z.shape[1]
    while len(search.terms) and search.is_exact[0]:
        first = _first(search, float(search.log_p_adjusted(study.adjustment, len(found))[0]))
        # The list is sorted: if the first is not significant, none is.
        if first.log_p_adjusted > np.log(alpha) + ROUNDING:
            break
        found.append(first)
        model = with_term(model, first.term)
        if len(found) == MOST_FOUND:
            return Stepwise(found, model, f"{MOST_FOUND} terms were found")
        if model.Z.shape[1] - n_columns > MOST_FOUND_COLUMNS_PER_SAMPLE * study.data.n:
            return Stepwise(found, model, "the null model would outgrow the samples")
        search = _retested(study, model, search)
    return Stepwise(found, model)


def found_at_once(study: Study, search: Search, alpha: float) -> list[Found]:
    """All terms that are significant in one search."""
    adjusted = search.log_p_adjusted(study.adjustment)
    is_found = adjusted <= np.log(alpha) + ROUNDING
    return [
        Found(
            tuple(search.terms[i].tolist()),
            float(search.statistic[i]),
            float(search.log_p[i]),
            float(adjusted[i]),
        )
        for i in np.flatnonzero(is_found)
    ]


def measurable_terms(data: Design, found: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """As many of the pairs found, the first ones, as the samples can measure together.

    One by one no more are found; all at once there may be hundreds, most of them shadows.
    """
    if not found or len(found[0]) != 2:
        return []
    # Columns that are 0 for all samples are none.
    squares = [term_squares(data, np.array([pair]))[0] for pair in found[:MOST_FOUND]]
    n_columns = np.cumsum([np.sum(own > 0) for own in squares])
    n_measured = int(np.sum(n_columns <= MOST_FOUND_COLUMNS_PER_SAMPLE * data.n))
    return found[: max(n_measured, 1)]


def _first(search: Search, log_p_adjusted: float) -> Found:
    term = tuple(search.terms[0].tolist())
    return Found(term, float(search.statistic[0]), float(search.log_p[0]), log_p_adjusted)


def _retested(study: Study, model: NullModel, search: Search) -> Search:
    """The terms other than the first, tested against the grown model."""
    # Approximate p-values are not computed again: these terms cannot be found any more.
    is_left = search.is_exact.copy()
    is_left[0] = False
    terms, is_exact = search.terms[is_left], search.is_exact[is_left]
    if not len(terms):
        nothing = TermResult(np.empty(0), np.empty(0), np.empty(0), no_effects(0))
        return sorted_search(terms, nothing, is_exact, 0)
    contrasts = model.contrasts(study.adjustment.draws)
    result = exact_results(study, terms, contrasts)
    # The term that was found is no test any more; all others still count, listed or not.
    return sorted_search(terms, result, is_exact, search.n_tests - 1)
