"""What the report says, as plain numbers and words: everything but the looks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from immigrate._version import __version__
from immigrate.estimators._interaction_test import InteractionTest

# Rows of the table of pairs that the page shows, and that it carries as a file.
MOST_SHOWN, MOST_CARRIED = 50, 20_000
# If even the smallest p is above, the additive model leaves no residuals to test.
NOTHING_LEFT = 0.99
PAIR, P_VALUES = ["feature_1", "feature_2"], ["p_value", "p_adjusted"]


def summarised(X, y, estimator, model, *, title, n_folds, level, **parallel):
    """What a fitted model and the test of pairs found in a table.

    Parameters
    ----------
    X, y : the training samples
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    parallel : dict
        `n_jobs` and `verbose` of joblib, for the folds.
    """
    weights = model.interactions()
    inputs = estimator[:-1].transform(X) if estimator is not model else X
    pairs = PairEvidence.of(inputs, y, model, level)
    table = pairs.beside(weights)
    return {
        "title": title,
        "date": date.today().isoformat(),
        "version": __version__,
        "data": data_summary(X, y),
        "performance": performance(X, y, estimator, n_folds, **parallel),
        "features": feature_rows(model),
        "pairs": table[table["kind"] == "pair"].head(MOST_SHOWN).to_dict("records"),
        "n_weighted_pairs": int((table["kind"] == "pair").sum()),
        "test": pairs.summary(weights),
        "model": model_summary(estimator, model),
        "table": table.head(MOST_CARRIED),
        "n_terms": len(table),
    }


@dataclass(frozen=True)
class PairEvidence:
    """What `InteractionTest` says of the pairs, or why it says nothing."""

    level: float
    test: InteractionTest | None = None
    why_untested: str = ""

    @classmethod
    def of(cls, inputs, y, model, level):
        """Test all features that the model was given, screened out or not."""
        if model.n_features_in_ < 2:
            return cls(level, why_untested="There is one feature, and so no pair.")
        names = getattr(model, "feature_names_in_", None)
        frame = pd.DataFrame(np.asarray(inputs, dtype=np.float64), columns=names)
        if names is None:
            frame = frame.to_numpy()
        return cls(level, InteractionTest(alpha=level).fit(frame, y))

    def beside(self, weights):
        """`weights` with a p-value and an adjusted p-value for each pair, where tested."""
        if self.test is None:
            return weights.assign(p_value=np.nan, p_adjusted=np.nan)
        return weights.merge(self.test.table_[[*PAIR, *P_VALUES]], on=PAIR, how="left")

    def summary(self, weights):
        """Pairs found one by one, with their weights; pairs that only mirror them."""
        if self.test is None:
            return {"why_untested": self.why_untested, "level": self.level, "found": []}
        table, found = self.test.table_, self.test.selected_
        found = found[[*PAIR, *P_VALUES]].merge(weights, on=PAIR, how="left")
        n_small = int((table["p_adjusted"] <= self.level).sum())
        return {
            "why_untested": "",
            "level": self.level,
            "n_pairs": self.test.n_tests_,
            "found": found.to_dict("records"),
            "n_mirrors": max(n_small - len(found), 0),
            "least_p": float(table["p_adjusted"].min()),
            "is_separated": bool(table["p_value"].min() > NOTHING_LEFT),
        }


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
    names = frame.columns[~is_constant]
    is_repeated = pd.Series([frame[name].to_numpy().tobytes() for name in names]).duplicated()
    if is_repeated.any():
        repeated = _listed(names[is_repeated])
        notes.append(f"{repeated}: the same as an earlier column; the weight is divided.")
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


def performance(X, y, estimator, n_folds, **parallel):
    """Accuracy on samples that the model has not seen; None where a class is too small."""
    codes, labels = pd.factorize(np.asarray(y), sort=True)
    n_folds = possible_folds(np.bincount(codes).min(), n_folds)
    if n_folds is None:
        return None
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(estimator, X, np.asarray(y), cv=splitter, **parallel)
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


def _listed(names, most=5):
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
