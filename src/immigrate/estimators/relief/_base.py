"""What every selector of the family shares: mixed types in, a score for each feature out."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Mask
from immigrate.checks import check_finite, check_option_or_none, check_selected_count
from immigrate.core.mixed_table import MixedTable, difference_units, mixed_table
from immigrate.estimators.base import fitting
from immigrate.margin.screen import chosen_by_importance
from immigrate.scikit_learn import StoredEstimator
from immigrate.table import Reader, chosen_columns, read_table, read_weighted_table

METRICS = ("euclidean", "manhattan")


class MarginSelector(SelectorMixin, StoredEstimator, metaclass=ABCMeta):
    """Selects features by a score learned from nearest hits and misses.

    A subclass implements `_learned`, and has the parameters `n_features_to_select`,
    `threshold`, `categorical_features` and `class_weight`; `scale` too unless differences are
    always in units of the range.
    """

    scale: str | None = "range"
    n_features_to_select: int | float | None
    threshold: float | None
    categorical_features: Any
    class_weight: Any
    feature_importances_: Array
    column_reader_: Reader

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score the features.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Numbers, flags, categories and text; missing values may be anywhere.
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
        with fitting(self):
            self._check_parameters()
            data = read_weighted_table(
                self,
                X,
                y,
                sample_weight,
                categorical_features=self.categorical_features,
                class_weight=self.class_weight,
            )
            check_selected_count(self.n_features_to_select, data.values.shape[1])
            is_categorical = data.reader.is_nominal
            table = mixed_table(data.values, data.outcome.codes, is_categorical, scale=self.scale)
            units = difference_units(data.values, is_categorical, scale=self.scale)
            learned = self._learned(table, data.anchor_weight)
            # An ascent leaves a weight where it started if no two samples differ in the column.
            score = np.where(data.reader.is_used, learned["feature_importances_"], 0.0)
            data.keep_on(self)
            self.is_categorical_, self.difference_units_ = is_categorical, units
            for name, value in learned.items():
                setattr(self, name, value)
            self.feature_importances_ = score
        return self

    def transform(self, X: Any) -> Any:
        """The chosen columns, as they were given.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_selected), or data frame
            Numbers as they are, an array of objects where text or categories are among them.
            With ``set_output(transform="pandas")`` a data frame keeps the types of its columns.
        """
        check_is_fitted(self)
        return chosen_columns(self, X, read_table(self, X))

    @abstractmethod
    def _learned(self, table: MixedTable, anchor_weight: Array | None) -> dict[str, Any]:
        """Fitted attributes by name; `feature_importances_`, the higher the better, is one."""

    def _check_parameters(self) -> None:
        check_option_or_none("scale", self.scale, ("range",))
        if self.threshold is not None:
            check_finite("threshold", self.threshold)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        score, count, limit = (
            self.feature_importances_,
            self.n_features_to_select,
            self.threshold,
        )
        if limit is None and count is None:
            # A score of 0 is what a feature without information gets.
            limit = float(np.nextafter(0, 1))
        # The score of 0 of what is no feature would rank above those of useless features.
        is_used = self.column_reader_.is_used
        return is_used & chosen_by_importance(np.where(is_used, score, -np.inf), limit, count)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
