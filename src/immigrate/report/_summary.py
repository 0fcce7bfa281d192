"""What the report says, as numbers, words and the table of weights: all but the looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from immigrate._version import __version__
from immigrate.estimators import InteractionTest
from immigrate.estimators.weight_table import PAIR, beside_test, feature_share, untested
from immigrate.messages import progress

# Rows of the table of pairs that the page shows, and that it carries as a file.
MOST_SHOWN, MOST_CARRIED = 50, 20_000
# If even the smallest p is above, and the additive model explains more of the held-out deviance
# than the second, there is nothing left to test.
NOTHING_LEFT, NEARLY_ALL = 0.99, 0.9


def summarised(
    X: Any,
    y: np.ndarray,
    estimator: Any,
    model: Any,
    *,
    title: str,
    n_folds: int,
    alpha: float,
    warned: Sequence[str] = (),
    n_jobs: int | None = None,
    verbose: bool = False,
) -> dict[str, Any]:
    """What a fitted model and the test of pairs found in a table.

    Parameters
    ----------
    X : array-like, y : ndarray
        The training samples.
    estimator : fitted estimator
        What predicts: `model`, or a pipeline that ends in it.
    model : fitted estimator with `interactions`
    warned : sequence of str
        Warnings of the fit.
    n_jobs : int, optional
        Processes over folds.
    verbose : bool
        Whether to print one line per stage.
    """
    weights = model.interactions()
    has_steps_before = estimator is not model and len(estimator) > 1
    inputs = estimator[:-1].transform(X) if has_steps_before else X
    if verbose:
        progress(f"test of the pairs of {model.n_features_in_} features")
    pairs = PairEvidence.of(inputs, y, model, alpha)
    table = pairs.beside(weights)
    if verbose:
        progress(f"cross-validation, up to {n_folds} folds")
    return {
        "title": title,
        "date": date.today().isoformat(),
        "version": __version__,
        "data": data_summary(X, y),
        "performance": performance(X, y, estimator, n_folds, n_jobs),
        "features": feature_rows(model),
        "pairs": table[table["kind"] == "pair"].head(MOST_SHOWN).to_dict("records"),
        "n_weighted_pairs": int((table["kind"] == "pair").sum()),
        "test": pairs.summary(weights),
        "model": model_summary(estimator, model, warned),
        "table": table.head(MOST_CARRIED),
        "n_terms": len(table),
    }


@dataclass(frozen=True)
class PairEvidence:
    """What `InteractionTest` says of the pairs, or why it says nothing."""

    alpha: float
    test: InteractionTest | None = None
    why_untested: str = ""

    @classmethod
    def of(cls, inputs: Any, y: np.ndarray, model: Any, alpha: float) -> Self:
        """Test all features that the model was given, screened out or not."""
        if model.n_features_in_ < 2:
            return cls(alpha, why_untested="There is one feature, and so no pair.")
        # As plain numbers, which they are to the model, whatever the types of the columns.
        inputs = np.asarray(inputs, dtype=np.float64)
        if hasattr(model, "feature_names_in_"):
            inputs = pd.DataFrame(inputs, columns=model.feature_names_in_)
        test = InteractionTest(alpha=alpha).fit(inputs, y)
        if not test.n_tests_:
            return cls(alpha, why_untested="Fewer than two features vary.")
        return cls(alpha, test)

    def beside(self, weights: pd.DataFrame) -> pd.DataFrame:
        """`weights` with what the test says of each pair."""
        return untested(weights) if self.test is None else beside_test(weights, self.test)

    def summary(self, weights: pd.DataFrame) -> dict[str, Any]:
        """Pairs found one by one, with their weights; how many others may only mirror them."""
        if self.test is None:
            return {"why_untested": self.why_untested, "alpha": self.alpha, "found": []}
        table, found = self.test.table_, self.test.selected_
        small = beside_test(table[PAIR], self.test).query("p_adjusted <= @self.alpha")
        found = found[[*PAIR, "p_value", "p_adjusted"]].merge(weights, on=PAIR, how="left")
        is_explained = self.test.additive_model_.deviance_explained > NEARLY_ALL
        return {
            "why_untested": "",
            "alpha": self.alpha,
            "n_pairs": self.test.n_tests_,
            "found": found.assign(is_found=True).to_dict("records"),
            "n_mirrors": int((~small["is_found"]).sum()),
            "n_exact": int(table["is_exact"].sum()),
            "least_p": float(table["p_adjusted"].min()),
            "is_separated": bool(is_explained and table["p_value"].min() > NOTHING_LEFT),
        }


def data_summary(X: Any, y: np.ndarray) -> dict[str, Any]:
    """Size, classes, and what in the table deserves a second look."""
    frame = named_frame(X)
    labels, counts = np.unique(y, return_counts=True)
    return {
        "n_samples": len(frame),
        "n_features": frame.shape[1],
        "classes": [
            {"label": str(label), "n": int(n), "share": n / len(frame)}
            for label, n in zip(labels, counts)
        ],
        "notes": data_notes(frame, counts),
    }


def named_frame(X: Any) -> pd.DataFrame:
    """The table with the names that scikit-learn gives: x0, x1, ... unless all are text."""
    frame = pd.DataFrame(X)
    if not all(isinstance(name, str) for name in frame.columns):
        frame.columns = [f"x{i}" for i in range(frame.shape[1])]
    return frame


def data_notes(frame: pd.DataFrame, counts: np.ndarray) -> list[str]:
    """Sentences about columns and rows that say nothing or say it twice."""
    notes = []
    columns = [as_text_or_float(frame.iloc[:, j]) for j in range(frame.shape[1])]
    is_constant = np.array([len(np.unique(column)) == 1 for column in columns])
    if is_constant.any():
        constant = _listed(frame.columns[is_constant])
        notes.append(f"{constant}: constant, and so no help in telling samples apart.")
    is_repeated = pd.Series([column.tobytes() for column in columns]).duplicated() & ~is_constant
    if is_repeated.any():
        repeated = _listed(frame.columns[is_repeated])
        notes.append(f"{repeated}: the same as an earlier column; the weight is divided.")
    n_repeated = int(frame.duplicated().sum())
    if n_repeated:
        rows = "1 row repeats" if n_repeated == 1 else f"{n_repeated} rows repeat"
        notes.append(
            f"{rows} an earlier one. A repeated sample is its own nearest neighbour, in "
            "cross-validation too: accuracy may look better than it is."
        )
    if counts.max() > 4 * counts.min():
        notes.append(
            "The classes are of very different size: compare the accuracy with the share of the "
            "largest class, and look at the balanced accuracy."
        )
    return notes


def as_text_or_float(column: pd.Series) -> np.ndarray:
    """Values that compare equal where they mean the same: 1 and 1.0, text by its characters."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    return column.to_numpy(dtype=str)


