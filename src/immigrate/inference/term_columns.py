"""Moved to `additive.moments`."""

# shim: goes when nobody imports it
# ruff: noqa
from immigrate.additive.moments import (
    LEVEL_PENALTY as LEVEL_PENALTY,
    SMOOTH_PENALTY as SMOOTH_PENALTY,
    column_penalty as column_penalty,
    low_columns as low_columns,
    own_main_effects as own_main_effects,
    phi_products as phi_products,
    term_columns as term_columns,
    term_squares as term_squares,
)
