"""The classifiers of this library as the command line uses them: wide tables are screened."""

from __future__ import annotations

from typing import Any

from immigrate import (
    BoostedImmigrateClassifier,
    Descent,
    ImmigrateClassifier,
    ImmigrateClassifierCV,
    Screen,
)

# More features make so many weights that a fit takes minutes.
MOST_FEATURES = 200


def is_wide(n_features: int) -> bool:
    """Whether a table has too many features for a weight of each pair.

    Examples
    --------
    >>> from immigrate.cli._library import is_wide
    >>> is_wide(30), is_wide(1000)
    (False, True)
    """
    return n_features > MOST_FEATURES


def screened_words(n_features: int) -> str:
    """What is said of a table that is screened."""
    return (
        f"of {n_features} features only the strongest, alone or in pairs, enter the model: "
        "Screen('pairs')."
    )


def classifiers(n_features: int, **options: Any) -> dict[str, Any]:
    """A classifier and its boosted form, by name.

    Examples
    --------
    >>> from immigrate.cli._library import classifiers
    >>> list(classifiers(30))
    ['ImmigrateClassifierCV', 'BoostedImmigrateClassifier']
    """
    screen = Screen("pairs") if is_wide(n_features) else None
    # Large tables are fitted on samples of them: the same ones in every run.
    single = ImmigrateClassifier(screen=screen, random_state=0)
    # A round of boosting takes few steps, as it does where no base is given.
    round_ = ImmigrateClassifier(solver=Descent(max_iter=5), screen=screen, random_state=0)
    return {
        "ImmigrateClassifierCV": ImmigrateClassifierCV(single, **options),
        "BoostedImmigrateClassifier": BoostedImmigrateClassifier(round_, **options),
    }