def performance(
    X: Any, y: np.ndarray, estimator: Any, n_folds: int, n_jobs: int | None = None
) -> dict[str, Any] | None:
    """Accuracy on samples that the model has not seen; None where a class is too small."""
    codes, labels = pd.factorize(y, sort=True)
    possible = possible_folds(int(np.bincount(codes).min()), n_folds)
    if possible is None:
        return None
    splitter = StratifiedKFold(possible, shuffle=True, random_state=0)
    predicted = cross_val_predict(estimator, X, y, cv=splitter, n_jobs=n_jobs)
    is_right = predicted == y
    by_fold = [is_right[test].mean() for _, test in splitter.split(codes, codes)]
    return {
        "n_folds": possible,
        "accuracy": float(is_right.mean()),
        "lowest": float(min(by_fold)),
        "highest": float(max(by_fold)),
        "balanced_accuracy": float(balanced_accuracy_score(y, predicted)),
        "largest_class": float(np.bincount(codes).max() / len(codes)),
        "labels": [str(label) for label in labels],
        "confusion": confusion_matrix(y, predicted, labels=labels).tolist(),
    }


def possible_folds(n_smallest: int, wanted: int) -> int | None:
    """Most folds, up to `wanted`, that leave two samples of the smallest class to learn from."""
    for n_folds in range(min(wanted, n_smallest), 1, -1):
        if n_smallest - -(-n_smallest // n_folds) >= 2:
            return n_folds
    return None


def feature_rows(model: Any) -> list[dict[str, Any]]:
    """Features of W with their own weight and their importance, most important first."""
    names = model.get_feature_names_out()
    W = model.weight_matrix_
    share = feature_share(W)
    order = np.argsort(-share, kind="stable")
    return [
        {"name": str(names[i]), "weight": float(W[i, i]), "share": float(share[i])} for i in order
    ]


def model_summary(estimator: Any, model: Any, warned: Sequence[str]) -> dict[str, Any]:
    """Settings, what the fit chose, and what it warned of."""
    chosen = {
        name.rstrip("_"): getattr(model, name)
        for name in ("sigma_", "rule_", "prune_", "converged_")
        if hasattr(model, name)
    }
    n_screened = model.n_features_in_ - len(model.weight_matrix_)
    has_moved = getattr(model, "converged_", True) or len(model.objective_path_) > 1
    return {
        "name": type(model).__name__,
        "settings": repr(estimator),
        "chosen": {name: _words(value) for name, value in chosen.items()},
        "has_moved": has_moved,
        "warnings": list(warned),
        "n_screened": n_screened,
    }


def _words(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _listed(names: Iterable[Any], most: int = 5) -> str:
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
