import numpy as np
import pytest
from scipy import stats

from paper.statistics import logistic_p_values, paired_p_value, verdict

A = np.array([0.9, 0.8, 0.85, 0.95, 0.7])
B = np.array([0.8, 0.8, 0.75, 0.9, 0.72])


def test_paired_test_is_students():
    assert paired_p_value(A, B) == pytest.approx(stats.ttest_rel(A, B).pvalue)
    one_sided = stats.ttest_rel(A, B, alternative="greater").pvalue
    assert paired_p_value(A, B, alternative="greater") == pytest.approx(one_sided)


def test_corrected_test_by_hand():
    # d = .1, 0, .1, .05, -.02: mean .046, variance .0031 - by hand with 5 trials of 5 folds.
    difference = np.array([0.1, 0.0, 0.1, 0.05, -0.02])
    variance = ((difference - 0.046) ** 2).sum() / 4
    t = 0.046 / np.sqrt(variance * (1 / 5 + 1 / 4))
    assert paired_p_value(A, B, n_folds=5) == pytest.approx(2 * stats.t.sf(t, 4))


def test_correction_never_makes_a_difference_more_significant():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.normal(0.1, 1, 100), rng.normal(0, 1, 100)
        assert paired_p_value(a, b, n_folds=10) >= paired_p_value(a, b)


def test_verdicts_in_both_directions():
    noise = np.random.default_rng(0).normal(0, 0.1, 100)
    assert verdict(1 + noise, np.zeros(100)) == "win"
    assert verdict(np.zeros(100), 1 + noise) == "loss"
    assert verdict(noise - noise.mean(), np.zeros(100)) == "tie"


def test_constant_differences_have_no_variance_to_divide_by():
    assert verdict(np.ones(10), np.ones(10)) == "tie"
    assert verdict(np.ones(10), np.zeros(10)) == "win"
    assert verdict(np.zeros(10), np.ones(10), n_folds=10) == "loss"


def test_one_trial_decides_nothing():
    assert verdict([1.0], [0.0]) == "tie"


def test_logistic_p_value_of_one_binary_predictor_is_the_log_odds_ratio_test():
    # 30 of 40 against 15 of 35: Wald's test of log(OR) with variance 1/a + 1/b + 1/c + 1/d.
    x = np.repeat([0.0, 1.0], [40, 35])
    y = np.r_[np.ones(30), np.zeros(10), np.ones(15), np.zeros(20)]
    z = np.log((15 / 20) / (30 / 10)) / np.sqrt(1 / 30 + 1 / 10 + 1 / 15 + 1 / 20)
    p = logistic_p_values(np.column_stack([np.ones(75), x]), y)[1]
    assert p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-6)
