"""What every selector of the family shares: mixed types in, a score for each feature out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from immigrate.core.mixed_table import difference_units, mixed_table
from immigrate.estimators import _validation as check
from immigrate.estimators.relief._mixed_types import categorical_mask, text_as_codes

METRICS = ("euclidean", "manhattan")


class MarginSelector(SelectorMixin, BaseEstimator, metaclass=ABCMeta):
    """Selects features by a score learned from nearest hits and misses.

    A subclass implements `_feature_scores`, and has the parameters `n_features_to_select`,
    `threshold` and `categorical_features`; `scale` too unless differences are always in
    units of the range.
    """

    allow_nan = False
    scale: str | None = "range"

    def fit(self, X, y, sample_weight=None):
        """Score the features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts. It weighs the sample as an anchor, not as
            a neighbour of others, so a weight of 2 is not the same as repeating the row: a
            repeated row is its own hit at distance 0.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, is_text = text_as_codes(X)
        X, codes, anchor_weight = check.check_training_data(
            self, X, y, sample_weight, allow_nan=self.allow_nan
        )
        check.check_selected_count(self.n_features_to_select, X.shape[1])
        names = getattr(self, "feature_names_in_", None)
        is_categorical = categorical_mask(
            self.categorical_features, X.shape[1], names=names, is_text=is_text
        )
        table = mixed_table(X, codes, is_categorical, scale=self.scale)
        self.is_categorical_ = is_categorical
        self.difference_units_ = difference_units(X, is_categorical, scale=self.scale)
        self.feature_importances_ = self._feature_scores(table, anchor_weight)
        return self

    @abstractmethod
    def _feature_scores(self, table, anchor_weight):
        """Score of each feature; higher is better."""

    def _check_parameters(self):
        check.check_option_or_none("scale", self.scale, ("range",))
        if self.threshold is not None:
            check.check_finite("threshold", self.threshold)

    def _get_support_mask(self):
        check_is_fitted(self)
        score, count = self.feature_importances_, self.n_features_to_select
        mask = np.ones(score.size, dtype=bool)
        if self.threshold is not None or count is None:
            mask = score > (self.threshold or 0.0)
        if count is not None:
            n_kept = count if isinstance(count, Integral) else max(1, round(count * score.size))
            mask[np.argsort(-score, kind="stable")[n_kept:]] = False
        return mask

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = self.allow_nan
        return tags
