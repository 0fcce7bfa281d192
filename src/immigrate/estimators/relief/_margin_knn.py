"""Feature weights as a classifier: nearest neighbours on the weighted features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, TransformerMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_option
from immigrate.estimators.base import fitting
from immigrate.estimators.relief._base import METRICS, MarginSelector
from immigrate.scikit_learn import StoredEstimator
from immigrate.table import check_values, read_table


def make_margin_knn(weigher: Any, *, n_neighbors: int = 1, metric: str = "euclidean") -> Pipeline:
    """Pipeline of a method of the Relief family and k nearest neighbours under its weights.

    This is how the family enters the tables of the IMMIGRATE paper: Relief and Simba with
    Euclidean distance and one neighbour, ReliefF with Manhattan distance and 1, 3 or 5
    neighbours, chosen by inner cross-validation.

    Parameters
    ----------
    weigher : Relief, ReliefF, Simba, IRelief or LFE
        Selectors weigh the features by `feature_importances_`, negative ones as 0; LFE
        projects. Nominal columns differ by 0 or 1 as in the selector (not in LFE, which takes
        numbers). Missing values are refused: nearest neighbours have no difference for them.
    n_neighbors : int, default=1
        How many neighbours vote.
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
    check_option("metric", metric, METRICS)
    knn = KNeighborsClassifier(n_neighbors, metric=metric)
    if isinstance(weigher, MarginSelector):
        return make_pipeline(WeightedFeatures(weigher, metric=metric), knn)
    return make_pipeline(weigher, knn)


class WeightedFeatures(MetaEstimatorMixin, TransformerMixin, StoredEstimator):
    """Features stretched such that plain distances are the weighted ones.

    Parameters
    ----------
    selector : estimator
        With `feature_importances_` and `difference_units_` once fitted.
    metric : {"euclidean", "manhattan"}, default="euclidean"
    """

    _doc_link_module = ""  # it has no page of its own

    def __init__(self, selector: Any, *, metric: str = "euclidean") -> None:
        self.selector = selector
        self.metric = metric

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit the selector; `fit_params` go to it."""
        with fitting(self):
            selector = clone(self.selector).fit(X, y, **fit_params)
            # Only to refuse gaps before anything is kept; the values are not needed here.
            self._complete(selector, X)
            weight = np.maximum(selector.feature_importances_, 0.0)
            if not weight.any():
                weight = np.ones_like(weight)  # no feature is of use: plain nearest neighbours
            stretch = np.sqrt(weight) if self.metric == "euclidean" else weight
            self.selector_, self.stretch_ = selector, stretch / selector.difference_units_
            self.n_features_in_ = selector.n_features_in_
            if hasattr(selector, "feature_names_in_"):
                self.feature_names_in_ = selector.feature_names_in_
            else:
                self.__dict__.pop("feature_names_in_", None)
        return self

    def transform(self, X: Any) -> Array:
        """`X` times the stretch of each feature, with a column per level of nominal ones."""
        check_is_fitted(self)
        values = self._complete(self.selector_, X)
        if not self.selector_.is_categorical_.any():
            plain: Array = values * self.stretch_
            return plain
        parts = [
            self._level_columns(x, j) if is_nominal else x[:, None] * self.stretch_[j]
            for j, (x, is_nominal) in enumerate(zip(values.T, self.selector_.is_categorical_))
        ]
        return np.hstack(parts)

    def _complete(self, selector: Any, X: Any) -> Array:
        """A table as the selector reads it; gaps, for which neighbours have no rule, refused."""
        values = read_table(selector, X)
        check_values(values, selector.column_reader_.names, self, allow_nan=False)
        return values.astype(np.float64, copy=False)

    def _level_columns(self, codes: Array, j: int) -> Array:
        """Columns in which two different levels are 1 apart, times the stretch."""
        # One more than there are levels: a level that fit has not seen differs from all.
        n_columns = len(self.selector_.column_reader_.levels[j]) + 1
        # Two levels differ in two columns: sqrt(1/2 + 1/2) or 1/2 + 1/2 is 1.
        height = np.sqrt(0.5) if self.metric == "euclidean" else 0.5
        columns: Array = height * self.stretch_[j] * (codes[:, None] == np.arange(n_columns))
        return columns
