"""What is said before a fit that takes long."""

from __future__ import annotations

from immigrate.durations import STEPS_OF_FIT as STEPS_OF_FIT
from immigrate.durations import STEPS_OF_PATH as STEPS_OF_PATH
from immigrate.durations import projection_seconds, words_of_long_fit
from immigrate.kernels import pass_seconds
from immigrate.margin.references import References


def say_if_long(references: References, constraint: str, n_steps: int, n_threads: int) -> None:
    """One line in the log before a fit that will take long, with the remedy."""
    n, n_features = len(references.codes), len(references.encoding.owner)
    # Of two samples that are anchor and reference of one another one pair serves both.
    n_pairs = len(references.anchor_codes) * (n if references.is_anchor is not None else n / 2)
    in_passes = pass_seconds(n_pairs, n_features**2) / n_threads
    seconds = n_steps * (in_passes + projection_seconds(constraint, n_features))
    words = words_of_long_fit(n, n_features, seconds)
    if words:
        from immigrate.kernels.compiling import log_once

        log_once(words)
