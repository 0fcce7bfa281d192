"""Comparing two classifiers over the trials of a repeated cross-validation."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.special import expit

ALPHA = 0.05


def paired_p_value(a, b, *, n_folds=None, alternative="two-sided") -> float:
    """P value of Student's paired t-test of the trials `a` against `b`.

    With `n_folds`, Nadeau and Bengio's corrected resampled t-test: training sets of repeated
    k-fold cross-validation overlap, so that the variance of the mean difference is not s^2 / J
    but about s^2 (1 / J + 1 / (k - 1)), test size over training size being 1 / (k - 1).

    References
    ----------
    C. Nadeau, Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003.
    doi:10.1023/A:1024068626366
    """
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    n = len(difference)
    if n < 2:
        return float("nan")
    mean, variance = difference.mean(), difference.var(ddof=1)
    if variance <= 1e-30:
        # Every trial differs by the same amount: no doubt left, in one direction or none.
        t = np.sign(mean) * np.inf if abs(mean) > 1e-15 else 0.0
    else:
        overlap = 1 / (n_folds - 1) if n_folds else 0.0
        t = mean / np.sqrt(variance * (1 / n + overlap))
    if alternative == "greater":
        return float(stats.t.sf(t, n - 1))
    return float(2 * stats.t.sf(abs(t), n - 1))


def verdict(a, b, *, n_folds=None, alpha=ALPHA) -> str:
    """Whether `a` is a "win", a "tie" or a "loss" against `b`, in the paper's two steps.

    Section 4.2: first, no difference is tested two-sided; not rejected is a tie. Then
    one-sided: `a` wins if "a is no better than b" is rejected, and loses otherwise.
    """
    if not paired_p_value(a, b, n_folds=n_folds) < alpha:
        return "tie"
    better = paired_p_value(a, b, n_folds=n_folds, alternative="greater")
    return "win" if better < alpha else "loss"


def logistic_p_values(Z, y) -> np.ndarray:
    """Wald p values of the coefficients of a logistic regression on the columns of `Z`."""
    from paper.methods.logistic import maximum_likelihood

    Z = np.ascontiguousarray(Z, dtype=float)
    coef, _ = maximum_likelihood(Z, np.asarray(y, dtype=float))
    mu = expit(Z @ coef)
    covariance = np.linalg.inv((Z * (mu * (1 - mu))[:, None]).T @ Z)
    return 2 * stats.norm.sf(np.abs(coef) / np.sqrt(np.diag(covariance)))
