"""DT: one classification tree."""

from __future__ import annotations

from sklearn.tree import DecisionTreeClassifier

from paper.methods.method import Method

# What rpart grows by default: at least 20 samples to split a node, 7 in a leaf, and no split
# that lowers the impurity by less than about one hundredth of the root's (0.5 for Gini).
RPART_LIKE = {"min_samples_split": 20, "min_samples_leaf": 7, "ccp_alpha": 0.005}


class DecisionTree(Method):
    """CART with the default stopping rules of R's rpart; the paper states none.

    References
    ----------
    L. Breiman, J. Friedman, C. Stone, R. Olshen, Classification and Regression Trees, 1984.
    Y. Freund, L. Mason, The alternating decision tree learning algorithm, ICML 1999 (cited by
    the paper).
    """

    code, name = "DT", "Decision tree"

    def estimator(self, random_state):
        return DecisionTreeClassifier(**RPART_LIKE, random_state=random_state)
