"""The training data of a fit as one value: checked, coded, and not yet written anywhere.

scikit-learn's `validate_data` writes names and counts on the estimator that it is given. A fit
that is refused or interrupted must leave the old model whole, so here it is given a stand-in,
and what it wrote comes back as part of the value. `remember` writes it on the estimator in the
end, when nothing can fail any more.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from immigrate.typing import Array, Codes, Mask


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A checked table with its labels.

    Attributes
    ----------
    X : ndarray of shape (n, p)
    codes : ndarray of shape (n,)
        Index of each sample's class in `classes`.
    classes : ndarray of shape (n_classes,)
    anchor_weight : ndarray of shape (n,) or None
        D of Eq. 10, with sum 1; None where all samples weigh the same.
    feature_names : ndarray of str or None
        None where the table has no column names.
    """

    X: Array
    codes: Codes
    classes: np.ndarray
    anchor_weight: Array | None
    feature_names: np.ndarray | None

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
        return TrainingData(
            self.X[chosen], self.codes[chosen], self.classes, weight, self.feature_names
        )


def training_data(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any = None, *, allow_nan: bool = False
) -> TrainingData:
    """The data of a call to `fit`, checked; the estimator is left as it is."""
    # A shallow copy has the parameters and tags that validation asks for.
    stand_in = copy.copy(estimator)
    X, y = validate_data(
        stand_in,
        X,
        y,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
        ensure_all_finite="allow-nan" if allow_nan else True,
    )
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    check_class_sizes(classes, np.bincount(codes))
    names = getattr(stand_in, "feature_names_in_", None)
    weight = None if sample_weight is None else anchor_weights(X, sample_weight)
    return TrainingData(X, codes, classes, weight, names)


def remember(estimator: BaseEstimator, data: TrainingData) -> None:
    """Write what scikit-learn wants to know of the data on the estimator: the end of a fit."""
    estimator.classes_ = data.classes
    estimator.n_features_in_ = data.X.shape[1]
    if data.feature_names is not None:
        estimator.feature_names_in_ = data.feature_names
    else:
        # A refit on a table without names must not leave the old ones behind.
        estimator.__dict__.pop("feature_names_in_", None)


def check_class_sizes(classes: np.ndarray, sizes: Codes) -> None:
    """Refuse labels that leave a sample without a hit or without a miss."""
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({classes[0]!r}); a margin needs at least 2 classes. "
            "Check that the right column is used as the target."
        )
    alone = classes[sizes < 2].tolist()
    if alone:
        names = ", ".join(repr(label) for label in alone[:5]) + (", ..." if alone[5:] else "")
        raise ValueError(
            f"Class {names} has {sizes.min() or 'no'} sample; a nearest hit needs at least 2. "
            "Merge rare classes or drop them."
        )


def anchor_weights(X: Array, sample_weight: Any) -> Array:
    """D of Eq. 10: the user's weights scaled to sum 1."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    # Twice, so that huge weights do not overflow their sum.
    weight = weight / weight.max()
    scaled: Array = weight / weight.sum()
    return scaled


def as_counts(weight: Array | None) -> Array | None:
    """Weights of importance scaled to sum to the effective sample size; None stays None."""
    return None if weight is None else weight * weight.sum() / np.sum(weight**2)


def checked_start(init: Any, is_kept: Mask) -> Array:
    """A starting W as the paper wants it: square, symmetric, non-negative, not all zero.

    `init` covers all features; what comes back covers those of the mask `is_kept`.
    """
    n_features = len(is_kept)
    W = np.asarray(init, dtype=np.float64)
    if W.shape != (n_features, n_features):
        raise ValueError(
            f"init has shape {W.shape}; X has {n_features} features, so it must be "
            f"({n_features}, {n_features})."
        )
    if not np.isfinite(W).all():
        raise ValueError("init holds NaN or infinity; give finite weights.")
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
