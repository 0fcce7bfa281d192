"""What the model is held against: simple methods on the same table and the same folds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from immigrate.arrays import Array
from immigrate.table import read_table, read_training_table


class EncodedColumns(TransformerMixin, BaseEstimator):
    """Any table as numbers for other libraries.

    Numbers in standard deviations from their mean, which stands where one is missing; a column
    of 0 and 1 for every level of a nominal column, all 0 where it is missing or new.

    Examples
    --------
    >>> import pandas as pd
    >>> from immigrate.report._baselines import EncodedColumns
    >>> X = pd.DataFrame({"dose": [1.0, 3.0, None, 2.0], "sex": ["f", "m", "m", None]})
    >>> EncodedColumns().fit_transform(X, [0, 0, 1, 1]).round(1)
    array([[-1.2,  1. ,  0. ],
           [ 1.2,  0. ,  1. ],
           [ 0. ,  0. ,  1. ],
           [ 0. ,  0. ,  0. ]])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn levels, means and units.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        table = read_training_table(self, X, y)
        reader = table.reader
        self.is_number_ = reader.is_used & ~reader.is_nominal
        self.nominal_ = np.flatnonzero(reader.is_used & reader.is_nominal)
        numbers = table.values[:, self.is_number_]
        is_known = ~np.isnan(numbers)
        n_known = np.maximum(is_known.sum(axis=0), 1)
        self.mean_ = np.where(is_known, numbers, 0).sum(axis=0) / n_known
        spread = np.where(is_known, numbers - self.mean_, 0)
        unit = np.sqrt((spread**2).sum(axis=0) / n_known)
        self.unit_ = np.where(unit > 0, unit, 1)
        table.keep_on(self)
        return self

    def transform(self, X: Any) -> Array:
        """A table like that of `fit` as numbers.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray
        """
        values = read_table(self, X)
        numbers = (values[:, self.is_number_] - self.mean_) / self.unit_
        # A missing value is NaN and equals no level: 0 in all columns.
        levels = [
            values[:, [j]] == np.arange(len(self.column_reader_.levels[j])) for j in self.nominal_
        ]
        return np.hstack([np.nan_to_num(numbers), *levels]).astype(np.float64)


def baselines(estimator: Any) -> dict[str, Any]:
    """Methods to hold `estimator` against, by name, behind the same first steps."""
    steps = [clone(step) for _, step in estimator.steps[:-1]] if _has_steps(estimator) else []
    ends = {
        "logistic regression": LogisticRegression(max_iter=5_000),
        "random forest": RandomForestClassifier(random_state=0),
        "the largest class": DummyClassifier(strategy="most_frequent"),
    }
    return {
        name: make_pipeline(*(clone(step) for step in steps), EncodedColumns(), end)
        for name, end in ends.items()
    }


def _has_steps(estimator: Any) -> bool:
    return isinstance(estimator, Pipeline) and len(estimator) > 1
