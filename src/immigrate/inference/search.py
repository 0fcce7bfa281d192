"""Every pair or triple, tested against one null model.

Where the exact statistics of all terms cost too much, an approximate one is computed for all
of them and the exact one for the strongest. Adjusted p-values count all terms, and only terms
with an exact p-value can be found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from immigrate.additive.basis import N_SINGLE
from immigrate.additive.design import Design
from immigrate.additive.null_model import NullModel
from immigrate.additive.residuals import Contrast
from immigrate.additive.rows import ALONE, Run
from immigrate.additive.sizes import FirstOrder
from immigrate.arrays import Array, Codes, Mask
from immigrate.durations import SearchDuration, SearchSize, exceeds_exact_tests
from immigrate.inference.term_screen import ScreenedTerms, strongest_terms
from immigrate.inference.term_sets import TermSet
from immigrate.inference.term_statistics import TermResult, is_short, term_results
from immigrate.interactions.adjustments import Adjustment, PValues

# What is worth an exact p-value: approximate p below this, within these counts.
REFINED_BELOW = 1e-3
FEWEST_REFINED, MOST_REFINED = 1_000, 20_000
MOST_LISTED = 100_000
"""Terms that a search keeps, the strongest."""
MOST_CHUNKS, TERMS_PER_CHUNK = 16, 128


@dataclass(frozen=True)
class Effort:
    """How a search is run: none of it changes an exact p-value.

    Attributes
    ----------
    n_refined : int or None
        How many terms to test exactly after screening; None leaves it to the p-values.
    """

    n_refined: int | None = None
    run: Run = ALONE


@dataclass(frozen=True)
class Study:
    """What stays the same from the first search to the last: the data and how to treat them."""

    data: Design
    adjustment: Adjustment
    effort: Effort


@dataclass(frozen=True)
class Search:
    """Terms in order of evidence, those with an exact p-value first.

    Attributes
    ----------
    terms : ndarray of shape (t, order)
    statistic, log_p : ndarray of shape (t,)
    is_exact : ndarray of shape (t,)
    n_tests : int
        All terms that were tested, listed or not.
    smallest_null_log_p : ndarray of shape (n_draws,)
    effects : FirstOrder
        Of the terms with an exact p-value; empty where the search does not ask for them.
    """

    terms: Codes
    statistic: Array
    log_p: Array
    is_exact: Mask
    n_tests: int
    smallest_null_log_p: Array
    effects: FirstOrder

    def log_p_adjusted(self, adjustment: Adjustment, n_found: int = 0) -> Array:
        """Logarithms of the adjusted p-values, NaN for terms without an exact p-value.

        `n_found` terms that are not in this search any more were found before.
        """
        adjusted = np.full(len(self.log_p), np.nan)
        p_values = PValues(
            self.log_p[self.is_exact], self.n_tests, self.smallest_null_log_p, n_found
        )
        adjusted[self.is_exact] = adjustment.log_adjusted(p_values)
        return adjusted


def needs_screening(data: Design, model: NullModel, n_terms: int) -> bool:
    """Whether there are too many terms to test each one exactly."""
    # F has no more rows than Z has columns, and none more than there are samples.
    n_columns = min(model.Z.shape[1], len(data.weight))
    return exceeds_exact_tests(n_terms, len(data.weight), n_columns, model.means.shape[1])


def predicted_duration(
    data: Design, among: TermSet, n_refined: int | None, n_jobs: int | None
) -> SearchDuration:
    """How long a test will take, from the shape of the data alone."""
    n, n_logits = data.Y.shape
    m = sum(map(data.n_additive_columns, range(len(data.levels))))
    # With more columns than that the features are screened.
    m = min(m, n // 2 + 1)
    is_scanned = n_refined is not None or exceeds_exact_tests(among.n_terms, n, m, n_logits)
    few = max(FEWEST_REFINED, REFINED_BELOW * among.n_terms) if n_refined is None else n_refined
    size = SearchSize(
        n_samples=n,
        n_logits=n_logits,
        n_features=len(data.levels),
        n_columns=m,
        n_functions=data.is_low.shape[1],
        n_single=N_SINGLE,
        n_terms=float(among.n_terms),
        n_exact=min(float(among.n_terms), few) if is_scanned else float(among.n_terms),
        is_scanned=is_scanned,
    )
    return size.duration(effective_n_jobs(n_jobs))


def searched_terms(study: Study, model: NullModel, among: TermSet) -> Search:
    """Test the terms of a set against the model."""
    data, effort, draws = study.data, study.effort, study.adjustment.draws
    n_tests = among.n_terms
    contrasts = model.contrasts(draws)
    is_listed = among.listed is not None
    # A list of pairs is short, and is always tested exactly.
    if is_listed or (effort.n_refined is None and not needs_screening(data, model, n_tests)):
        terms = among.terms()
        result = exact_results(study, terms, contrasts, with_effects=among.order == 2)
        return sorted_search(terms, result, np.ones(len(terms), dtype=bool), n_tests)
    if draws is not None:
        raise ValueError(
            f"adjust={study.adjustment.name!r} needs the exact p-value of every term; with screen "
            f"set, or with as many as {n_tests} terms, only the strongest have one. Use "
            "adjust='holm', or fewer features."
        )
    # All that are refined are listed.
    n_listed = max(MOST_LISTED, effort.n_refined or MOST_REFINED)
    screened = strongest_terms(data, contrasts, among, n_listed, effort.run)
    return _refined(study, screened, contrasts, n_tests)


def exact_results(
    study: Study, terms: Codes, contrasts: list[Contrast], *, with_effects: bool = False
) -> TermResult:
    """`term_results`, in parallel over chunks that do not depend on the number of workers."""
    run = study.effort.run
    run.stage = f"exact tests of {len(terms):,} terms"
    if not is_short(study.data, contrasts):
        # Threads share the rows instead.
        return term_results(study.data, terms, contrasts, with_effects=with_effects)
    # Not by the number of workers: so the sums, and p-values to the last bit, do not depend on it.
    n_chunks = min(MOST_CHUNKS, len(terms) // TERMS_PER_CHUNK + 1)
    threads = Parallel(n_jobs=run.n_jobs, require="sharedmem", return_as="generator")
    parts = []
    for part in threads(
        delayed(term_results)(study.data, chunk, contrasts, with_effects=with_effects)
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


def _refined(
    study: Study, screened: ScreenedTerms, contrasts: list[Contrast], n_tests: int
) -> Search:
    """The strongest of the screened terms with their exact p-values, the rest as they are."""
    count = study.effort.n_refined
    if count is None:
        n_small = int(np.sum(screened.log_p < np.log(REFINED_BELOW)))
        count = int(np.clip(n_small, FEWEST_REFINED, MOST_REFINED))
    with_effects = screened.terms.shape[1] == 2
    exact = exact_results(study, screened.terms[:count], contrasts, with_effects=with_effects)
    result = TermResult(
        statistic=np.concatenate([exact.statistic, screened.statistic[count:]]),
        log_p=np.concatenate([exact.log_p, screened.log_p[count:]]),
        smallest_null_log_p=exact.smallest_null_log_p,
        effects=exact.effects,
    )
    is_exact = np.arange(len(screened.terms)) < count
    return sorted_search(screened.terms, result, is_exact, n_tests)


def sorted_search(terms: Codes, result: TermResult, is_exact: Mask, n_tests: int) -> Search:
    """The terms in order of evidence, those with an exact p-value first."""
    # The last key is the first to count: exact p-values come before approximate ones.
    order = np.lexsort((result.log_p, ~is_exact))
    effects = result.effects
    if len(effects.gain):
        effects = effects.taken(order[: len(effects.gain)])
    return Search(
        terms=terms[order],
        statistic=result.statistic[order],
        log_p=result.log_p[order],
        is_exact=is_exact[order],
        n_tests=n_tests,
        smallest_null_log_p=result.smallest_null_log_p,
        effects=effects,
    )
