"""Moved to `additive.moments`."""

# shim: goes when nobody imports it
# ruff: noqa
from immigrate.additive.moments import (
    LARGEST_KURTOSIS as LARGEST_KURTOSIS,
    MOST_EXPLAINED as MOST_EXPLAINED,
    SMALLEST_MAIN_EFFECT as SMALLEST_MAIN_EFFECT,
    USUAL_COLUMNS as USUAL_COLUMNS,
    Moments as Moments,
    Sums as Sums,
    cleared as cleared,
    moments_by_rows as moments_by_rows,
    moments_of as moments_of,
    sums_of as sums_of,
    with_uncertainty as with_uncertainty,
    without_untestable as without_untestable,
)
