"""The training data of a fit as one value: read, checked, coded, and not yet written anywhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_sample_weight

from immigrate.arrays import Array, Codes, Mask
from immigrate.cluster.drawing import training_rows
from immigrate.cluster.partitions import is_collection
from immigrate.columns import (
    ColumnReader,
    TrainingTable,
    check_class_sizes,
    read_training_table,
)
from immigrate.progress import print_line
from immigrate.scikit_learn import checked_sample_weight


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A checked table with its labels.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Numbers, codes of levels, NaN where missing.
    codes : ndarray of shape (n,)
        Index of each sample's class in `classes`.
    anchor_weight : ndarray of shape (n,) or None
        D of Eq. 10, with sum 1; None where all samples weigh the same.
    source : TrainingTable
        The whole table as it was read: classes, names, levels.
    mismatch : float or ndarray of shape (p,)
        Difference between two levels, in the units of `X`.
    """

    X: Array
    codes: Codes
    anchor_weight: Array | None
    source: TrainingTable
    mismatch: Array | float = 1.0

    @property
    def classes(self) -> np.ndarray:
        """Class labels."""
        return self.source.classes

    @property
    def reader(self) -> ColumnReader:
        """What was learned about the columns."""
        return self.source.reader

    @property
    def feature_names(self) -> np.ndarray | None:
        """Names of the columns; None where the table has none."""
        return self.source.feature_names

    @property
    def n_levels(self) -> Codes:
        """Number of levels of nominal columns, 0 for numbers."""
        is_nominal = self.reader.is_nominal
        return np.array([len(x) for x in self.reader.levels], dtype=np.intp) * is_nominal

    def rows(self, chosen: np.ndarray) -> TrainingData:
        """Some of the samples, as a fold of a cross-validation needs them."""
        check_class_sizes(
            self.classes, np.bincount(self.codes[chosen], minlength=len(self.classes))
        )
        weight = None if self.anchor_weight is None else self.anchor_weight[chosen]
        if weight is not None and not weight.any():
            raise ValueError(
                "sample_weight is zero for all training samples of a fold; use a cv that spreads "
                "the weighted samples, such as a shuffled StratifiedKFold."
            )
        return replace(self, X=self.X[chosen], codes=self.codes[chosen], anchor_weight=weight)


def training_data(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    categorical_features: Any = "from_dtype",
    class_weight: Any = None,
    allow_nan: bool = True,
) -> TrainingData:
    """The data of a call to `fit`, checked; the estimator is left as it is.

    Of a collection of Dask, a sample of its rows.
    """
    if is_collection(X):
        drawn = training_rows(X, y, sample_weight)
        X, y, sample_weight = drawn.X, drawn.y, drawn.weight
        if getattr(estimator, "verbose", False):
            print_line(str(drawn))
    source = read_training_table(
        estimator, X, y, categorical_features=categorical_features, allow_nan=allow_nan
    )
    weight = anchor_weights(source, sample_weight, class_weight)
    return TrainingData(source.values, source.codes, weight, source)


def remember(estimator: BaseEstimator, data: TrainingData) -> None:
    """Write what is known of the data on the estimator: the end of a fit, nothing here fails."""
    data.source.keep_on(estimator)


def anchor_weights(source: TrainingTable, sample_weight: Any, class_weight: Any) -> Array | None:
    """D of Eq. 10: the user's weights, times those of the classes, scaled to sum 1."""
    if sample_weight is None and class_weight is None:
        return None
    weight: Array = np.ones(len(source.codes))
    if sample_weight is not None:
        weight = checked_sample_weight(sample_weight, source.values)
    if class_weight is not None:
        # The product of two huge weights would overflow.
        weight = _largest_one(weight) * _largest_one(class_weights(source, class_weight))
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    # Twice, so that huge weights do not overflow their sum.
    weight = _largest_one(weight)
    scaled: Array = weight / weight.sum()
    return scaled


def _largest_one(weight: Array) -> Array:
    largest = float(weight.max())
    return weight / largest if largest > 0 else weight


def class_weights(source: TrainingTable, class_weight: Any) -> Array:
    """What `class_weight` says of each sample."""
    weight: Array = compute_sample_weight(class_weight, source.classes[source.codes])
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError(
            f"class_weight must hold finite numbers, 0 or more, got {class_weight!r}."
        )
    return weight


def as_counts(weight: Array | None) -> Array | None:
    """Weights of importance scaled to sum to the effective sample size; None stays None."""
    if weight is None or not weight.any():
        return weight
    # By a power of two, which is exact: squares of tiny weights must not vanish.
    weight = np.ldexp(weight, -int(np.frexp(weight.max())[1]))
    # Their sum is then sum(w)^2 / sum(w^2), whatever unit the weights had.
    return weight * weight.sum() / np.sum(weight**2)


def checked_start(init: Any, is_kept: Mask) -> Array:
    """A starting W as the paper wants it: square, symmetric, non-negative, not all zero.

    `init` covers all features; what comes back covers those of the mask `is_kept`.
    """
    n_features = len(is_kept)
    try:
        W = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"init must be a matrix of {n_features} by {n_features} numbers, got {init!r}."
        ) from None
    if W.shape != (n_features, n_features):
        raise ValueError(
            f"init has shape {W.shape}; X has {n_features} features, so it must be "
            f"({n_features}, {n_features})."
        )
    if not np.isfinite(W).all():
        raise ValueError("init holds NaN or infinity; give finite weights.")
    # A matrix that was computed may be symmetric but for rounding; it is made so at the end.
    if not np.allclose(W, W.T, rtol=1e-10, atol=1e-12 * np.abs(W).max(initial=0)):
        raise ValueError("init is not symmetric; symmetrise it with (init + init.T) / 2.")
    if (W < 0).any():
        raise ValueError("init has negative weights; clip them with np.maximum(init, 0).")
    W = W[np.ix_(is_kept, is_kept)]
    if not W.any():
        raise ValueError(
            "init is all zero among the features in use, so every distance is 0; "
            "start from the identity."
        )
    return (W + W.T) / 2
