"""What the user is told before a fit that takes long: how long, and what to do about it."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from immigrate.core.psd import WIDE, PsdPart
from immigrate.estimators._fitted import References
from immigrate.kernels.costs import pass_seconds

# From so many features on, and from so many seconds, the user is told.
WIDE_TABLE, LONG_WAIT = 500, 60.0
# Steps of a fit and of a path of sigma, roughly: 5 to 11, and 33 to 67, were counted.
STEPS_OF_FIT, STEPS_OF_PATH = 10, 50
# Projections onto the positive semi-definite cone that one step takes.
PROJECTIONS = {"psd": 1, "clip": 1, "nonnegative": 0, "both": 50}
# The projection of a step against that of a small matrix. Measured at 600, 1000, 2000 features.
PROJECTION_SHARE = 0.7


def say_if_long(references: References, constraint: str, n_steps: int, n_threads: int) -> None:
    """One line in the log before a fit that will take long, with the remedy."""
    from immigrate.kernels.compiling import log_once

    n_features = len(references.encoding.owner)
    n = len(references.codes)
    # Of two samples that are anchor and reference of one another one pair serves both.
    n_pairs = len(references.anchor_codes) * (n if references.is_anchor is not None else n / 2)
    in_passes = n_steps * pass_seconds(n_pairs, n_features**2) / n_threads
    in_projections = n_steps * PROJECTIONS[constraint] * seconds_of_projection(n_features)
    words = words_for(in_passes + in_projections)
    if n_features >= WIDE_TABLE:
        log_once(
            f"immigrate: {n_features} features make {n_features * (n_features + 1) // 2:,} "
            f"weights: about {words}. screen='im4e' lets the strongest features enter only; "
            "verbose=True shows the steps."
        )
    elif in_passes + in_projections > LONG_WAIT:
        log_once(
            f"immigrate: {n:,} samples and {n_features} features: about {words}. "
            "solver=Descent(n_anchors=4000, n_references=4000) looks at a sample of them; "
            "n_jobs=-1 uses all cores; verbose=True shows the steps."
        )


def seconds_of_projection(n_features: int) -> float:
    """Estimated from how fast this machine is at a small one; next to nothing below its size."""
    if n_features < WIDE:
        return 0.0
    return PROJECTION_SHARE * (n_features / WIDE) ** 3 * seconds_of_small_projection()


@cache
def seconds_of_small_projection() -> float:
    """The best of three: the first call wakes up threads."""
    A = np.random.default_rng(0).standard_normal((WIDE, WIDE))
    A = A + A.T
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        PsdPart(A).matrix()
        taken.append(time.perf_counter() - start)
    return min(taken)


def words_for(seconds: float) -> str:
    """A length of time as people say it.

    Examples
    --------
    >>> from immigrate.estimators.waiting import words_for
    >>> [words_for(seconds) for seconds in (0.2, 8.4, 72, 500, 9000)]
    ['1 s', '8 s', '70 s', '8 min', '2 h']
    """
    if seconds < 100:
        return f"{max(float(f'{seconds:.1g}'), 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.0f} h"
