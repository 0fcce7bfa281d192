"""EBM: explainable boosting machine."""

from __future__ import annotations

from paper.methods.method import Method


class ExplainableBoosting(Method):
    """Explainable boosting machine with its defaults: an additive model with pairs it finds.

    Not in the paper. One thread, as every method here.

    References
    ----------
    Y. Lou, R. Caruana, J. Gehrke, G. Hooker, Accurate intelligible models with pairwise
    interactions, KDD 2013. doi:10.1145/2487575.2487579
    """

    code, name = "EBM", "Explainable boosting machine"

    def estimator(self, random_state):
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(random_state=random_state, n_jobs=1)

    def settings(self):
        """Only what is set: the class itself prints every parameter it has."""
        self.estimator(random_state=0)
        return "ExplainableBoostingClassifier(n_jobs=1)"
