"""How long a pass takes, roughly, before it is run.

``benchmarks/speed/cost_model.py`` measures such formulas with care. Here one line is enough to cut
the work into parts, to decide between all pairs and a sample of them, and to warn of minutes.
"""

from __future__ import annotations

# Seconds of one core of a middling machine: per pair of samples, and per pair and weight.
SECONDS_PER_PAIR = 5e-9
SECONDS_PER_WEIGHT = 5e-11


def pass_seconds(n_pairs: float, n_weights: int) -> float:
    """Seconds of one core for a pass over so many pairs with so many weights.

    Examples
    --------
    >>> from immigrate.kernels.costs import pass_seconds
    >>> round(pass_seconds(10_000**2 / 2, 20 * 20), 2)
    1.25
    """
    return n_pairs * (SECONDS_PER_PAIR + SECONDS_PER_WEIGHT * n_weights)
