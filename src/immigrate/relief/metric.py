"""Metrics of the family: LFE, Relief with a full matrix, and nearest neighbours under weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array
from immigrate.checks import check_count, check_option
from immigrate.core.cones import NEGLIGIBLE, norm
from immigrate.core.forms import QUADRATIC
from immigrate.kernels.neighbours_numpy import Nearest
from immigrate.kernels.threads import n_threads
from immigrate.progress import fitting, warn_user
from immigrate.relief.base import (
    METRICS,
    MarginSelector,
    hit_and_miss_sides,
    mixed_table,
    one_pass,
)
from immigrate.scikit_learn import StoredEstimator
from immigrate.table import Reader, Table, check_values, read_table, read_weighted_table


class LFE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, StoredEstimator):
    """Local feature extraction: linear combinations of features that make the margin large.

    With m and h the vectors from a sample to its nearest miss and hit, the mean margin
    m' W m - h' W h over positive semi-definite W of norm 1 is largest at the positive part
    of the spectrum of mean(m m' - h h'), scaled [1]_. The eigenvectors times the roots of
    the eigenvalues are the components: Euclidean distances after `transform` are the
    distances under W.

    Directions are sums of features, so features are numbers, all of them known: encode nominal
    columns and fill gaps first. Differences of features are added up, so features should be on
    one scale: put a `sklearn.preprocessing.StandardScaler` before this estimator.

    Parameters
    ----------
    n_components : int, default=None
        Keep so many components with the largest eigenvalues. None keeps all that are
        positive; there may be fewer than asked for.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, strongest first. The squared length of each is its eigenvalue, divided by the
        norm of all eigenvalues.
    weight_matrix_ : ndarray of shape (n_features, n_features)
        W: positive semi-definite with Frobenius norm 1, before components are dropped.
    eigenvalues_ : ndarray of shape (n_components_,)
        Of mean(m m' - h h').
    n_components_ : int
    classes_ : ndarray of shape (n_classes,)
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    References
    ----------
    .. [1] Y. Sun and D. Wu, "A RELIEF based feature extraction algorithm", SIAM International
       Conference on Data Mining 2008, 188-195. :doi:`10.1137/1.9781611972788.17`

    Examples
    --------
    >>> from immigrate import LFE
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LFE(n_components=2), KNeighborsClassifier(1))
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts. It weighs the sample as an anchor, not as
            a neighbour of others, so a weight of 2 is not the same as repeating the row.

        Returns
        -------
        self
        """
        with fitting(self):
            if self.n_components is not None:
                check_count("n_components", self.n_components)
            data = read_weighted_table(
                self, X, y, sample_weight, class_weight=self.class_weight, allow_nan=False
            )
            check_no_names(data.reader)
            margin = self._margin_scatter(data)
            eigenvalues, vectors = linalg.eigh(margin)
            is_positive = eigenvalues > NEGLIGIBLE * np.abs(eigenvalues).max()
            if not is_positive.any():
                warn_user(
                    "No direction leads further to misses than to hits: all are kept, alike. "
                    "Check that the features are not constant and carry information about the "
                    "classes.",
                    ConvergenceWarning,
                )
                eigenvalues, is_positive = np.ones_like(eigenvalues), np.ones_like(is_positive)
            data.keep_on(self)
            self._adopt(eigenvalues[is_positive][::-1], vectors[:, is_positive].T[::-1])
        return self

    def transform(self, X: Any) -> Array:
        """Project onto the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        projected: Array = read_table(self, X, allow_nan=False) @ self.components_.T
        return projected

    def _margin_scatter(self, data: Table) -> Array:
        """sum_n D_n (m m' - h h')."""
        X = data.values.astype(np.float64, copy=False)
        # W does not depend on the units of X; a power of two is exact.
        X = np.ldexp(X, -np.frexp(np.ptp(X / 2, axis=0).max())[1])
        W = np.empty((X.shape[1], X.shape[1]))
        return one_pass(
            mixed_table(X, data.outcome.codes, scale=None),
            Nearest(),
            # Differences keep their signs here: LFE is a projection, and |x - x'| is not linear.
            lambda pairs: QUADRATIC.scatter(
                W, (X[pairs.neighbour] - X[pairs.anchor]).T[:, :, None], pairs.weight[:, None]
            ),
            sides=hit_and_miss_sides(len(data.outcome.classes)),
            anchor_weight=data.anchor_weight,
            n_threads=n_threads(self.n_jobs),
        )

    def _adopt(self, eigenvalues: Array, vectors: Array) -> None:
        # Eigenvectors have no sign; the largest entry is made positive.
        largest = np.abs(vectors).argmax(axis=1)[:, None]
        vectors = vectors * np.sign(np.take_along_axis(vectors, largest, axis=1))
        components = np.sqrt(eigenvalues / norm(eigenvalues))[:, None] * vectors
        self.weight_matrix_ = components.T @ components
        self.components_ = components[: self.n_components]
        self.eigenvalues_ = eigenvalues[: self.n_components]
        self.n_components_ = len(self.components_)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def check_no_names(reader: Reader) -> None:
    """Refuse nominal columns: the sum of a name and a number has no meaning."""
    for j in np.flatnonzero(reader.is_nominal & reader.is_used):
        raise ValueError(
            f"Column {reader.names[j]!r} holds names such as {reader.levels[j][0]!r}; LFE adds "
            "features up and takes numbers only. Encode it first, for example with "
            "sklearn.preprocessing.OneHotEncoder, or drop it."
        )


def check_no_circles(reader: Reader) -> None:
    """Refuse circular columns: no columns of numbers have their differences."""
    if reader.period is None:
        return
    for j in np.flatnonzero(np.isfinite(reader.period) & reader.is_used):
        raise ValueError(
            f"Column {reader.names[j]!r} is circular; nearest neighbours measure along lines. "
            "Give its cosine and sine as columns of their own, or drop it."
        )


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
        numbers). Missing values and circular columns are refused: nearest neighbours have no
        difference for them.
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
        if weigher.outcome == "auto":
            # Neighbours vote for classes.
            weigher = clone(weigher).set_params(outcome="class")
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
            check_no_circles(selector.column_reader_)
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
