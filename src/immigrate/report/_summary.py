"""What the report says, as plain numbers and words: everything but the looks."""

from __future__ import annotations

from datetime import date

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from immigrate._version import __version__

# Rows of the table of pairs that the page shows, and that it carries as a file.
MOST_SHOWN, MOST_CARRIED = 50, 20_000
# If even the smallest p is above, the additive model leaves no residuals to test.
NOTHING_LEFT = 0.99


def summarised(X, y, estimator, model, *, title, n_folds, level, n_jobs=None):
    """What a fitted model found in a table.

    Parameters
    ----------
    X, y : the training samples
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    """
    table, why_untested = tested_interactions(model)
    pairs = table[table["kind"] == "pair"]
    found = pairs.head(0) if why_untested else pairs[pairs["p_adjusted"] <= level]
    return {
        "title": title,
        "date": date.today().isoformat(),
        "version": __version__,
        "data": data_summary(X, y),
        "performance": performance(X, y, estimator, n_folds, n_jobs),
        "features": feature_rows(model),
        "pairs": pairs.head(MOST_SHOWN).to_dict("records"),
        "n_pairs": len(pairs),
        "found": sorted(found.to_dict("records"), key=lambda pair: pair["p_adjusted"]),
        "least_p": None if why_untested else _least(pairs["p_adjusted"]),
        "is_separated": why_untested is None and (_least(pairs["p_value"]) or 0) > NOTHING_LEFT,
        "level": level,
        "why_untested": why_untested,
        "model": model_summary(estimator, model),
        "table": table.head(MOST_CARRIED),
        "n_terms": len(table),
    }


def tested_interactions(model):
    """The table of weights with p-values, or without them and the reason."""
    try:
        return model.interactions(test=True), None
    except ValueError as error:
        return model.interactions(), str(error)


def data_summary(X, y):
    """Size, classes, and what in the table deserves a second look."""
    frame = pd.DataFrame(X)
    labels, counts = np.unique(np.asarray(y), return_counts=True)
    return {
        "n_samples": len(frame),
        "n_features": frame.shape[1],
        "classes": [
            {"label": str(label), "n": int(n), "share": n / len(frame)}
            for label, n in zip(labels, counts)
        ],
        "notes": data_notes(frame, counts),
    }


def data_notes(frame, counts):
    """Sentences about columns and rows that say nothing or say it twice."""
    notes = []
    is_constant = frame.nunique(dropna=False).to_numpy() <= 1
    if is_constant.any():
        notes.append(f"{_listed(frame.columns[is_constant])}: constant, so without any weight.")
    is_repeated = frame.loc[:, ~is_constant].T.duplicated().to_numpy()
    if is_repeated.any():
        names = frame.columns[~is_constant][is_repeated]
        notes.append(f"{_listed(names)}: the same as an earlier column; the weight is divided.")
    n_repeated = int(frame.duplicated().sum())
    if n_repeated:
        notes.append(
            f"{n_repeated} rows repeat an earlier one. A repeated sample is its own nearest "
            "neighbour, in cross-validation too: accuracy may look better than it is."
        )
    if counts.max() > 4 * counts.min():
        notes.append(
            "The classes are of very different size: compare the accuracy with the share of the "
            "largest class, and look at the balanced accuracy."
        )
    return notes


def performance(X, y, estimator, n_folds, n_jobs=None):
    """Accuracy on samples that the model has not seen; None where a class is too small."""
    codes, labels = pd.factorize(np.asarray(y), sort=True)
    n_folds = possible_folds(np.bincount(codes).min(), n_folds)
    if n_folds is None:
        return None
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(estimator, X, np.asarray(y), cv=splitter, n_jobs=n_jobs)
    is_right = predicted == np.asarray(y)
    by_fold = [is_right[test].mean() for _, test in splitter.split(codes, codes)]
    return {
        "n_folds": n_folds,
        "accuracy": float(is_right.mean()),
        "lowest": float(min(by_fold)),
        "highest": float(max(by_fold)),
        "balanced_accuracy": float(balanced_accuracy_score(np.asarray(y), predicted)),
        "largest_class": float(np.bincount(codes).max() / len(codes)),
        "labels": [str(label) for label in labels],
        "confusion": confusion_matrix(np.asarray(y), predicted, labels=labels).tolist(),
    }


def possible_folds(n_smallest, wanted):
    """Most folds, up to `wanted`, that leave two samples of the smallest class to learn from."""
    for n_folds in range(min(wanted, n_smallest), 1, -1):
        if n_smallest - -(-n_smallest // n_folds) >= 2:
            return n_folds
    return None


def feature_rows(model):
    """Features of W with their weight and their share of all weights, largest share first."""
    names = model.get_feature_names_out()
    W = model.weight_matrix_
    share = np.abs(W).sum(axis=0) / np.abs(W).sum()
    order = np.argsort(-share, kind="stable")
    return [
        {"name": str(names[i]), "weight": float(W[i, i]), "share": float(share[i])} for i in order
    ]


def model_summary(estimator, model):
    """Settings, and what the fit chose."""
    chosen = {
        name.rstrip("_"): getattr(model, name)
        for name in ("sigma_", "rule_", "prune_", "converged_")
        if hasattr(model, name)
    }
    n_screened = model.n_features_in_ - len(model.weight_matrix_)
    return {
        "name": type(model).__name__,
        "settings": repr(estimator),
        "chosen": {name: _words(value) for name, value in chosen.items()},
        "converged": bool(getattr(model, "converged_", True)),
        "n_screened": n_screened,
    }


def _words(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _least(values):
    values = values.dropna()
    return float(values.min()) if len(values) else None


def _listed(names, most=5):
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
