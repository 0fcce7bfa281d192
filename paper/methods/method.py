"""What a row of the result tables is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Method(ABC):
    """A classifier as the paper's experiment uses it.

    `estimator` returns a fresh scikit-learn classifier for standardised features. It imports
    what it needs, so that a method whose library is missing fails alone.
    """

    code: str
    name: str

    @abstractmethod
    def estimator(self, random_state: int):
        """A new, unfitted classifier."""

    def settings(self) -> str:
        """The classifier in one line: stored with each result; a change re-runs the cells."""
        return " ".join(repr(self.estimator(random_state=0)).split())
