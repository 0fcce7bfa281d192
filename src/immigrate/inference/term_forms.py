"""Moved to `additive.p_values`."""

# shim: goes when nobody imports it
# ruff: noqa
from immigrate.additive.p_values import (
    SMALLEST_RELATIVE_EIGENVALUE as SMALLEST_RELATIVE_EIGENVALUE,
    TAIL_STARTS_AT as TAIL_STARTS_AT,
    FormResult as FormResult,
    combined_log_p as combined_log_p,
    form_results as form_results,
    kernel_log_p as kernel_log_p,
    score_log_p as score_log_p,
)
