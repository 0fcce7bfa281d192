"""How well a model tells apart samples that it has not seen, and why it predicts as it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix, roc_curve

from immigrate.arrays import Array, Mask
from immigrate.progress import collected_warnings, print_line
from immigrate.report.folds import Fold, HeldOut, accuracy, baselines, predicted_folds, splits_of
from immigrate.report.input import Context, ReportInput, as_last_step_gets, last_step
from immigrate.scikit_learn import rows_of
from immigrate.table import ColumnWarning

SECTIONS = {"predictions": "Predictions"}
# Classes this unequal in size make accuracy say little.
IMBALANCE = 1.5
MOST_PARTS = 8
# A curve with more corners looks the same.
MOST_CORNERS = 120
N_BINS = 10


def summary(context: Context) -> dict[str, Any]:
    """Measures on held-out samples; None where a class is too small to hold some out."""
    given, codes = context.given, context.given.outcome.codes
    if given.outcome.numbers is not None:
        from immigrate.report.numbers import number_performance

        return {"performance": number_performance(context)}
    splits = splits_of(given)
    if splits is None:
        return {"performance": None}
    name, folds = type(context.model).__name__, []
    models = {name: context.estimator}
    for fold in predicted_folds(models, baselines, given, splits):
        folds.append(fold)
        if given.verbose:
            print_line(f"cross-validation: fold {len(folds)} of {len(splits)}")
    held_out = {method: HeldOut.of(folds, method, codes) for method in folds[0].probability}
    measures, found = {method: one.measures() for method, one in held_out.items()}, held_out[name]
    by_fold = [np.mean(fold.predicted(name) == codes[fold.test]) for fold in folds]
    counts, labels = np.bincount(codes), [str(label) for label in given.outcome.classes]
    methods = [{"name": one, "is_model": one == name, **measures[one]} for one in measures]
    # The second of two classes, or each of more against the rest.
    drawn = [1] if len(labels) == 2 else range(len(labels))
    curves = [(labels[c], found.codes == c, found.probability[:, c]) for c in drawn]
    return {
        "performance": {
            "n_folds": len(splits),
            "by_groups": given.groups is not None,
            "n_never_held_out": len(codes) - len(found.codes),
            **measures[name],
            "lowest": min(by_fold),
            "highest": max(by_fold),
            "largest_class": counts.max() / counts.sum(),
            "is_imbalanced": counts.max() > IMBALANCE * counts.min(),
            "labels": labels,
            "confusion": confusion_matrix(found.codes, found.predicted, labels=range(len(labels))),
            "roc": [roc(*curve) for curve in curves],
            "calibration": [calibration(*curve) for curve in curves],
            "methods": methods,
            "explained": explained_rows(given, folds[0], name),
        }
    }


def roc(label: str, is_in: Mask, p: Array) -> dict[str, Any]:
    """The ROC curve of a class against the rest."""
    false_rate, true_rate, _ = roc_curve(is_in, p)
    step = max(1, len(false_rate) // MOST_CORNERS)
    # The last corner is the end of the curve and stays.
    kept = np.unique(np.r_[np.arange(0, len(false_rate), step), len(false_rate) - 1])
    return {"label": label, "x": false_rate[kept], "y": true_rate[kept]}


def calibration(label: str, is_in: Mask, p: Array) -> dict[str, Any]:
    """Of samples of like probability: the mean of it, and how often the class was the true one."""
    # Bins of equal size, ten samples or more in each: of equal width some would be nearly empty.
    bins = np.array_split(np.argsort(p, kind="stable"), min(N_BINS, max(1, len(p) // 10)))
    true = pd.DataFrame([accuracy(is_in[own].astype(np.intp), np.ones_like(own)) for own in bins])
    found = {"y": true["value"], "low": true["low"], "high": true["high"]}
    return {"label": label, "x": [p[own].mean() for own in bins], **found}


def explained_rows(given: ReportInput, fold: Fold, name: str) -> list[dict[str, Any]]:
    """Some samples that the first fold holds out, each with what pulls it to its class."""
    model = last_step(fold.model)
    if not hasattr(model, "explain"):
        return []
    probability, codes = fold.probability[name], given.outcome.codes[fold.test]
    is_right = fold.predicted(name) == codes
    chosen = telling_rows(probability.max(axis=1), is_right)
    with collected_warnings(hidden=ColumnWarning):
        rows = as_last_step_gets(fold.model, rows_of(given.X, fold.test[chosen]))
        explanation = model.explain(rows)
    parts, explained = explanation.parts, []
    for k, i in enumerate(chosen):
        own = parts.loc[parts["row"] == k, ["feature_1", "feature_2", "kind", "part"]]
        largest: list[Any] = own.head(MOST_PARTS).to_dict("records")
        if len(own) > MOST_PARTS:
            rest = own["part"].iloc[MOST_PARTS:].sum()
            largest.append({"feature_1": None, "feature_2": None, "kind": "rest", "part": rest})
        why = "surest right" if is_right[i] else "surest wrong"
        explained.append(
            {
                "row": fold.test[i],
                "why": "least sure" if k == len(chosen) - 1 and k else why,
                "true": str(given.outcome.classes[codes[i]]),
                "predicted": str(explanation.predicted[k]),
                "against": str(explanation.against[k]),
                "margin": explanation.margin[k],
                "probability": probability[i].max(),
                "parts": largest,
                "n_parts": len(own),
            }
        )
    return explained


def telling_rows(sureness: np.ndarray, is_right: np.ndarray) -> list[int]:
    """The surest right prediction, the surest wrong one, and the least sure of all.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report.performance import telling_rows
    >>> telling_rows(np.array([0.9, 0.6, 0.8, 0.7]), np.array([True, True, False, False]))
    [0, 2, 1]
    """
    order = np.argsort(-sureness, kind="stable")
    right, wrong = order[is_right[order]], order[~is_right[order]]
    return list(dict.fromkeys([*right[:1].tolist(), *wrong[:1].tolist(), int(order[-1])]))
