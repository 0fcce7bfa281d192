"""Screening: which features enter the weight matrix of a wide table, section 3.6 of the paper.

    weigh the features -> those above the limit, the strongest first -> and those named by the user

Each stage gives a weight or a mask over all features; a screen that looks at pairs joins as one
more mask.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
    has_fit_parameter,
)

from immigrate.core.cones import share
from immigrate.estimators import _validation as check
from immigrate.estimators._im4e import IM4EClassifier
from immigrate.estimators._interaction_test import InteractionTest
from immigrate.estimators._warnings import warn_user

N_BEST = 5
N_OF_PAIRS = 20
SCREENS = ("im4e", "pairs")


class ScreeningMixin:
    """Fitting on the features that pass a screen, answering for all of them.

    A subclass has the parameters `screen`, `screen_threshold`, `screen_max`, `keep` and
    `n_jobs`, and calls `_screened` once in `fit`.
    """

    def get_support(self, indices=False):
        """Which features the model uses: all of them, or those that passed the screen.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return indices instead of a mask.

        Returns
        -------
        ndarray of shape (n_features_in_,) of bool, or (n_kept,) of int
        """
        check_is_fitted(self)
        return np.flatnonzero(self._is_kept) if indices else self._is_kept.copy()

    def get_feature_names_out(self, input_features=None):
        """Names of the features that the model uses, in the order of the weight matrix.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of all features; by default those seen in `fit`, or x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self._is_kept]

    def _check_screen_parameters(self):
        if isinstance(self.screen, str):
            check.check_option("screen", self.screen, SCREENS)
        if isinstance(self.screen_threshold, str):
            check.check_option("screen_threshold", self.screen_threshold, ("auto",))
        else:
            check.check_not_negative("screen_threshold", self.screen_threshold)
        if self.screen_max is not None:
            check.check_count("screen_max", self.screen_max)

    def _screened(self, X, y, anchor_weight):
        """The columns of `X` that pass the screen."""
        p = X.shape[1]
        self._is_kept = np.ones(p, dtype=bool)
        is_named = named_features(self.keep, getattr(self, "feature_names_in_", None), p)
        vars(self).pop("screen_importances_", None)
        if self.screen is None:
            return X
        self.screen_importances_ = self._screen_importances(X, y, anchor_weight)
        limit = 2 / p if self.screen_threshold == "auto" else self.screen_threshold
        self._is_kept = is_named | passes(self.screen_importances_, limit, self.screen_max)
        if isinstance(self.screen, str) and self.screen == "pairs":
            self._is_kept |= in_strong_pairs(X, y, anchor_weight, self.n_jobs)
        return self._used_features(X)

    def _screen_importances(self, X, y, anchor_weight):
        if isinstance(self.screen, str):
            return im4e_weights(self, X, y, anchor_weight)
        # A regularised screen reads weights as counts: D sums to 1, counts to the sample size.
        weight = None if anchor_weight is None else anchor_weight * len(X)
        return importances(clone(self.screen), X, self.classes_[y], weight)

    def _used_features(self, X):
        return X if self._is_kept.all() else X[:, self._is_kept]

    def _over_all_features(self, values):
        """`values` of the kept features, 0 for the others."""
        full = np.zeros(self.n_features_in_)
        full[self._is_kept] = values
        return full


def in_strong_pairs(X, y, anchor_weight=None, n_jobs=None):
    """Mask of the features of the strongest pairs by `InteractionTest`."""
    if X.shape[1] < 2:
        return np.ones(X.shape[1], dtype=bool)
    test = InteractionTest(stepwise=False, max_table=10_000, n_jobs=n_jobs)
    test.fit(X, y, sample_weight=as_counts(anchor_weight))
    strongest = test.strongest_features(N_OF_PAIRS)
    return np.isin([f"x{j}" for j in range(X.shape[1])], strongest.astype(str))


def as_counts(weight):
    """Weights of importance scaled to sum to the effective sample size; None stays None."""
    return None if weight is None else weight * weight.sum() / np.sum(weight**2)


def im4e_weights(estimator, X, y, anchor_weight):
    """Feature weights of IM4E, with the solver and threads of `estimator`."""
    im4e = IM4EClassifier(solver=estimator._solver_name, n_jobs=estimator.n_jobs)
    return importances(im4e, X, y, anchor_weight)


def importances(screen, X, y, sample_weight=None):
    """Importances that `screen` learns, as sizes that sum to 1."""
    if sample_weight is not None and has_fit_parameter(screen, "sample_weight"):
        screen.fit(X, y, sample_weight=sample_weight)
    else:
        screen.fit(X, y)
    if hasattr(screen, "feature_importances_"):
        size = np.abs(screen.feature_importances_)
    elif hasattr(screen, "coef_"):
        size = np.abs(screen.coef_).reshape(-1, X.shape[1]).sum(axis=0)
    else:
        raise ValueError(
            f"{screen!r} has neither feature_importances_ nor coef_ after fit, so it cannot "
            "weigh features; use one that has."
        )
    return share(size) if size.any() else np.full(X.shape[1], 1 / X.shape[1])


def passes(importance, limit, n_max=None):
    """Mask of the features above `limit`, at most the `n_max` strongest; the best few if none."""
    is_above = importance > limit
    n_pass = np.count_nonzero(is_above)
    if n_pass == 0:
        n_pass = min(N_BEST, len(importance))
        warn_user(
            f"No feature's screening weight is above {limit:.3g} (the largest is "
            f"{importance.max():.3g}); the best {n_pass} stay. Lower screen_threshold to keep "
            "more, or name features in keep.",
            UserWarning,
        )
    strongest = np.argsort(-importance, kind="stable")[: min(n_pass, n_max or n_pass)]
    return np.isin(np.arange(len(importance)), strongest)


def named_features(keep, names, n_features):
    """Mask of the features that `keep` lists by name or by index."""
    is_named = np.zeros(n_features, dtype=bool)
    if keep is None:
        return is_named
    for feature in [keep] if isinstance(keep, str | Integral) else keep:
        is_named[_index(feature, names, n_features)] = True
    return is_named


def _index(feature, names, n_features):
    if not isinstance(feature, str):
        if not isinstance(feature, Integral) or isinstance(feature, bool):
            raise ValueError(f"keep lists names or indices of features, got {feature!r}.")
        if not -n_features <= feature < n_features:
            raise ValueError(f"keep lists feature {feature}, but X has {n_features} features.")
        return feature
    if names is None:
        raise ValueError(
            f"keep lists {feature!r}, but X came without column names; "
            "give indices, or a DataFrame."
        )
    if feature not in names:
        raise ValueError(f"keep lists {feature!r}, which is not a column of X.")
    return list(names).index(feature)
