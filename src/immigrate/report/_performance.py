"""How well a model tells apart samples that it has not seen, and why it predicts as it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import confusion_matrix
from sklearn.pipeline import Pipeline

from immigrate.progress import collected_warnings
from immigrate.report._baselines import baselines
from immigrate.report._folds import HeldOut, Split, held_out, never_held_out, splits_of
from immigrate.report._given import Given
from immigrate.report._measures import calibration, measures, roc_curves
from immigrate.scikit_learn import rows_of
from immigrate.table import ColumnWarning

# Classes this unequal in size make accuracy say little.
IMBALANCE = 1.5
MOST_PARTS = 8


def performance(
    given: Given, estimator: Any, cv: Any, *, n_jobs: int | None = None, verbose: bool = False
) -> dict[str, Any] | None:
    """Measures on held-out samples; None where a class is too small to hold some out."""
    splits = splits_of(given, cv)
    if splits is None:
        return None
    name = type(estimator[-1] if isinstance(estimator, Pipeline) else estimator).__name__
    said = "cross-validation of " if verbose else ""
    found = held_out(estimator, given, splits, n_jobs=n_jobs, said=said and said + name)
    counts = np.bincount(given.codes)
    others = {
        other: held_out(model, given, splits, n_jobs=n_jobs, said=said and said + other)
        for other, model in baselines(estimator).items()
    }
    return {
        "n_folds": len(splits),
        "by_groups": given.groups is not None,
        "n_never_held_out": int(never_held_out(given, splits).sum()),
        **measures(found),
        "lowest": float(found.by_fold.min()),
        "highest": float(found.by_fold.max()),
        "largest_class": float(counts.max() / counts.sum()),
        "is_imbalanced": bool(counts.max() > IMBALANCE * counts.min()),
        "labels": given.labels,
        "confusion": confusion_matrix(
            found.codes, found.predicted, labels=np.arange(len(given.classes))
        ).tolist(),
        "roc": roc_curves(found, given.labels),
        "calibration": calibration(found, given.labels),
        "methods": [
            {"name": name, "is_model": True, **measures(found)},
            *(
                {"name": other, "is_model": False, **measures(one)}
                for other, one in others.items()
            ),
        ],
        "explained": explained_rows(given, estimator, splits[0], found),
    }


def explained_rows(
    given: Given, estimator: Any, split: Split, found: HeldOut
) -> list[dict[str, Any]]:
    """Some samples that the first fold holds out, each with what pulls it to its class."""
    # One more fit of the first fold: the folds of the measures keep no models.
    train, test = split
    with collected_warnings(unsaid=ColumnWarning):
        model = clone(estimator).fit(rows_of(given.X, train), given.y[train])
        probability = model.predict_proba(rows_of(given.X, test))
        predicted = np.searchsorted(given.classes, model.predict(rows_of(given.X, test)))
        chosen = telling_rows(probability.max(axis=1), predicted == given.codes[test])
        rows = rows_of(given.X, test[chosen])
        last = model[-1] if isinstance(model, Pipeline) else model
        if not hasattr(last, "explain"):
            return []
        has_steps_before = last is not model and len(model) > 1
        explanation = last.explain(model[:-1].transform(rows) if has_steps_before else rows)
    parts = explanation.parts
    return [
        {
            "row": int(test[i]),
            "why": why,
            "true": str(given.classes[given.codes[test[i]]]),
            "predicted": str(explanation.predicted[k]),
            "against": str(explanation.against[k]),
            "margin": float(explanation.margin[k]),
            "probability": float(probability[i].max()),
            "parts": _largest_parts(parts[parts["row"] == k]),
            "n_parts": int(explanation.values.shape[1]),
            "words": explanation.summary(k),
        }
        for k, (i, why) in enumerate(zip(chosen, _reasons(predicted, given.codes[test], chosen)))
    ]


def telling_rows(sureness: np.ndarray, is_right: np.ndarray) -> list[int]:
    """The surest right prediction, the surest wrong one, and the least sure of all.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report._performance import telling_rows
    >>> telling_rows(np.array([0.9, 0.6, 0.8, 0.7]), np.array([True, True, False, False]))
    [0, 2, 1]
    """
    order = np.argsort(-sureness, kind="stable")
    right, wrong = order[is_right[order]], order[~is_right[order]]
    return list(dict.fromkeys([*right[:1].tolist(), *wrong[:1].tolist(), int(order[-1])]))


def _reasons(predicted: np.ndarray, codes: np.ndarray, chosen: Sequence[int]) -> list[str]:
    is_right = [bool(predicted[i] == codes[i]) for i in chosen]
    return [
        "least sure" if k == len(chosen) - 1 and k else "surest right" if right else "surest wrong"
        for k, right in enumerate(is_right)
    ]


def _largest_parts(parts: Any) -> list[dict[str, Any]]:
    """The largest parts of one row by name, and the sum of the others."""
    named = [
        {
            "feature_1": row.feature_1,
            "feature_2": row.feature_2,
            "kind": row.kind,
            "part": row.part,
        }
        for row in parts.head(MOST_PARTS).itertuples()
    ]
    rest = float(parts["part"].iloc[MOST_PARTS:].sum())
    if len(parts) > MOST_PARTS:
        named.append({"feature_1": None, "feature_2": None, "kind": "rest", "part": rest})
    return named
