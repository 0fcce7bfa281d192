"""NBC: naive Bayes."""

from __future__ import annotations

from sklearn.naive_bayes import GaussianNB

from paper.methods.method import Method


class NaiveBayes(Method):
    """Naive Bayes with a Gaussian for each feature and class.

    References
    ----------
    G. John, P. Langley, Estimating continuous distributions in Bayesian classifiers, UAI 1995.
    """

    code, name = "NBC", "Naive Bayes"

    def estimator(self, random_state):
        return GaussianNB()
