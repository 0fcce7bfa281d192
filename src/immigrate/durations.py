"""How long work will take, and from when on that is too long: every such threshold of the library.

Estimates are operations over the rate of this machine, or seconds of one core of a middling one
(:func:`immigrate.kernels.pass_seconds`). They decide between all and a sample, between exact
and approximate, and whether a user is told beforehand; an error of a factor of two does no harm.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

# Announced beforehand, with what makes it shorter.
LONG_SECONDS = 60.0
# With so many features a model without a screen is announced.
FEWEST_FEATURES_ANNOUNCED = 500
# A step of a fit up to this long, in seconds of one core, is taken over all pairs: some tens of
# seconds for a fit. And what the choice of sigma for prototypes may take.
MOST_STEP_SECONDS, MOST_JUDGING_SECONDS = 3.0, 10.0
# Below so many steps times (samples times columns) squared a fit takes seconds, and no estimate.
LEAST_WORK_ANNOUNCED = 1e10
# Steps of a fit and of a path of sigma, roughly: 5 to 11, and 33 to 67, were counted.
STEPS_OF_FIT, STEPS_OF_PATH = 10, 50
# Matrix products that take as long as one eigenvalue decomposition. Measured at 256 to 2,000
# features; smaller ones take next to nothing.
PROJECTION_PRODUCTS, FEWEST_FEATURES_PROJECTED = 5.0, 256

# Terms times samples times rows of F that are tested exactly: about ten seconds of one core.
MOST_EXACT_WORK = 1e10
MOST_EXACT_TERMS = 200_000
# Shares of the multiply rate at which the stages of a test run, measured with
# benchmarks/size/test_at_size.py.
FIT_SHARE, SCAN_SHARE, EXACT_SHARE = 0.2, 0.6, 0.2
# Passes over the columns of the null model: fits, refits, features left out, sizes.
NULL_MODEL_PASSES = 40
# Exact tests, and again beside a term that was found.
EXACT_ROUNDS = 2
# Fewer operations take seconds everywhere, and nothing is measured.
FEWEST_OPERATIONS = 1e11
PROBED_SIDE, N_PROBES = 384, 3


def in_words(seconds: float) -> str:
    """A length of time as people say it.

    Examples
    --------
    >>> from immigrate.durations import in_words
    >>> [in_words(seconds) for seconds in (0.2, 8.4, 72, 500, 9000)]
    ['1 s', '8 s', '70 s', '8 min', '2 h']
    """
    if seconds < 100:
        return f"{max(float(f'{seconds:.1g}'), 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"


def announce(name: str, seconds: float, advice: str) -> None:
    """One line on standard error, at once, if something will take more than a minute.

    Examples
    --------
    >>> from immigrate.durations import announce
    >>> announce("InteractionTest", 20.0, "n_jobs=-1 uses all cores")
    """
    if seconds > LONG_SECONDS:
        print(f"{name}: about {in_words(seconds)}; {advice}.", file=sys.stderr, flush=True)


def words_of_long_fit(
    n_samples: int, n_features: int, seconds: float, *, has_pairs: bool = True
) -> str:
    """What the log says before a fit that takes long, with the remedy; "" where it is short.

    Examples
    --------
    >>> from immigrate.durations import words_of_long_fit
    >>> words_of_long_fit(1000, 30, 8.0)
    ''
    """
    if has_pairs and n_features >= FEWEST_FEATURES_ANNOUNCED:
        return (
            f"immigrate: {n_features} features make {n_features * (n_features + 1) // 2:,} "
            f"weights: about {in_words(seconds)}. screen='im4e' lets the strongest features enter "
            "only; verbose=True shows the steps."
        )
    if seconds > LONG_SECONDS:
        return (
            f"immigrate: {n_samples:,} samples and {n_features} features: about "
            f"{in_words(seconds)}. solver=Descent(n_anchors=4000, n_references=4000) looks at a "
            "sample of them; n_jobs=-1 uses all cores; verbose=True shows the steps."
        )
    return ""


def projection_seconds(n_decompositions: int, n_features: int) -> float:
    """Seconds of one projection onto a set of weights, by its eigenvalue decompositions."""
    if not n_decompositions or n_features < FEWEST_FEATURES_PROJECTED:
        return 0.0
    return n_decompositions * PROJECTION_PRODUCTS * 2.0 * n_features**3 / multiply_rate()


def multiply_rate() -> float:
    """Float64 operations per second of a small matrix product on one core."""
    A, best = np.ones((PROBED_SIDE, PROBED_SIDE)), np.inf
    for _ in range(N_PROBES):
        start = time.perf_counter()
        # The fastest of several: the first one wakes up the caches.
        A @ A
        best = min(best, time.perf_counter() - start)
    return 2.0 * PROBED_SIDE**3 / max(best, 1e-9)


def exceeds_exact_tests(n_terms: float, n_samples: int, n_columns: int, n_logits: int) -> bool:
    """Whether there are too many terms to test each one exactly against so many columns."""
    work = n_terms * n_samples * n_columns * n_logits**2
    return n_terms > MOST_EXACT_TERMS or work > MOST_EXACT_WORK


@dataclass(frozen=True)
class SearchSize:
    """What decides how long a test of terms takes.

    Attributes
    ----------
    n_samples, n_logits, n_features : int
    n_columns : int
        Of the null model.
    n_functions, n_single : int
        Of each feature: those whose products are tested, and those of the other statistics.
    n_terms, n_exact : float
        All terms, and those that get an exact p-value.
    is_scanned : bool
        Whether an approximate statistic of all terms comes first.
    """

    n_samples: int
    n_logits: int
    n_features: int
    n_columns: int
    n_functions: int
    n_single: int
    n_terms: float
    n_exact: float
    is_scanned: bool

    def duration(self, n_workers: int) -> SearchDuration:
        """Predicted seconds of the stages; 0 where the operations are few on any machine."""
        n, n_logits, m = self.n_samples, self.n_logits, self.n_columns
        # The columns of a pair, and the main effects of its two features at their mean number.
        rows = self.n_functions**2 + self.n_single + 2 * m / max(self.n_features, 1)
        fit = NULL_MODEL_PASSES * 2.0 * n * m**2 * n_logits**2
        per_scanned = self.n_functions**2 + 1 + 2 * self.n_single
        scan = 2.0 * n * per_scanned * self.n_terms * n_logits if self.is_scanned else 0.0
        per_exact = 2.0 * n * rows * (rows + m * n_logits) * n_logits
        exact = EXACT_ROUNDS * per_exact * self.n_exact
        if fit + scan + exact < FEWEST_OPERATIONS:
            return SearchDuration()
        rate = multiply_rate() * n_workers
        return SearchDuration(
            fit / rate / FIT_SHARE, scan / rate / SCAN_SHARE, exact / rate / EXACT_SHARE
        )


@dataclass(frozen=True)
class SearchDuration:
    """Predicted seconds: the fit of the null model, the scan of all terms, the exact tests."""

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
