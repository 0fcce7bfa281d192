"""Chosen features and chosen pairs, as columns for any model that comes after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import (
    FROM_DTYPE,
    check_count,
    check_finite,
    check_option,
    check_selected_count,
)
from immigrate.estimators.immigrate import ImmigrateClassifier
from immigrate.estimators.immigrate_regressor import ImmigrateRegressor
from immigrate.estimators.interaction_test import InteractionTest, fitted_on_table
from immigrate.kinds.circular import chosen_periods
from immigrate.kinds.column import Levels
from immigrate.margin.encoding import Columns, resolved_columns
from immigrate.margin.screen import chosen_by_importance, importances
from immigrate.outcomes import OUTCOMES
from immigrate.progress import collected_warnings, fitting
from immigrate.scikit_learn import StoredEstimator, checked_feature_names, checked_sample_weight
from immigrate.table import (
    ColumnWarning,
    Reader,
    SampleWeight,
    Table,
    chosen_columns,
    read_table,
    read_training_table,
    typed_table,
)
from immigrate.table.weights import warn_if_no_counts

# Columns of a circular feature in a product.
WAVES = ("cos({})", "sin({})", "cos(2 {})", "sin(2 {})")


def _has_no_products(selector: ImmigrateSelector) -> bool:
    if selector.pairs:
        raise AttributeError("Products of pairs cannot be turned back; use pairs=False.")
    return True


class ImmigrateSelector(SelectorMixin, StoredEstimator):
    """Keeps features by their importance and, on request, appends pairs as product columns.

    In this way a model without interactions, such as a logistic regression, can use those that
    were found. In a pipeline the selection is made inside the folds of a cross-validation.

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        Weighs features and pairs: `ImmigrateClassifier`, its CV or boosted form, for numbers
        `ImmigrateRegressor`; for features alone any with `feature_importances_` or `coef_`. None
        is ``ImmigrateClassifier()``, or ``ImmigrateRegressor()`` where the label is a number.
    n_features_to_select : int or float, default=None
        How many features to keep, the most important first; a float is a share.
    threshold : float, default=None
        Keep features with at least this importance (they sum to 1). None is the mean
        importance when `n_features_to_select` is None, else no limit.
    pairs : bool, default=False
        Whether to append a column (x_a - mean x_a) (x_b - mean x_b) for each chosen pair; the
        means are those of the training samples, so that the product of two features does
        not repeat what each says alone. A nominal feature enters as one 0/1 column per level
        but the first, so that its pair has as many columns, named `a=level × b`. A circular
        feature enters as `cos(a)`, `sin(a)`, `cos(2 a)` and `sin(2 a)`.
    n_pairs : int, default=5
        How many pairs if no test chooses them, largest weights first; never one of weight 0.
    test : None, bool or InteractionTest, default=None
        A test that chooses the pairs: those with a significant departure from additivity. True
        is ``InteractionTest()``. Features of a chosen pair are kept too.
    categorical_features : "from_dtype", array-like of names, indices or bool, or None, \
            default="from_dtype"
        Columns whose levels have no order. It holds for the estimator and for the test, in place
        of their own parameters. "from_dtype" takes text and categories that are not ordered.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
        It holds for the estimator and for the test as well.
    outcome : {"auto", "class", "number"}, default="auto"
        What the label is. "auto" goes by the estimator, and without one by the values, as
        `InteractionTest` does.

    Attributes
    ----------
    estimator_ : classifier or regressor
        Fitted.
    test_ : InteractionTest
        Fitted; only with a test.
    pairs_ : ndarray of shape (n_chosen, 2)
        Indices of the features of each chosen pair, strongest pair first.
    feature_importances_ : ndarray of shape (n_features_in_,)
    classes_ : ndarray of shape (n_classes,)
        Only where the label is a class.
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    InteractionTest : Which pairs depart from additivity.
    sklearn.feature_selection.SelectFromModel : Features only.

    Notes
    -----
    Tables are read once, and the estimator and the test see the same reading. Chosen columns
    come out of `transform` as they were given: numbers as floats, and an array of objects where
    text or categories are among them. With ``set_output(transform="pandas")`` a data frame
    keeps the types of its columns. Products with a missing value are missing.

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
        categorical_features: Any = FROM_DTYPE,
        circular_features: Any = None,
        outcome: str = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.pairs = pairs
        self.n_pairs = n_pairs
        self.test = test
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.outcome = outcome

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose features and pairs.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, or numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Passed to the classifier if it takes weights, and to the test, which reads them as
            counts.

        Returns
        -------
        self
        """
        with fitting(self):
            # An earlier fit may have had a test, which this one need not have.
            self.__dict__.pop("test_", None)
            self._learn(X, y, sample_weight)
        return self

    def _part(self, name: str, value: Any) -> Any:
        return ImmigrateClassifier() if name == "estimator" and value is None else value

    def transform(self, X: Any) -> Any:
        """The chosen columns of `X`, then the products of the chosen pairs.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_selected + n_product_columns), or data frame
        """
        check_is_fitted(self)
        values = read_table(self, X)
        selected = chosen_columns(self, X, values)
        if not self.pairs:
            return selected
        products = self._pair_columns.products(values, self.pairs_)
        if not isinstance(selected, pd.DataFrame):
            return np.hstack([selected, products])
        names = self._pair_columns.names(self.column_reader_.names, self.pairs_)
        beside = pd.DataFrame(products, columns=names, index=selected.index)
        return pd.concat([selected, beside], axis=1)

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
        """Names of the chosen features, then "a × b" or "a=level × b" for each product.

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
        names = checked_feature_names(self, input_features)
        products = self._pair_columns.names(list(names), self.pairs_)
        return np.array([*selected, *products], dtype=object)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> None:
        outcome = check_option("outcome", self.outcome, OUTCOMES)
        if outcome == "auto" and self.estimator is not None:
            outcome = "number" if is_regressor(self.estimator) else "class"
        table = read_training_table(
            self,
            X,
            y,
            categorical_features=self.categorical_features,
            circular_features=self.circular_features,
            outcome=outcome,
        )
        self._check_parameters(table.values.shape[1])
        if sample_weight is not None:
            sample_weight = checked_sample_weight(sample_weight, table.values)
        table.keep_on(self)
        self._pair_columns = PairColumns.of(table.values, table.reader, sample_weight)
        default = ImmigrateClassifier if table.outcome.numbers is None else ImmigrateRegressor
        self.estimator_ = default() if self.estimator is None else clone(self.estimator)
        if table.reader.period is not None:
            _name_circles(self.estimator_, table.reader.period)
        self.feature_importances_ = self._importances(table, sample_weight)
        self.pairs_ = self._chosen_pairs(table, sample_weight)
        if self.pairs:
            self._refuse_circular_pairs(table.reader)
        self._check_names()

    def _refuse_circular_pairs(self, reader: Reader) -> None:
        """Refuse pairs of columns that come round for the estimator and not for the products."""
        if reader.period is not None:
            return
        names = reader.names
        for columns in self.estimator_.get_params().values():
            if not isinstance(columns, Columns):
                continue
            for j in chosen_periods(columns.circular_features, names):
                if (self.pairs_ == j).any():
                    raise ValueError(
                        f"Column {names[j]!r} is circular for the estimator and in a pair, and a "
                        "number for its products. Give circular_features to the selector, which "
                        "holds for both, or use pairs=False."
                    )

    def _importances(self, table: Table, sample_weight: Array | None) -> Array:
        y: Any = table.outcome.numbers
        if y is None:
            y = table.outcome.classes[table.outcome.codes]
        X: Any = table.values
        if get_tags(self.estimator_).input_tags.categorical:
            X = typed_table(table)
        elif table.feature_names is not None:
            X = pd.DataFrame(X, columns=table.feature_names)
        # Said already, about the table as the user gave it.
        with collected_warnings(hidden=ColumnWarning):
            return importances(self.estimator_, X, y, sample_weight)

    @property
    def _has_test(self) -> bool:
        return self.test is not None and not is_false(self.test)

    def _check_parameters(self, n_features: int) -> None:
        check_selected_count(self.n_features_to_select, n_features)
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

    def _chosen_pairs(self, table: Table, sample_weight: Array | None) -> Codes:
        if self._has_test:
            found = self._found_by_test(table, sample_weight)
        elif self.pairs:
            found = self._heaviest()
        else:
            return np.empty((0, 2), dtype=np.intp)
        position = {name: i for i, name in enumerate(table.reader.names)}
        columns = [found[name].map(position) for name in ("feature_1", "feature_2")]
        return np.stack(columns, axis=1).astype(np.intp)

    def _found_by_test(self, table: Table, sample_weight: Array | None) -> pd.DataFrame:
        test, reader = pair_test(self.test), table.reader
        if len(reader.names) < 2:
            self.test_ = clone(test)
            return pd.DataFrame(columns=["feature_1", "feature_2"])
        if sample_weight is not None:
            warn_if_no_counts(sample_weight[sample_weight > 0])
        weight = None if sample_weight is None else SampleWeight(sample_weight, "count")
        self.test_ = fitted_on_table(test, replace(table, weight=weight))
        return self.test_.selected_

    def _heaviest(self) -> pd.DataFrame:
        if not hasattr(self.estimator_, "interactions"):
            raise ValueError(
                f"pairs=True needs an estimator with interactions(), or a test to choose "
                f"them; {self.estimator_!r} has none. Set test=True."
            )
        weights = self.estimator_.interactions()
        return weights[(weights["kind"] == "pair") & (weights["weight"] != 0)].head(self.n_pairs)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        importance, count = self.feature_importances_, self.n_features_to_select
        limit = self.threshold
        if limit is None and count is None:
            # The rule of scikit-learn's `SelectFromModel`.
            limit = float(importance.mean())
        # What is no feature is never chosen, however many are asked for.
        is_used = self.column_reader_.is_used
        mask = is_used & chosen_by_importance(np.where(is_used, importance, -1.0), limit, count)
        if self._has_test:
            mask[self.pairs_.ravel()] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _name_circles(estimator: Any, period: Array) -> None:
    """Let an estimator know which columns come round; refuse one that has no such columns."""
    circular = {int(j): float(period[j]) for j in np.flatnonzero(np.isfinite(period))}
    parameters = estimator.get_params(deep=False)
    if "circular_features" in parameters:
        estimator.set_params(circular_features=circular)
    elif "columns" in parameters:
        columns = clone(resolved_columns(parameters["columns"]))
        estimator.set_params(columns=columns.set_params(circular_features=circular))
    else:
        raise ValueError(
            f"{type(estimator).__name__} has no circular columns, and would read 23 h and 0 h as "
            "far apart. Use an estimator of this library, such as ImmigrateClassifier, or give "
            "cosine and sine as columns of their own in place of circular_features."
        )


