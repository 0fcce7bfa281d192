"""Checks shared by the estimators: each error says what came, what was expected, what to do."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data


def check_training_data(estimator, X, y, sample_weight=None, *, allow_nan=False):
    """Validated table, class codes and anchor weights D; sets `classes_` on the estimator."""
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=[np.float64, np.float32],
        ensure_min_samples=2,
        ensure_all_finite="allow-nan" if allow_nan else True,
    )
    check_classification_targets(y)
    estimator.classes_, codes = np.unique(y, return_inverse=True)
    check_class_sizes(estimator.classes_, np.bincount(codes))
    return X, codes, anchor_weights(X, sample_weight)


def check_class_sizes(classes, sizes):
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


def anchor_weights(X, sample_weight):
    """D of Eq. 10: the user's weights scaled to sum 1."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight is zero for every sample; give at least one a weight.")
    weight = weight / weight.max()
    return weight / weight.sum()


def check_option(name, value, choices):
    """`value` if it is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {sorted(choices)}.")
    return value


def check_option_or_none(name, value, choices):
    """`value` if it is None or one of `choices`."""
    if value is not None and (not isinstance(value, str) or value not in choices):
        raise ValueError(f"{name}={value!r} is unknown; choose None or one of {sorted(choices)}.")
    return value


def check_finite(name, value):
    """`value` as a finite float."""
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    return float(value)


def check_positive(name, value):
    """`value` as a finite float above 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a number above 0, got {value!r}.")
    return float(value)


def check_not_negative(name, value):
    """`value` as a finite float, 0 or more."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number, 0 or more, got {value!r}.")
    return float(value)


def check_prune(name, value):
    """`value` if it is a choice for pruning: None, "auto" or a size."""
    if isinstance(value, str):
        return check_option(name, value, ("auto",))
    return None if value is None else check_not_negative(name, value)


def check_count(name, value):
    """`value` as a whole number, 1 or more."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or more, got {value!r}.")
    return int(value)


def check_selected_count(count, n_features):
    """Refuse a number of features to select that is neither None, a share nor a possible count."""
    if count is None:
        return
    is_number = isinstance(count, Real) and not isinstance(count, bool)
    if is_number and not isinstance(count, Integral) and 0 < count <= 1:
        return
    if not is_number or not isinstance(count, Integral) or count < 1:
        raise ValueError(
            "n_features_to_select must be a whole number, 1 or more, a share above 0 and up to "
            f"1.0, or None; got {count!r}."
        )
    if count > n_features:
        raise ValueError(
            f"n_features_to_select={count}, but X has {n_features} features; ask for no more, "
            "or for a share such as 0.5."
        )


def check_weight_matrix(init, is_kept):
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
