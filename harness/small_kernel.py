"""A compiled function that is kept like those of the library and compiled in a moment."""

from __future__ import annotations

from immigrate.kernels.compiling import jit, jit_cached


@jit
def square(x):
    """One term."""
    return x * x


@jit_cached
def sum_of_squares(values):
    """What a damaged cache must not change."""
    total = 0.0
    for x in values:
        total += square(x)
    return total
