"""The search for terms: every pair or triple against one null model, then true ones one by one.

Where the exact statistics of all terms cost too much, an approximate one is computed for all of
them and the exact one for the strongest (`scan`). Adjusted p-values count all terms, and only
terms with an exact p-value can be found.

A feature correlated with one of a true pair forms a pair that departs from additivity too. Once
the true pair is part of the null model, this shadow has nothing left to explain: so the strongest
term is added to the null model and the others are tested again, until none is significant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import Design
from immigrate.additive.null_model import NullModel, with_term
from immigrate.additive.sizes import FirstOrder
from immigrate.arrays import Array, Codes, Mask
from immigrate.durations import SearchDuration, SearchSize, exceeds_exact_tests
from immigrate.interactions.adjustments import Adjustment, PValues
from immigrate.interactions.question import ORDER_NAMES, Question
from immigrate.interactions.scan import strongest_terms
from immigrate.interactions.statistics import TermResult, exact_results
from immigrate.progress import ALONE, Run, warn_user

# What is worth an exact p-value: approximate p below this, within these counts.
REFINED_BELOW = 1e-3
FEWEST_REFINED, MOST_REFINED = 1_000, 20_000
MOST_LISTED = 100_000
"""Terms that a round lists, the strongest."""
# The null model must not outgrow the data: 18 columns per pair, half the samples at most.
MOST_FOUND_COLUMNS_PER_SAMPLE = 0.5
MOST_FOUND = 50
# Westfall-Young p-values are fractions that can equal alpha.
ROUNDING = 1e-9


def silent(sentence: str) -> None:
    """Print nothing."""


@dataclass(frozen=True, eq=False)
class Search:
    """Which terms are tested, and how.

    Attributes
    ----------
    question : Question
    adjustment : Adjustment
    alpha : float
        Significance level of what is found.
    is_stepwise : bool
        Whether terms are found one by one.
    n_refined : int or None
        How many terms to test exactly after a scan of all; None leaves it to the p-values.
    run : Run
        Threads, and where progress is reported.
    say : callable
        Takes one sentence after each stage.
    """

    question: Question
    adjustment: Adjustment
    alpha: float
    is_stepwise: bool = True
    n_refined: int | None = None
    run: Run = ALONE
    say: Callable[[str], None] = silent


@dataclass(frozen=True, eq=False)
class Round:
    """Terms in order of evidence against one null model, those with an exact p-value first.

    Attributes
    ----------
    terms : ndarray of shape (t, order)
    statistic, log_p : ndarray of shape (t,)
    is_exact : ndarray of shape (t,)
    n_tests : int
        All terms that were tested, listed or not.
    n_untested : int
        Those that could not be tested, whose p-values are NaN.
    smallest_null_log_p : ndarray of shape (n_draws,)
    effects : FirstOrder
        Of the terms with an exact p-value; empty where they were not asked for.
    """

    terms: Codes
    statistic: Array
    log_p: Array
    is_exact: Mask
    n_tests: int
    n_untested: int
    smallest_null_log_p: Array
    effects: FirstOrder

    def log_p_adjusted(self, adjustment: Adjustment, n_found: int = 0) -> Array:
        """Logarithms of the adjusted p-values, NaN for terms without an exact p-value.

        `n_found` terms that are not in this round any more were found before.
        """
        adjusted = np.full(len(self.log_p), np.nan)
        is_known = self.is_exact & ~np.isnan(self.log_p)
        exact = self.log_p[is_known]
        p_values = PValues(exact, self.n_tests, self.smallest_null_log_p, n_found)
        adjusted[is_known] = adjustment.log_adjusted(p_values)
        return adjusted


@dataclass(frozen=True)
class Found:
    """A term and the evidence for it when it was found."""

    term: tuple[int, ...]
    statistic: float
    log_p: float
    log_p_adjusted: float


@dataclass(frozen=True, eq=False)
class TermEvidence:
    """All terms as the first round saw them, and those found in order of entry."""

    first: Round
    log_p_adjusted: Array
    found: list[Found]


def tested_terms(search: Search, model: NullModel) -> TermEvidence:
    """Statistics and p-values of all terms of the question; significant ones enter the model."""
    order = search.question.order
    if order == 3:
        model = one_by_one(search, model, first_round(search, model, Question()))[1]
        search.say(f"{len(model.terms)} pairs found and added to the null model")
    first = first_round(search, model, search.question)
    search.say(f"{first.n_tests} {ORDER_NAMES[order]}s tested")
    found = one_by_one(search, model, first)[0] if search.is_stepwise else at_once(search, first)
    search.say(f"{len(found)} {ORDER_NAMES[order]}s found")
    return TermEvidence(first, first.log_p_adjusted(search.adjustment), found)


def first_round(search: Search, model: NullModel, question: Question) -> Round:
    """Test the terms of a question against the model."""
    design, among = model.design, question.terms(model.design)
    n_tests = among.n_terms
    contrasts, count = model.contrasts(search.adjustment.draws), search.n_refined
    n, n_logits = design.outcome.Y.shape
    # A list of pairs is short, and is always tested exactly. F has no more rows than Z has
    # columns, and none more than there are samples.
    is_scanned = among.listed is None and (
        count is not None or exceeds_exact_tests(n_tests, n, min(model.Z.shape[1], n), n_logits)
    )
    if not is_scanned:
        terms = among.terms()
        result = exact_results(design, terms, contrasts, search.run, with_effects=among.order == 2)
        return _round_of(terms, result, np.ones(len(terms), dtype=bool), n_tests)
    if search.adjustment.draws is not None:
        raise ValueError(
            f"adjust={search.adjustment.name!r} needs the exact p-value of every term; with "
            f"screen set, or with as many as {n_tests} terms, only the strongest have one. Use "
            "adjust='holm', or fewer features."
        )
    # All that are refined are listed.
    n_listed = max(MOST_LISTED, count or MOST_REFINED)
    scanned = strongest_terms(design, contrasts, among, n_listed, search.run)
    if count is None:
        n_small = int(np.sum(scanned.log_p < np.log(REFINED_BELOW)))
        count = int(np.clip(n_small, FEWEST_REFINED, MOST_REFINED))
    terms = scanned.terms[:count]
    exact = exact_results(design, terms, contrasts, search.run, with_effects=among.order == 2)
    result = TermResult(
        statistic=np.concatenate([exact.statistic, scanned.statistic[count:]]),
        log_p=np.concatenate([exact.log_p, scanned.log_p[count:]]),
        smallest_null_log_p=exact.smallest_null_log_p,
        effects=exact.effects,
    )
    return _round_of(scanned.terms, result, np.arange(len(scanned.terms)) < count, n_tests)


def _round_of(terms: Codes, result: TermResult, is_exact: Mask, n_tests: int) -> Round:
    """The terms in order of evidence, those with an exact p-value first."""
    # The last key is the first to count: exact p-values come before approximate ones, and those
    # that are NaN last among them.
    order = np.lexsort((result.log_p, ~is_exact))
    n_untested = int(np.isnan(result.log_p).sum())
    effects = result.effects
    own = order[: len(effects.gain)]
    return Round(
        terms=terms[order],
        statistic=result.statistic[order],
        log_p=result.log_p[order],
        is_exact=is_exact[order],
        n_tests=n_tests - n_untested,
        n_untested=n_untested,
        smallest_null_log_p=result.smallest_null_log_p,
        effects=FirstOrder(effects.forms[:, own], effects.gain[own]),
    )


def one_by_one(search: Search, model: NullModel, tested: Round) -> tuple[list[Found], NullModel]:
    """Add the strongest term to the null model and test again, until none is significant.

    Terms without an exact p-value in the first round are not tried. Warns where a limit ends the
    search before nothing is left at alpha.
    """
    found: list[Found] = []
    n_columns = model.Z.shape[1]
    # Sorted by evidence, so that NaN at the head means that nothing could be tested.
    while len(tested.terms) and tested.is_exact[0] and not np.isnan(tested.log_p[0]):
        adjusted = float(tested.log_p_adjusted(search.adjustment, len(found))[0])
        # The list is sorted: if the first is not significant, none is.
        if adjusted > np.log(search.alpha) + ROUNDING:
            break
        term, statistic = tuple(tested.terms[0].tolist()), float(tested.statistic[0])
        found.append(Found(term, statistic, float(tested.log_p[0]), adjusted))
        model = with_term(model, term)
        limit = ""
        if len(found) == MOST_FOUND:
            limit = f"{MOST_FOUND} terms were found"
        elif model.Z.shape[1] - n_columns > MOST_FOUND_COLUMNS_PER_SAMPLE * model.design.n:
            limit = "the null model would outgrow the samples"
        if limit:
            warn_user(
                f"The stepwise search ended because {limit}; there may be more significant terms: "
                "see table_, or use stepwise=False.",
                UserWarning,
            )
            break
        # Approximate p-values are not computed again: these terms cannot be found any more.
        is_left = tested.is_exact & (np.arange(len(tested.terms)) > 0)
        # All that are left, those that could not be tested before as well.
        terms, n_left = tested.terms[is_left], tested.n_tests + tested.n_untested - 1
        if not len(terms):
            break
        # The term that was found is no test any more; all others still count, listed or not.
        contrasts = model.contrasts(search.adjustment.draws)
        result = exact_results(model.design, terms, contrasts, search.run)
        tested = _round_of(terms, result, np.ones(len(terms), dtype=bool), n_left)
    return found, model


def at_once(search: Search, tested: Round) -> list[Found]:
    """All terms that are significant in one round."""
    adjusted = tested.log_p_adjusted(search.adjustment)
    which = np.flatnonzero(adjusted <= np.log(search.alpha) + ROUNDING)
    rows = zip(*(x[which].tolist() for x in (tested.statistic, tested.log_p, adjusted)))
    return [Found(tuple(term), *row) for term, row in zip(tested.terms[which].tolist(), rows)]


def predicted_duration(search: Search, design: Design) -> SearchDuration:
    """How long a test will take, from the shape of the data alone."""
    n, n_logits = design.outcome.Y.shape
    m = int(design.n_columns.sum())
    n_terms = search.question.terms(design).n_terms
    # With more columns than that the features are screened.
    m = min(m, n // 2 + 1)
    count = search.n_refined
    is_scanned = count is not None or exceeds_exact_tests(n_terms, n, m, n_logits)
    few = max(FEWEST_REFINED, REFINED_BELOW * n_terms) if count is None else count
    size = SearchSize(
        n_samples=n,
        n_logits=n_logits,
        n_features=len(design.levels),
        n_columns=m,
        n_functions=design.is_low.shape[1],
        n_single=N_SINGLE,
        n_terms=float(n_terms),
        n_exact=min(float(n_terms), few) if is_scanned else float(n_terms),
        is_scanned=is_scanned,
    )
    return size.duration(effective_n_jobs(search.run.n_jobs))
