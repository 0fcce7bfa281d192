"""The model that a table gets where the user names none, in report and command line alike."""

from __future__ import annotations

from typing import Any

from immigrate.durations import is_wide
from immigrate.estimators.boosting import BoostedImmigrateClassifier
from immigrate.estimators.immigrate import ImmigrateClassifier
from immigrate.estimators.immigrate_cv import ImmigrateClassifierCV
from immigrate.margin.screen import Screen
from immigrate.solvers import Descent

# Features that a wide table keeps, beside those of the strongest pairs.
MOST_KEPT = 100


def default_model(n_features: int, *, boosted: bool = False, **options: Any) -> Any:
    """The classifier for a table with so many features; a wide one is screened.

    Examples
    --------
    >>> from immigrate.estimators.default_model import default_model
    >>> default_model(30, n_jobs=2)
    ImmigrateClassifierCV(estimator=ImmigrateClassifier(random_state=0), n_jobs=2)
    """
    # Large tables are fitted on samples of them: the same ones in every run.
    base = ImmigrateClassifier(screen=default_screen(n_features), random_state=0)
    if not boosted:
        return ImmigrateClassifierCV(base, **options)
    # A round of boosting takes few steps, as it does where no base is given.
    return BoostedImmigrateClassifier(base.set_params(solver=Descent(max_iter=5)), **options)


def default_screen(n_features: int) -> Screen | None:
    """Which features of a wide table enter; None is all of them."""
    return Screen("pairs", max_features=MOST_KEPT) if is_wide(n_features) else None


def words_of_screen(n_features: int) -> str:
    """What is said of a table that is screened.

    Examples
    --------
    >>> from immigrate.estimators.default_model import words_of_screen
    >>> words_of_screen(30)
    ''
    """
    if not is_wide(n_features):
        return ""
    return (
        f"With {n_features} features the model is screened: at most {MOST_KEPT} of them, those "
        "that IM4E finds strongest one by one, and the 20 of the strongest pairs enter the weight "
        "matrix."
    )
