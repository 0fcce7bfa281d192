"""1NN and 3NN: the nearest neighbours vote."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier

from paper.methods.method import Method


class OneNearestNeighbor(Method):
    """The nearest neighbour in Euclidean distance.

    References
    ----------
    D. Aha, D. Kibler, M. Albert, Instance-based learning algorithms, Machine Learning 6, 1991.
    doi:10.1007/BF00153759
    """

    code, name = "1NN", "1-nearest neighbour"

    def estimator(self, random_state):
        return KNeighborsClassifier(n_neighbors=1)


class ThreeNearestNeighbors(Method):
    """Majority of the three nearest neighbours in Euclidean distance."""

    code, name = "3NN", "3-nearest neighbours"

    def estimator(self, random_state):
        return KNeighborsClassifier(n_neighbors=3)
