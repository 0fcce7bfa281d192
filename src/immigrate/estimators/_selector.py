"""Chosen features and chosen pairs, as columns for any model that comes after."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from immigrate.checks import check_count, check_finite, check_selected_count
from immigrate.estimators._columns import numeric_table, with_categories
from immigrate.estimators._immigrate import ImmigrateClassifier
from immigrate.estimators._importance import chosen_by_importance
from immigrate.estimators._screen import importances
from immigrate.estimators.weight_table import is_false, pair_test
from immigrate.messages import warn_user
from immigrate.typing import Array, Mask


def _has_no_products(selector: ImmigrateSelector) -> bool:
    if selector.pairs:
        raise AttributeError("Products of pairs cannot be turned back; use pairs=False.")
    return True


class ImmigrateSelector(SelectorMixin, BaseEstimator):
    """Keeps features by their importance and, if asked, appends pairs as product columns.

    Found interactions can so feed a model that has none of its own, such as a logistic
    regression. In a pipeline the selection is made inside the folds of a cross-validation.

    Parameters
    ----------
    estimator : classifier, default=None
        Weighs features and pairs: `ImmigrateClassifier`, its CV or boosted form; for features
        alone any with `feature_importances_` or `coef_`. None is ``ImmigrateClassifier()``.
    n_features_to_select : int or float, default=None
        Keep so many features with the highest importance; a float is a share of all.
    threshold : float, default=None
        Keep features with at least this importance (they sum to 1). None is the mean
        importance when `n_features_to_select` is None, else no limit.
    pairs : bool, default=False
        Whether to append a column (x_a - mean x_a) (x_b - mean x_b) for each chosen pair; the
        means are those of the training samples, so that the product of two features does
        not repeat what each says alone.
    n_pairs : int, default=5
        How many pairs, the heaviest first, where no test chooses them; none of weight 0.
    test : None, bool or InteractionTest, default=None
        What chooses the pairs instead: those with a significant departure from additivity.
        True is ``InteractionTest()``. Features of a chosen pair are kept too.

    Attributes
    ----------
    estimator_ : classifier
        Fitted.
    test_ : InteractionTest
        Fitted; only with a test.
    pairs_ : ndarray of shape (n_chosen, 2)
        Indices of the features of each chosen pair, strongest pair first.
    feature_importances_ : ndarray of shape (n_features_in_,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    InteractionTest : Which pairs depart from additivity.
    sklearn.feature_selection.SelectFromModel : Features only.

    Examples
    --------
    >>> from immigrate import ImmigrateSelector
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(300, 5, noise=0.1, random_state=0)
    >>> selector = ImmigrateSelector(n_features_to_select=2, pairs=True, test=True)
    >>> selector.fit(X, y).get_feature_names_out()
    array(['a', 'b', 'a × b'], dtype=object)
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_features_to_select: int | float | None = None,
        threshold: float | None = None,
        pairs: bool = False,
        n_pairs: int = 5,
        test: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.pairs = pairs
        self.n_pairs = n_pairs
        self.test = test

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose features and pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the classifier if it takes weights, and to the test, which reads them as
            counts.

        Returns
        -------
        self
        """
        # Everything is learned on a copy, which this selector becomes when all has gone well.
        fitted = copy.copy(self)
        fitted.__dict__.pop("test_", None)
        fitted._learn(X, y, sample_weight)
        self.__dict__ = fitted.__dict__
        return self

    def transform(self, X: Any) -> Array:
        """The chosen columns of `X`, then the products of the chosen pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_selected + n_chosen_pairs)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        selected = X[:, self.get_support()]
        if not selected.shape[1]:
            warn_user("No features were selected: the threshold is too high.", UserWarning)
        if not self.pairs:
            return selected
        a, b = self.pairs_.T
        centred = X - self._means
        return np.hstack([selected, centred[:, a] * centred[:, b]])

    @available_if(_has_no_products)  # type: ignore[untyped-decorator]
    def inverse_transform(self, X: Any) -> Array:
        """Put the chosen columns back in their places, with zeros between them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the chosen features, then "a × b" for each chosen pair.

        Parameters
        ----------
        input_features : array-like of str, optional
            By default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        selected = super().get_feature_names_out(input_features)
        if not self.pairs:
            return selected
        names = _check_feature_names_in(self, input_features)
        products = [f"{names[a]} × {names[b]}" for a, b in self.pairs_]
        return np.array([*selected, *products], dtype=object)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        _, nominal = numeric_table(X)
        X, y = validate_data(self, X, y, dtype=np.float64)
        self._check_parameters()
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        self._means = np.average(X, axis=0, weights=sample_weight)
        if hasattr(self, "feature_names_in_"):
            X = pd.DataFrame(X, columns=self.feature_names_in_)
        self.estimator_ = (
            ImmigrateClassifier() if self.estimator is None else clone(self.estimator)
        )
        self.feature_importances_ = importances(self.estimator_, X, y, sample_weight)
        self.pairs_ = self._chosen_pairs(with_categories(X, nominal), y, sample_weight)
        self._check_names()

    @property
    def _has_test(self) -> bool:
        return self.test is not None and not is_false(self.test)

    def _check_parameters(self) -> None:
        check_selected_count(self.n_features_to_select, self.n_features_in_)
        check_count("n_pairs", self.n_pairs)
        if self.threshold is not None:
            check_finite("threshold", self.threshold)
        if not isinstance(self.pairs, bool | np.bool_):
            raise ValueError(f"pairs must be True or False, got {self.pairs!r}.")

    def _check_names(self) -> None:
        if not self.pairs:
            return
        names, count = np.unique(self.get_feature_names_out().astype(str), return_counts=True)
        if np.any(count > 1):
            raise ValueError(
                f"Two of the chosen columns would be called {names[count > 1][0]!r}: products are "
                "named after their features. Rename the columns of X."
            )

    def _chosen_pairs(self, X: Any, y: np.ndarray, sample_weight: Array | None) -> np.ndarray:
        if self._has_test:
            self.test_ = clone(pair_test(self.test))
            if X.shape[1] < 2:
                return np.empty((0, 2), dtype=int)
            table = self.test_.fit(X, y, sample_weight=sample_weight).selected_
        elif self.pairs:
            if not hasattr(self.estimator_, "interactions"):
                raise ValueError(
                    f"pairs=True needs an estimator with interactions(), or a test to choose "
                    f"them; {self.estimator_!r} has none. Set test=True."
                )
            table = self.estimator_.interactions()
            table = table[(table["kind"] == "pair") & (table["weight"] != 0)].head(self.n_pairs)
        else:
            return np.empty((0, 2), dtype=int)
        position = {name: i for i, name in enumerate(_check_feature_names_in(self))}
        columns = [table[name].map(position) for name in ("feature_1", "feature_2")]
        return np.stack(columns, axis=1).astype(int)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        importance, count = self.feature_importances_, self.n_features_to_select
        limit = self.threshold
        if limit is None and count is None:
            limit = float(importance.mean())
        mask = chosen_by_importance(importance, limit, count)
        if self._has_test:
            mask[self.pairs_.ravel()] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