def is_false(value: Any) -> bool:
    """Whether a switch is off, in Python's or NumPy's way of saying it."""
    return isinstance(value, bool | np.bool_) and not value


def pair_test(test: Any) -> InteractionTest:
    """The test that `test` stands for: True is the default one; one of triples is refused."""
    if isinstance(test, bool | np.bool_) and test:
        return InteractionTest()
    if not isinstance(test, BaseEstimator) or not hasattr(test, "order"):
        raise ValueError(f"test must be True, False, None or an InteractionTest, got {test!r}.")
    if test.order != 2:
        raise ValueError(f"test has order={test.order}; pairs need InteractionTest(order=2).")
    return test


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Products of the features of chosen pairs, as columns for a model that has none of its own.

        number × number    (x_a - mean x_a) (x_b - mean x_b)                    a × b
        nominal × number   one column per level but the first, its 0/1 centred  a=level × b
        nominal × nominal  one column per two such levels                       a=level × b=level
        circular × any     cosine and sine of the angle and of its double,      cos(a) × b, ...,
                           centred: four columns                                sin(2 a) × b

    A product with a missing value is missing. Flags and ordered categories are numbers.

    Attributes
    ----------
    levels : tuple of tuple
        Levels of nominal features, empty for the others.
    means : tuple of ndarray
        Of each feature, of the 0/1 columns of its levels but the first, or of its waves.
    periods : tuple of float or None
        Periods of circular features, infinite for the others; None where there is none.
    """

    levels: tuple[Levels, ...]
    means: tuple[Array, ...]
    periods: tuple[float, ...] | None = None

    @classmethod
    def of(cls, values: Array, reader: Reader, weight: Array | None) -> PairColumns:
        """With the means of the training samples, each counting by its weight."""
        levels = tuple(kind.levels if kind.is_nominal else () for kind in reader.kinds)
        periods = None if reader.period is None else tuple(reader.period.tolist())
        means = tuple(
            _known_mean(_factors(x, kind.levels if kind.is_nominal else (), kind.period), weight)
            for x, kind in zip(values.T, reader.kinds)
        )
        return cls(levels, means, periods)

    def products(self, values: Array, pairs: Codes) -> Array:
        """The columns of all pairs, side by side: (n, n_columns)."""
        with np.errstate(over="ignore"):  # refused below
            columns = [
                self._centred(values, a)[:, i] * self._centred(values, b)[:, j]
                for a, b in pairs
                for i, j in self._places(a, b)
            ]
        if any(np.isinf(column).any() for column in columns):
            raise ValueError(
                "The product of two features overflows. Scale the features first, for example "
                "with StandardScaler."
            )
        return np.column_stack(columns) if columns else np.empty((len(values), 0))

    def names(self, names: Sequence[Any], pairs: Codes) -> list[str]:
        """Names of these columns."""
        return [
            f"{self._name(names, a, i)} × {self._name(names, b, j)}"
            for a, b in pairs
            for i, j in self._places(a, b)
        ]

    def _places(self, a: int, b: int) -> Iterable[tuple[int, int]]:
        return product(range(len(self.means[a])), range(len(self.means[b])))

    def _centred(self, values: Array, j: int) -> Array:
        factors = _factors(values[:, j], self.levels[j], self._period(j))
        centred: Array = factors - self.means[j]
        return centred

    def _period(self, j: int) -> float:
        return np.inf if self.periods is None else self.periods[j]

    def _name(self, names: Sequence[Any], j: int, place: int) -> str:
        levels = self.levels[j]
        if self._period(j) < np.inf:
            return WAVES[place].format(names[j])
        return f"{names[j]}={levels[place + 1]}" if levels else str(names[j])


def _factors(x: Array, levels: Levels, period: float) -> Array:
    """A number as one column, a nominal feature as the 0/1 columns of its levels but the first.

    A circular feature is the cosine and sine of its angle and of its double.
    """
    if period < np.inf:
        angle = 2 * np.pi * x.astype(np.float64) / period
        return np.column_stack([wave(k * angle) for k in (1, 2) for wave in (np.cos, np.sin)])
    if not levels:
        return x[:, None].astype(np.float64)
    # An unseen level is none of these: 0 in all columns.
    columns = (x[:, None] == np.arange(1, len(levels))).astype(np.float64)
    columns[np.isnan(x)] = np.nan
    return columns


def _known_mean(columns: Array, weight: Array | None) -> Array:
    """Means over the known values; 0 where there is none with a weight.

    A nominal feature of one level has no columns, and so no means.
    """
    is_known = ~np.isnan(columns).any(axis=1)
    counted = None if weight is None else weight[is_known]
    if not columns.size or not is_known.any() or (counted is not None and not counted.any()):
        return np.zeros(columns.shape[1])
    # The sum of huge weights would overflow.
    share = None if counted is None else counted / counted.max()
    mean: Array = np.average(columns[is_known], axis=0, weights=share)
    return mean
