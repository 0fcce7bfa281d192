"""Predictions of held-out samples, on the same folds for every method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from immigrate.arrays import Array, Codes, Mask
from immigrate.progress import collected_warnings, print_line
from immigrate.report._given import Given
from immigrate.scikit_learn import rows_of
from immigrate.table import ColumnWarning

Split = tuple[Codes, Codes]
SEED = 0


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What was predicted of samples by fits that have not seen them.

    Attributes
    ----------
    codes : ndarray of shape (m,)
        True classes of the samples that were held out at least once.
    predicted : ndarray of shape (m,)
        Predicted classes; of samples held out more than once the most frequent one.
    probability : ndarray of shape (m, n_classes)
        Mean over the times a sample was held out.
    by_fold : ndarray
        Accuracy of each fold.
    """

    codes: Codes
    predicted: Codes
    probability: Array
    by_fold: Array


def splits_of(given: Given, cv: Any) -> list[Split] | None:
    """Training and test samples of each fold; None where a class is too small to hold some out.

    A number of folds is lowered until every class has two samples to learn from, and to the number
    of groups. No group is on both sides of a fold.
    """
    if not isinstance(cv, int | np.integer):
        found = check_cv(cv, given.y, classifier=True).split(given.X, given.y, given.groups)
        return _checked(given, [(np.asarray(train), np.asarray(test)) for train, test in found])
    n_folds = possible_folds(int(np.bincount(given.codes).min()), int(cv))
    if n_folds is None:
        return None
    if given.groups is not None:
        n_folds = min(n_folds, len(pd.unique(given.groups)))
        if n_folds < 2:
            raise ValueError(
                "groups says that all samples are of one group, so that nobody can be held out. "
                "Leave groups out, or check that the right column is used."
            )
        by_group = StratifiedGroupKFold(n_folds, shuffle=True, random_state=SEED)
        return _checked(given, list(by_group.split(given.codes, given.codes, given.groups)))
    # A fixed seed: the same table gives the same page. Shuffled, because tables may be sorted.
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=SEED)
    return list(folds.split(given.codes, given.codes))


def _checked(given: Given, splits: list[Split]) -> list[Split]:
    """The splits themselves, if there are any, and each leaves classes to be told apart."""
    if not splits:
        raise ValueError("cv has no fold; give a number of folds, or splits.")
    for k, (train, _) in enumerate(splits, 1):
        if len(np.unique(given.codes[train])) < 2:
            raise ValueError(
                f"Fold {k} of {len(splits)} leaves one class, or none, to learn from. Use fewer "
                "folds, other splits, or groups that are not the classes."
            )
    return splits


def possible_folds(n_smallest: int, wanted: int) -> int | None:
    """Most folds, up to `wanted`, that leave two samples of the smallest class to learn from."""
    for n_folds in range(min(wanted, n_smallest), 1, -1):
        # A fold holds out at most n_smallest / n_folds samples of the class, rounded up.
        if n_smallest - -(-n_smallest // n_folds) >= 2:
            return n_folds
    return None


def held_out(
    estimator: Any,
    given: Given,
    splits: Sequence[Split],
    *,
    n_jobs: int | None = None,
    said: str = "",
) -> HeldOut:
    """Predictions of every fold by a fit to the others; `said` names it in lines of progress."""
    jobs = (delayed(_of_fold)(estimator, given.X, given.y, *split) for split in splits)
    shape = (len(given.codes), len(given.classes))
    votes, probability, by_fold = np.zeros(shape), np.zeros(shape), []
    # The processes of `multiprocessing`, if the user asks joblib for them, give all at the end.
    is_lazy = get_active_backend()[0].supports_return_generator
    found = Parallel(n_jobs=n_jobs, return_as="generator" if is_lazy else "list")(jobs)
    for k, ((_, test), (labels, shares, classes)) in enumerate(zip(splits, found), 1):
        # A fold need not hold every class: probabilities go to the places of those it had.
        places = np.searchsorted(given.classes, classes)
        # Classes are sorted, so that the place of a label is found by bisection.
        predicted = np.searchsorted(given.classes, labels)
        votes[test, predicted] += 1
        probability[np.ix_(test, places)] += shares
        by_fold.append(np.mean(predicted == given.codes[test]))
        if said:
            print_line(f"{said}: fold {k} of {len(splits)}")
    is_seen = votes.any(axis=1)
    # A splitter of the user may hold a sample out more than once, or never.
    times = votes[is_seen].sum(axis=1, keepdims=True)
    return HeldOut(
        given.codes[is_seen],
        votes[is_seen].argmax(axis=1),
        probability[is_seen] / times,
        np.array(by_fold),
    )


def _of_fold(
    estimator: Any, X: Any, y: np.ndarray, train: Codes, test: Codes
) -> tuple[np.ndarray, Array, np.ndarray]:
    """Labels and probabilities of the test samples, and the classes these are of."""
    # Prediction and probability of one fit: they need not have the same largest class. The page
    # speaks of the columns of the whole table.
    with collected_warnings(unsaid=ColumnWarning):
        model = clone(estimator).fit(rows_of(X, train), y[train])
        new = rows_of(X, test)
        return model.predict(new), model.predict_proba(new), model.classes_


def never_held_out(given: Given, splits: Sequence[Split]) -> Mask:
    """Which samples no fold holds out."""
    is_out = np.ones(len(given.codes), dtype=bool)
    for _, test in splits:
        is_out[test] = False
    return is_out
