"""Feature weights as a classifier: nearest neighbours on the weighted features."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from immigrate.estimators import _validation as check
from immigrate.estimators.relief._selector import METRICS, MarginSelector


def make_margin_knn(weigher, *, n_neighbors=1, metric="euclidean"):
    """Pipeline of a method of the Relief family and k nearest neighbours under its weights.

    This is how the family enters the tables of the IMMIGRATE paper: Relief and Simba with
    Euclidean distance and one neighbour, ReliefF with Manhattan distance and 1, 3 or 5
    neighbours, chosen by inner cross-validation.

    Parameters
    ----------
    weigher : Relief, ReliefF, Simba, IRelief or LFE
        Selectors weigh the features by `feature_importances_`, negative ones as 0; LFE
        projects.
    n_neighbors : int, default=1
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distances are sqrt(sum_f w_f diff_f^2) or sum_f w_f diff_f.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Its last step is named "kneighborsclassifier".

    Examples
    --------
    >>> from immigrate import ReliefF, make_margin_knn
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import GridSearchCV, cross_val_score
    >>> X, y = load_wine(return_X_y=True)
    >>> model = GridSearchCV(
    ...     make_margin_knn(ReliefF(), metric="manhattan"),
    ...     {"kneighborsclassifier__n_neighbors": [1, 3, 5]},
    ... )
    >>> bool(cross_val_score(model, X, y).mean() > 0.9)
    True
    """
    check.check_option("metric", metric, METRICS)
    knn = KNeighborsClassifier(n_neighbors, metric=metric)
    if isinstance(weigher, MarginSelector):
        return make_pipeline(WeightedFeatures(weigher, metric=metric), knn)
    return make_pipeline(weigher, knn)


class WeightedFeatures(MetaEstimatorMixin, TransformerMixin, BaseEstimator):
    """Features stretched such that plain distances are the weighted ones.

    Parameters
    ----------
    selector : estimator
        With `feature_importances_` and `difference_units_` once fitted.
    metric : {"euclidean", "manhattan"}, default="euclidean"
    """

    def __init__(self, selector, *, metric="euclidean"):
        self.selector = selector
        self.metric = metric

    def fit(self, X, y, **fit_params):
        """Fit the selector; `fit_params` go to it."""
        self.selector_ = clone(self.selector).fit(X, y, **fit_params)
        self.n_features_in_ = self.selector_.n_features_in_
        if hasattr(self.selector_, "feature_names_in_"):
            self.feature_names_in_ = self.selector_.feature_names_in_
        if self.selector_.is_categorical_.any():
            raise ValueError(
                "make_margin_knn takes numeric features only; encode the categorical ones first, "
                "for example with OneHotEncoder."
            )
        weight = np.maximum(self.selector_.feature_importances_, 0.0)
        if not weight.any():
            weight = np.ones_like(weight)  # no feature is of use: plain nearest neighbours
        stretch = np.sqrt(weight) if self.metric == "euclidean" else weight
        self.stretch_ = stretch / self.selector_.difference_units_
        return self

    def transform(self, X):
        """`X` times the stretch of each feature."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False) * self.stretch_
