"""RF: random forest."""

from __future__ import annotations

from sklearn.ensemble import RandomForestClassifier

from paper.methods.method import Method


class RandomForest(Method):
    """Breiman's random forest: 500 full trees, sqrt(p) features at each split.

    References
    ----------
    L. Breiman, Random forests, Machine Learning 45, 2001. doi:10.1023/A:1010933404324
    """

    code, name = "RF", "Random forest"

    def estimator(self, random_state):
        return RandomForestClassifier(n_estimators=500, random_state=random_state)
