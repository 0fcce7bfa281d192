"""What the user is told before a fit that takes long: how long, and what to do about it."""

from __future__ import annotations

import time
from functools import cache

import numpy as np

from immigrate.core.psd import WIDE, PsdPart

# From so many features on a path of sigma takes seconds.
WIDE_TABLE = 500
# Steps of a fit and of a path of sigma, roughly: 5 to 11, and 33 to 67, were counted.
STEPS_OF_FIT, STEPS_OF_PATH = 10, 50
# Projections onto the positive semi-definite cone that one step takes.
PROJECTIONS = {"psd": 1, "clip": 1, "nonnegative": 0, "both": 50}
# A step against the projection of a small matrix: its own projection grows with the cube of the
# features, its pass with the squares of samples and features. Measured at 60 x 600, 1000, 2000.
PROJECTION_SHARE, PAIRS_PER_PROJECTION = 0.7, 2.4e8


def say_if_wide(n_samples: int, n_features: int, constraint: str) -> None:
    """One line in the log before a fit that will take long, with the remedy."""
    from immigrate.kernels.compiling import log_once

    if n_features < WIDE_TABLE:
        return
    step = seconds_of_step(n_samples, n_features, constraint)
    log_once(
        f"immigrate: {n_features} features make {n_features * (n_features + 1) // 2:,} weights: "
        f"about {words_for(STEPS_OF_FIT * step)} for a fit, {words_for(STEPS_OF_PATH * step)} "
        "for a path of sigma. screen='im4e' lets the strongest features enter only; verbose=True "
        "shows the steps."
    )


def seconds_of_step(n_samples: int, n_features: int, constraint: str) -> float:
    """Estimated from the shape and from how fast this machine is at a small projection."""
    projection = PROJECTION_SHARE * (n_features / WIDE) ** 3 * PROJECTIONS[constraint]
    pairs = (float(n_samples) * n_features) ** 2 / PAIRS_PER_PROJECTION
    return seconds_of_small_projection() * (projection + pairs)


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
