"""SV1 and SV2: support vector machines with two kernels."""

from __future__ import annotations

from sklearn.svm import SVC

from paper.methods.method import Method


class SigmoidSVM(Method):
    """Support vector machine with sigmoid kernel, C = 1 and gamma = 1 / p (LIBSVM's defaults).

    The paper names the kernels only.

    References
    ----------
    B. Schölkopf, C. Burges, A. Smola, Advances in Kernel Methods, MIT Press, 1999.
    """

    code, name = "SV1", "SVM, sigmoid kernel"

    def estimator(self, random_state):
        return SVC(kernel="sigmoid", gamma="auto")


class RbfSVM(Method):
    """Support vector machine with Gaussian kernel, C = 1 and gamma = 1 / p."""

    code, name = "SV2", "SVM, Gaussian kernel"

    def estimator(self, random_state):
        return SVC(kernel="rbf", gamma="auto")
