"""How long a test will take, before it starts: operations over the rate of this machine.

Three stages count: the fit of the null model, the scan of all terms by an approximate statistic,
and the exact statistics of the strongest. Each runs at a share of the rate of a matrix product.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from immigrate.inference.encoding import N_SINGLE, Encoded
from immigrate.inference.search import (
    FEWEST_REFINED,
    MOST_EXACT_TERMS,
    MOST_EXACT_WORK,
    REFINED_BELOW,
)
from immigrate.inference.term_sets import TermSet

# Shares of the multiply rate at which the stages run, measured with benchmarks/test_at_size.py.
FIT_SHARE, SCAN_SHARE, EXACT_SHARE = 0.2, 0.6, 0.2
# Passes over the columns of the null model: fits, refits, features left out, sizes.
PASSES = 40
# Exact tests, and again beside a term that was found.
ROUNDS = 2
# Fewer operations take seconds everywhere, and nothing is measured.
FEWEST_OPERATIONS = 1e11
PROBED_SIDE, N_PROBES = 384, 3


@dataclass(frozen=True)
class Duration:
    """Predicted seconds of the three stages."""

    fit: float = 0.0
    scan: float = 0.0
    exact: float = 0.0

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.fit + self.scan + self.exact

    @property
    def advice(self) -> str:
        """The parameter that makes the longest stage short."""
        longest = max(self.fit, self.scan, self.exact)
        if longest == self.scan:
            return "pairs= with the pairs that matter makes it short, n_jobs=-1 uses all cores"
        if longest == self.exact:
            return "screen= with a smaller number makes it short, n_jobs=-1 uses all cores"
        return "X with fewer rows makes it short, n_jobs=-1 uses all cores"


def multiply_rate() -> float:
    """Float64 operations per second of a small matrix product on one core."""
    A, best = np.ones((PROBED_SIDE, PROBED_SIDE)), np.inf
    for _ in range(N_PROBES):
        start = time.perf_counter()
        # The fastest of several: the first one wakes up the caches.
        A @ A
        best = min(best, time.perf_counter() - start)
    return 2.0 * PROBED_SIDE**3 / max(best, 1e-9)


def predicted_duration(
    data: Encoded, among: TermSet, n_refined: int | None, n_jobs: int | None
) -> Duration:
    """Seconds from the shape of the data alone, or 0 where they are few."""
    n, n_logits = data.Y.shape
    m = sum(map(data.n_additive_columns, range(len(data.levels))))
    # With more columns than that the features are screened.
    m = min(m, n // 2 + 1)
    k = data.functions.is_low.shape[1]
    # The columns of a pair, and the main effects of its two features at their mean number.
    rows = k**2 + N_SINGLE + 2 * m / max(len(data.levels), 1)
    fit = PASSES * 2.0 * n * m**2 * n_logits**2
    exact_terms, scan = float(among.n_terms), 0.0
    work = among.n_terms * n * m * n_logits**2
    if n_refined is not None or among.n_terms > MOST_EXACT_TERMS or work > MOST_EXACT_WORK:
        scan = 2.0 * n * (k**2 + 1 + 2 * N_SINGLE) * among.n_terms * n_logits
        few = max(FEWEST_REFINED, REFINED_BELOW * among.n_terms)
        exact_terms = min(exact_terms, few if n_refined is None else n_refined)
    exact = ROUNDS * 2.0 * exact_terms * n * rows * (rows + m * n_logits) * n_logits
    # Seconds at most, whatever the machine: its rate need not be measured.
    if fit + scan + exact < FEWEST_OPERATIONS:
        return Duration()
    rate = multiply_rate() * effective_n_jobs(n_jobs)
    return Duration(fit / rate / FIT_SHARE, scan / rate / SCAN_SHARE, exact / rate / EXACT_SHARE)
