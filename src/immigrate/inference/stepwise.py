"""True terms one by one, so that their shadows vanish.

A feature correlated with one of a true pair forms a pair that departs from additivity too.
Once the true pair is part of the null model, its shadow has nothing left to explain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from immigrate.inference.additive import AdditiveModel, Draws, with_term
from immigrate.inference.encoding import Encoded
from immigrate.inference.search import Effort, Search, exact_results
from immigrate.typing import Array

# The null model must not outgrow the data: 18 columns per pair, half the samples at most.
MOST_FOUND_COLUMNS_PER_SAMPLE = 0.5
MOST_FOUND = 50
# Westfall-Young p-values are fractions that can equal the level.
ROUNDING = 1e-9

Adjustment = Callable[[Search, int], Array]
"""From a search, and how many terms were found before, to the log of its adjusted p-values."""


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

    `limit` is empty where nothing was left at the level.
    """

    found: list[Found]
    model: AdditiveModel
    limit: str = ""


def stepwise_terms(
    data: Encoded,
    model: AdditiveModel,
    search: Search,
    adjusted: Adjustment,
    log_alpha: float,
    effort: Effort,
    draws: Draws | None = None,
) -> Stepwise:
    """Add the strongest term to the null model and test again, until none is significant.

    Terms that were not tested exactly in `search` are not tried.
    """
    found: list[Found] = []
    n_columns = model.Z.shape[1]
    while len(search.terms) and search.is_exact[0]:
        first = Found(
            tuple(search.terms[0].tolist()),
            float(search.statistic[0]),
            float(search.log_p[0]),
            float(adjusted(search, len(found))[0]),
        )
        if first.log_p_adjusted > log_alpha + ROUNDING:
            break
        found.append(first)
        model = with_term(model, data, first.term)
        if len(found) == MOST_FOUND:
            return Stepwise(found, model, f"{MOST_FOUND} terms were found")
        if model.Z.shape[1] - n_columns > MOST_FOUND_COLUMNS_PER_SAMPLE * data.n:
            return Stepwise(found, model, "the null model would outgrow the samples")
        search = _retested(data, model, search, effort, draws)
    return Stepwise(found, model)


def _retested(
    data: Encoded, model: AdditiveModel, search: Search, effort: Effort, draws: Draws | None
) -> Search:
    """The terms other than the first, tested against the grown model."""
    is_left = search.is_exact.copy()
    is_left[0] = False
    terms = search.terms[is_left]
    if not len(terms):
        return Search(terms, np.empty(0), np.empty(0), np.empty(0, bool), 0, np.empty(0))
    result = exact_results(data, terms, model.contrasts(data, draws), effort)
    order = np.argsort(result.log_p, kind="stable")
    return Search(
        terms=terms[order],
        statistic=result.statistic[order],
        log_p=result.log_p[order],
        is_exact=np.ones(len(terms), dtype=bool),
        n_tests=search.n_tests - 1,
        smallest_null_log_p=result.smallest_null_log_p,
    )
