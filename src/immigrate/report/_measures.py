"""Measures of predictions with their 95 % intervals, and the curves that are drawn.

Intervals are over the samples that were held out. They do not know how much the model itself
would differ with other samples to learn from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats
from sklearn.metrics import confusion_matrix, roc_auc_score, roc_curve

from immigrate.arrays import Array, Codes
from immigrate.report._folds import SEED, HeldOut

LEVEL = 0.95
N_DRAWS = 4_000
# A curve with more corners looks the same.
MOST_CORNERS = 120
N_BINS = 10
Measure = dict[str, float]


def measures(found: HeldOut) -> dict[str, Measure]:
    """Accuracy, balanced accuracy and AUC, each with the ends of its interval."""
    return {
        "accuracy": accuracy(found.codes, found.predicted),
        "balanced_accuracy": balanced_accuracy(found.codes, found.predicted),
        "auc": mean_auc(found.codes, found.probability),
    }


def accuracy(codes: Codes, predicted: Codes) -> Measure:
    """Share of right predictions, with Jeffreys' interval.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report._measures import accuracy
    >>> {name: round(x, 2) for name, x in accuracy(np.arange(9), np.arange(9)).items()}
    {'value': 1.0, 'low': 0.76, 'high': 1.0}
    """
    right, n = int(np.sum(codes == predicted)), len(codes)
    low, high = stats.beta.interval(LEVEL, right + 0.5, n - right + 0.5)
    # At its ends the interval reaches to the end.
    return _measure(right / n, 0.0 if right == 0 else low, 1.0 if right == n else high)


def balanced_accuracy(codes: Codes, predicted: Codes) -> Measure:
    """Mean over the classes of the share that is recognised; the interval by Jeffreys' draws."""
    table = confusion_matrix(codes, predicted)
    right, n = np.diag(table), table.sum(axis=1)
    right, n = right[n > 0], n[n > 0]
    rng = np.random.default_rng(SEED)
    draws = rng.beta(right + 0.5, n - right + 0.5, size=(N_DRAWS, len(n))).mean(axis=1)
    value = float(np.mean(right / n))
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Where all are right the draws lie below the value; the interval is to hold it.
    return _measure(value, min(low, value), max(high, value))


def mean_auc(codes: Codes, probability: Array) -> Measure:
    """Area under the ROC curve; with more classes the mean of each against the rest.

    The interval is that of DeLong et al. (1988) on the logit scale, from what each sample
    contributes to the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report._measures import mean_auc
    >>> found = mean_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]))
    >>> found["value"]
    0.5
    """
    n_classes = probability.shape[1]
    # A class of which no sample was held out has no curve.
    shown = [1] if n_classes == 2 else [c for c in range(n_classes) if np.any(codes == c)]
    areas = [_auc_and_shares(codes == c, probability[:, c]) for c in shown]
    value = float(np.mean([area for area, _ in areas]))
    shares = np.mean([share for _, share in areas], axis=0)
    # On the logit scale 0 and 1 are infinitely far away.
    if not 0 < value < 1:
        # As many in a row as the smallest class has samples: the bound for a share of 0 or 1.
        n = int(np.bincount(codes)[np.unique(codes)].min())
        bound = ((1 - LEVEL) / 2) ** (1 / n)
        return _measure(value, bound, 1.0) if value else _measure(value, 0.0, 1 - bound)
    reach = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(np.sum(shares**2)) / (value * (1 - value))
    low, high = special.expit(special.logit(value) + np.array([-reach, reach]))
    return _measure(value, low, high)


def _auc_and_shares(is_in: Any, score: Array) -> tuple[float, Array]:
    """An area, and what each sample's place adds to its deviation from the true one."""
    n_in, n_out = int(is_in.sum()), int((~is_in).sum())
    rank, share = stats.rankdata(score), np.zeros(len(score))
    area = float(roc_auc_score(is_in, score))
    # Of each sample the share of the other side that it is rightly above, or below.
    share[is_in] = ((rank[is_in] - stats.rankdata(score[is_in])) / n_out - area) / n_in
    share[~is_in] = (1 - (rank[~is_in] - stats.rankdata(score[~is_in])) / n_in - area) / n_out
    return area, share


def _measure(value: float, low: float, high: float) -> Measure:
    return {"value": float(value), "low": float(low), "high": float(high)}


def roc_curves(found: HeldOut, labels: list[str]) -> list[dict[str, Any]]:
    """A ROC curve of the second of two classes, or of each of more against the rest."""
    shown = [1] if len(labels) == 2 else range(len(labels))
    curves = []
    for c in shown:
        false_rate, true_rate, _ = roc_curve(found.codes == c, found.probability[:, c])
        step = max(1, len(false_rate) // MOST_CORNERS)
        # The last corner is the end of the curve and stays.
        kept = np.unique(np.r_[np.arange(0, len(false_rate), step), len(false_rate) - 1])
        curves.append({"label": labels[c], "x": false_rate[kept], "y": true_rate[kept]})
    return curves


def calibration(found: HeldOut, labels: list[str]) -> list[dict[str, Any]]:
    """Of samples of like probability: the mean of it, and how often the class was the true one."""
    shown = [1] if len(labels) == 2 else range(len(labels))
    curves = []
    for c in shown:
        p, is_in = found.probability[:, c], found.codes == c
        # Bins of equal size, ten samples or more in each: of equal width some would be nearly
        # empty.
        parts = np.array_split(np.argsort(p, kind="stable"), min(N_BINS, max(1, len(p) // 10)))
        bins = [
            accuracy(is_in[part], np.ones(len(part), dtype=np.intp)) for part in parts if len(part)
        ]
        curves.append(
            {
                "label": labels[c],
                "x": [float(p[part].mean()) for part in parts if len(part)],
                "y": [one["value"] for one in bins],
                "low": [one["low"] for one in bins],
                "high": [one["high"] for one in bins],
            }
        )
    return curves
