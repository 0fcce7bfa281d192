"""REL, RFF, SIM and LFE: weights of the Relief family, then nearest neighbours."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV

from paper.methods.method import Method, inner_folds


class ReliefNeighbor(Method):
    """Relief with Euclidean distance, then 1-NN on the weighted features.

    Features stay as they come, with mean 0 and variance 1 (section 4), and are not divided by
    their range.

    References
    ----------
    K. Kira, L. Rendell, A practical approach to feature selection, ICML 1992.
    """

    code, name = "REL", "Relief"

    def estimator(self, random_state):
        from immigrate import Relief, make_margin_knn

        return make_margin_knn(Relief(scale=None, random_state=random_state), n_neighbors=1)


class ReliefFNeighbors(Method):
    """ReliefF with Manhattan distance, then k-NN with k = 1, 3 or 5 by cross-validation.

    ReliefF's differences are divided by the range of the feature, as in its paper, and so are
    the distances of the k-NN.

    References
    ----------
    I. Kononenko, Estimating attributes: analysis and extensions of RELIEF, ECML 1994.
    M. Robnik-Šikonja, I. Kononenko, Theoretical and empirical analysis of ReliefF and
    RReliefF, Machine Learning 53, 2003. doi:10.1023/A:1025667309714
    """

    code, name = "RFF", "ReliefF"

    def estimator(self, random_state):
        from immigrate import ReliefF, make_margin_knn

        model = make_margin_knn(ReliefF(), metric="manhattan")
        grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
        return GridSearchCV(model, grid, cv=inner_folds(random_state))


class SimbaNeighbor(Method):
    """Simba with Euclidean distance, then 1-NN on the weighted features.

    Features stay as they come, with mean 0 and variance 1 (section 4).

    References
    ----------
    R. Gilad-Bachrach, A. Navot, N. Tishby, Margin based feature selection: theory and
    algorithms, ICML 2004. doi:10.1145/1015330.1015352
    """

    code, name = "SIM", "Simba"

    def estimator(self, random_state):
        from immigrate import Simba, make_margin_knn

        return make_margin_knn(Simba(scale=None, random_state=random_state), n_neighbors=1)


class LocalFeatureExtraction(Method):
    """LFE's projection, then 1-NN; the paper does not name the classifier.

    References
    ----------
    Y. Sun, D. Wu, A RELIEF based feature extraction algorithm, SIAM Data Mining 2008.
    doi:10.1137/1.9781611972788.17
    """

    code, name = "LFE", "Local feature extraction"

    def estimator(self, random_state):
        from immigrate import LFE, make_margin_knn

        return make_margin_knn(LFE(), n_neighbors=1)
