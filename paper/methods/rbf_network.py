"""RBF: a radial basis function network."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV

from paper.methods.binary import BinaryClassifier
from paper.methods.method import Method, inner_folds


class RbfNetwork(Method):
    """Gaussian units at k-means centres, linear output by least squares.

    The number of units (5, 10, 20 or 40) is chosen by 5-fold cross-validation; the paper
    gives none.

    References
    ----------
    S. Haykin, Neural Networks: A Comprehensive Foundation, 1994, chapter 5.
    """

    code, name = "RBF", "Radial basis function network"

    def estimator(self, random_state):
        network = RbfNetworkClassifier(random_state=random_state)
        return GridSearchCV(network, {"n_units": [5, 10, 20, 40]}, cv=inner_folds(random_state))


class RbfNetworkClassifier(BinaryClassifier):
    """Two-class network with one hidden layer of Gaussian units.

    The width is Haykin's d_max / sqrt(2 M), d_max the largest distance between two of the M
    centres: neither peaked nor flat.
    """

    def __init__(self, n_units=10, *, random_state=None):
        self.n_units = n_units
        self.random_state = random_state

    def _fit(self, X, y):
        n_units = min(self.n_units, len(np.unique(X, axis=0)))
        means = KMeans(n_units, n_init=3, random_state=self.random_state).fit(X)
        self.centers_ = means.cluster_centers_
        self.width_ = pdist(self.centers_).max() / np.sqrt(2 * n_units) if n_units > 1 else 1.0
        self.coef_ = np.linalg.lstsq(self._hidden(X), 2.0 * y - 1.0, rcond=None)[0]

    def _score(self, X):
        return self._hidden(X) @ self.coef_

    def _hidden(self, X):
        squared = pairwise_distances(X, self.centers_, metric="sqeuclidean")
        units = np.exp(-squared / (2 * self.width_**2))
        return np.hstack([units, np.ones((len(X), 1))])  # (n, M + 1)
