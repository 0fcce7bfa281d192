"""What a row of the result tables is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod

import sklearn
from sklearn.model_selection import StratifiedKFold

LONGEST_SETTINGS = 100_000


def inner_folds(random_state: int) -> StratifiedKFold:
    """Five folds of the training set, for settings chosen by internal cross-validation.

    The paper does not give their number. Shuffled, because some tables are sorted.
    """
    return StratifiedKFold(5, shuffle=True, random_state=random_state)


class Method(ABC):
    """A classifier as the paper's experiment uses it.

    `estimator` returns a fresh scikit-learn classifier for standardised features, which this
    library's classifiers take as they are. It imports what it needs, so that a method whose
    library is missing fails alone.
    """

    code: str
    name: str

    @abstractmethod
    def estimator(self, random_state: int):
        """A new, unfitted classifier."""

    def settings(self) -> str:
        """The classifier with every parameter: stored with each result, a change re-runs it.

        Parameters that are values, such as a solver, show theirs too; a name such as "paper"
        would not say what it stands for.
        """
        with sklearn.config_context(print_changed_only=False):
            text = self.estimator(random_state=0).__repr__(N_CHAR_MAX=LONGEST_SETTINGS)
        return " ".join(text.split())
