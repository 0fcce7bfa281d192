"""What every model with a weight matrix shares: names, importances and the table of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from immigrate.checks import check_count
from immigrate.columns import ColumnReader
from immigrate.estimators._training import as_counts
from immigrate.estimators.stored import StoredEstimator
from immigrate.estimators.tested_terms import ReadTable, fitted_on_read
from immigrate.estimators.weight_table import (
    beside_test,
    feature_share,
    interaction_table,
    is_false,
    pair_test,
    untested,
)
from immigrate.scikit_learn import checked_feature_names
from immigrate.typing import Array, Codes, Mask


class WeightMatrixModel(StoredEstimator):
    """A weight matrix over the features that passed the screen.

    Relies on `model_`, the `FittedMargin` or `FittedVote` that a subclass sets in `fit`, and on
    `column_reader_`.
    """

    model_: Any
    column_reader_: ColumnReader

    def interactions(self, top: int | None = None, *, test: Any = False) -> pd.DataFrame:
        """Every feature and every pair of features with its weight, strongest first.

        A weight says how much the model uses a feature or pair to tell the classes apart.
        It does **not** prove that two features act together: two features with strong
        effects of their own raise the weight of their pair, and a pair that matters only
        together can have a small one.

        Parameters
        ----------
        top : int, optional
            Only the strongest so many rows. By default all p (p + 1) / 2 of the p features
            in W.
        test : bool or InteractionTest, default=False
            Whether to test each pair for a departure from additivity on the training samples
            and join the p-values: a weight says what the model uses, a p-value whether two
            features act together. True is ``InteractionTest()``. Its categorical features
            are those of the model. Not after a screen, which would leave the test too few pairs
            to count. Sample weights given to `fit` are scaled to the effective sample size.

        Returns
        -------
        pandas.DataFrame
            Columns `feature_1`, `feature_2` (None for a main effect), `kind` ("main" or
            "pair"), `weight` (the entry of W), `share` (of the sum of |weight| over the whole
            table) and `rank`; with `test` also `p_value` and `p_adjusted`, NaN for main
            effects, and `is_found`: whether the pair is in `selected_` of the test, which
            leaves out pairs that only mirror another.
        """
        names = self.get_feature_names_out()
        if top is not None:
            check_count("top", top)
        references = self.model_.references
        weights = self.model_.weights
        table = interaction_table(
            references.encoding.folded(weights),
            references.encoding.folded(np.abs(weights)),
            names,
            top,
        )
        if test is None or is_false(test):
            return table
        test = pair_test(test)
        # Columns that are no features are not in the model, and are not tested either.
        if (references.is_used != self.column_reader_.is_used).any():
            raise ValueError(
                "After a screen the test would see the kept features only and count too few "
                "pairs; run InteractionTest().fit(X, y) on the whole table instead."
            )
        if len(names) < 2:
            return untested(table)
        # D sums to 1; the test reads weights as counts.
        count = as_counts(references.anchor_weight)
        is_nominal = references.encoding.n_levels > 0
        read = ReadTable(references.values, is_nominal, references.codes, names, count)
        return beside_test(table, fitted_on_read(test, read))

    def get_support(self, indices: bool = False) -> Mask | Codes:
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
        is_used: Mask = self.model_.references.is_used
        return np.flatnonzero(is_used) if indices else is_used.copy()

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
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
        names = checked_feature_names(self, input_features)
        return names[self.model_.references.is_used]

    @property
    def weight_matrix_(self) -> Array:
        """W: symmetric, with Frobenius norm 1 before weights of levels are summed per column."""
        check_is_fitted(self)
        weights: Array = self.model_.references.encoding.folded(self.model_.weights)
        return weights

    @property
    def feature_importances_(self) -> Array:
        """Row sums of |W|, scaled to sum 1; 0 for features that were screened out."""
        check_is_fitted(self)
        references = self.model_.references
        size = references.encoding.folded(np.abs(self.model_.weights))
        full = np.zeros(len(references.is_used))
        full[references.is_used] = feature_share(size)
        return full

    @property
    def screen_importances_(self) -> Array:
        """What the screen said of every feature, scaled to sum 1."""
        check_is_fitted(self)
        importances: Array | None = self.model_.references.screen_importances
        if importances is None:
            raise AttributeError("screen_importances_ needs a screen, such as screen='im4e'.")
        return importances
