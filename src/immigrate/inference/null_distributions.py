"""Moved to `additive.p_values`."""

# shim: goes when nobody imports it
# ruff: noqa
from immigrate.additive.p_values import (
    BODY_STARTS_AT as BODY_STARTS_AT,
    FRACTION_DEPTH as FRACTION_DEPTH,
    LARGEST_P as LARGEST_P,
    NEWTON_STEPS as NEWTON_STEPS,
    SMALLEST_DIRECT_P as SMALLEST_DIRECT_P,
    SMALL_P as SMALL_P,
    _log_far_tail as _log_far_tail,
    cauchy_combination as cauchy_combination,
    log_chi2_tail as log_chi2_tail,
    log_saddlepoint_tail as log_saddlepoint_tail,
    log_three_moment_tail as log_three_moment_tail,
)
