"""The classifiers of this library as the command line uses them: wide tables are screened."""

from __future__ import annotations

from typing import Any

from immigrate import (
    BoostedImmigrateClassifier,
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
    base = ImmigrateClassifier(screen=Screen("pairs")) if is_wide(n_features) else None
    return {
        "ImmigrateClassifierCV": ImmigrateClassifierCV(base, **options),
        "BoostedImmigrateClassifier": BoostedImmigrateClassifier(base, **options),
    }
