"""LDA: linear discriminant analysis."""

from __future__ import annotations

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from paper.methods.method import Method


class LinearDiscriminant(Method):
    """Fisher's linear discriminant with the class shares of the training set as priors.

    References
    ----------
    R. Fisher, The use of multiple measurements in taxonomic problems, Annals of Eugenics 7,
    1936. doi:10.1111/j.1469-1809.1936.tb02137.x
    """

    code, name = "LDA", "Linear discriminant analysis"

    def estimator(self, random_state):
        return LinearDiscriminantAnalysis()
