"""MAJ: what knowing nothing but the class shares gives."""

from __future__ import annotations

from sklearn.dummy import DummyClassifier

from paper.methods.method import Method


class Majority(Method):
    """The larger class, always. Not in the paper; the floor for every other row."""

    code, name = "MAJ", "Majority class"

    def estimator(self, random_state):
        return DummyClassifier(strategy="most_frequent")
