"""How well a model tells apart samples that it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed

from immigrate.columns import ColumnWarning
from immigrate.messages import heard_warnings
from immigrate.report._given import Given
from immigrate.scikit_learn import rows_of
from immigrate.typing import Array, Codes


def performance(
    given: Given, estimator: Any, n_folds: int, n_jobs: int | None = None
) -> dict[str, Any] | None:
    """Measures on held-out samples; None where a class is too small to hold some out."""
    codes = given.codes
    possible = possible_folds(int(np.bincount(codes).min()), n_folds)
    if possible is None:
        return None
    splits = list(StratifiedKFold(possible, shuffle=True, random_state=0).split(codes, codes))
    # Prediction and probability of one fit: they need not have the same largest class.
    folds = Parallel(n_jobs=n_jobs)(
        delayed(held_out)(estimator, given.X, given.y, *split) for split in splits
    )
    predicted, probability = np.empty_like(codes), np.empty((len(codes), len(given.classes)))
    for (_, test), (labels, shares) in zip(splits, folds):
        predicted[test] = np.searchsorted(given.classes, labels)
        probability[test] = shares
    is_right = predicted == codes
    by_fold = [is_right[test].mean() for _, test in splits]
    return {
        "n_folds": possible,
        "accuracy": float(is_right.mean()),
        "lowest": float(min(by_fold)),
        "highest": float(max(by_fold)),
        "balanced_accuracy": float(balanced_accuracy_score(codes, predicted)),
        "auc": mean_auc(codes, probability),
        "largest_class": float(np.bincount(codes).max() / len(codes)),
        "labels": [str(label) for label in given.classes],
        "confusion": confusion_matrix(codes, predicted).tolist(),
    }


def held_out(
    estimator: Any, X: Any, y: np.ndarray, train: Codes, test: Codes
) -> tuple[np.ndarray, Array]:
    """Predictions and probabilities of the test samples by a fit to the others."""
    # The page speaks of the columns of the whole table.
    with heard_warnings(unsaid=ColumnWarning):
        model = clone(estimator).fit(rows_of(X, train), y[train])
        new = rows_of(X, test)
        return model.predict(new), model.predict_proba(new)


def mean_auc(codes: Codes, probability: Array) -> float:
    """Area under the ROC curve; with more classes the mean of each against the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.report._performance import mean_auc
    >>> mean_auc(np.array([0, 0, 1]), np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]))
    0.5
    """
    n_classes = probability.shape[1]
    if n_classes == 2:
        return float(roc_auc_score(codes, probability[:, 1]))
    areas = [roc_auc_score(codes == c, probability[:, c]) for c in range(n_classes)]
    return float(np.mean(areas))


def possible_folds(n_smallest: int, wanted: int) -> int | None:
    """Most folds, up to `wanted`, that leave two samples of the smallest class to learn from."""
    for n_folds in range(min(wanted, n_smallest), 1, -1):
        if n_smallest - -(-n_smallest // n_folds) >= 2:
            return n_folds
    return None
