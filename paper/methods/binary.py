"""What the two-class classifiers written here have in common."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data


class BinaryClassifier(ClassifierMixin, BaseEstimator):
    """Labels in, log-odds or any signed score out: positive means the second class.

    Subclasses implement `_fit(X, y)` with y in 0, 1 and `_score(X)`.
    """

    def fit(self, X, y):
        """Check the input and learn."""
        X, y = validate_data(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            noun = "class" if len(self.classes_) == 1 else "classes"
            raise ValueError(
                f"Only binary classification is supported; the data has {len(self.classes_)} "
                f"{noun}."
            )
        self._fit(X, codes)
        return self

    def decision_function(self, X):
        """A score whose sign says the class."""
        check_is_fitted(self)
        return self._score(validate_data(self, X, reset=False))

    def predict(self, X):
        """The class on whose side the score lies."""
        score = self.decision_function(X)
        return self.classes_[(score > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
