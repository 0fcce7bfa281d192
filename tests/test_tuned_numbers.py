"""Numbers that were chosen by measurement: a slip of a digit changes answers, and breaks nothing.

Whoever changes one of them on purpose measures again what is named beside it, and changes it here.
"""

from __future__ import annotations

import importlib

import pytest

TUNED = {
    # benchmarks/choices/sigma_multiples.py and sigma_selection.py, docs/deviations.md
    "margin.sigma": {
        "AUTO_MULTIPLE": 0.125,
        "AUTO_MULTIPLES": (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125),
        "PAPER_GRID": (4.0, 2.0, 1.0, 0.5, 0.25, 0.125),
        "MOST_ANCHORS": 64,
        "MOST_NEIGHBOURS": 512,
    },
    # benchmarks/detection: family-wise error in the null scenarios, and power
    "additive.null_model": {
        "ROUGH_BELOW": 0.01,
        "SHARE_IN_REFIT": 0.2,
        "EVIDENT_SHARE_IN_REFIT": 0.01,
        "EVIDENT_BELOW": 0.01,
        "EVIDENT_BY_CHANCE": 0.15,
        "MOST_COLUMNS_PER_SAMPLE": 0.5,
        "SCREENED_COUNTS": (3, 6, 10, 20, 40, 80, 160),
        "FOUND_TERM_STRENGTH": 0.3,
    },
    "additive.basis": {
        "N_FUNCTIONS": 4,
        "N_SMOOTH": 2,
        "MOST_LEVELS_AS_EIGENVECTORS": 6,
        "MOST_NOMINAL_GROUPS": 10,
        "FEWEST_SAMPLES_PER_GROUP": 6,
        "FEWEST_OF_ALL": 3,
        "MOST_NOMINAL_DUMMIES": 100,
        "LARGEST_Z": 4.0,
        "SQUARE_PENALTY": 4.0,
        "FEWEST_COSINES": 4,
        "MOST_COSINES": 12,
        "SAMPLES_PER_LEVEL": 40,
        "MOST_LEVELS": 12,
        "SAMPLES_PER_ROUGH_COSINE": 50,
        "FEWEST_ROUGH_COSINES": 8,
        "FEWEST_SAMPLES_PER_COSINE": 20,
        "SAMPLES_PER_ROUGH_LEVEL": 15,
        "MOST_ROUGH_LEVELS": 30,
    },
    "interactions.features": {"LIGHTER": 0.1, "MOST_EXPLAINED": 0.95},
    "additive.moments": {
        "MOST_EXPLAINED": 0.99,
        "LARGEST_KURTOSIS": 1.0,
        "SMALLEST_MAIN_EFFECT": 1e-6,
    },
    "additive.p_values": {
        "TAIL_STARTS_AT": 0.01,
        "SMALLEST_RELATIVE_EIGENVALUE": 1e-6,
        "LARGEST_P": 0.999,
        "BODY_STARTS_AT": 0.2,
    },
    "additive.residuals": {"LARGEST_SCALE": 10.0},
    # benchmarks/detection/number_outcomes.py
    "additive.estimated": {
        "SMALLEST_SHARE_LEFT": 0.3,
        "FEWEST_FOR_SCORE": 20,
        "FEWEST_FOR_KERNEL": 60,
        "FEWEST_LEFT": 1.0,
        "TAIL_STARTS_AT": 0.01,
    },
    "additive.levels": {
        "SAMPLES_PER_GROUP": 30,
        "FEWEST_GROUPS": 2,
        "MOST_GROUPS": 6,
        "MOST_NOMINAL_GROUPS": 10,
    },
    "additive.typos": {"FAR": 20.0, "GAP": 3.0, "CLIPPED_AT": 2.0, "ROUNDS": 20},
    "additive.ridge": {
        "INTERCEPT_PENALTY": 1e-3,
        "CONJUGATE_TOLERANCE": 1e-6,
        "STRENGTHS": (400.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3),
        "CROSS_VALIDATION_TOLERANCE": 1e-4,
        "MOST_IN_FOLDS": 20_000,
    },
    # benchmarks/detection/evidence.py: coverage of the intervals
    "additive.effects": {
        "EVIDENT_SHARE": 0.1,
        "OWN_SHARE": 0.01,
        "FEWEST_LEFT": 0.5,
        "SMALLEST_LEFT": 0.1,
    },
    "additive.sizes": {"CONFIDENCE": 0.95, "SMOOTH_PENALTY": 1.0, "LEVEL_PENALTY": 0.3},
    "interactions.findings": {"POWER": 0.8, "N_FORMS": 4, "ESTIMATED_VARIANCE": 1.18},
    # benchmarks/size/test_at_size.py: what is screened, how fast the stages are
    "interactions.search": {
        "REFINED_BELOW": 1e-3,
        "FEWEST_REFINED": 1_000,
        "MOST_REFINED": 20_000,
        "MOST_LISTED": 100_000,
        "MOST_FOUND_COLUMNS_PER_SAMPLE": 0.5,
        "MOST_FOUND": 50,
    },
    "interactions.scan": {
        "SELECTIVE_FROM": 20,
        "NOTABLE": 2.0,
        "NOTABLE_SINGLE": 4.0,
        "LIMITS_FROM": 0.15,
    },
    "interactions.scan_tiles": {"KERNEL_MARGIN": 0.02},
    "durations": {
        "MOST_EXACT_WORK": 1e10,
        "MOST_EXACT_TERMS": 200_000,
        "FIT_SHARE": 0.2,
        "SCAN_SHARE": 0.6,
        "EXACT_SHARE": 0.2,
        "NULL_MODEL_PASSES": 40,
        "EXACT_ROUNDS": 2,
        "FEWEST_OPERATIONS": 1e11,
    },
    # docs/measurements/robustness.md: wide tables, both cones
    "core.psd": {"WIDE": 256, "FEW": 1 / 8},
    "core.cones": {"NEGLIGIBLE": 1e-10},
    "core.couplings": {"MOST_MIXING_STEPS": 200, "SMALL_SHARE_CHANGE": 1e-5},
    # benchmarks/speed/solver_passes.py
    "solvers.descent": {"STEP_CUT": 4.0, "MAX_CUTS": 20},
}


@pytest.mark.parametrize("module", TUNED)
def test_a_tuned_number_is_what_was_measured(module):
    found = importlib.import_module(f"immigrate.{module}")
    assert {name: getattr(found, name) for name in TUNED[module]} == TUNED[module]
