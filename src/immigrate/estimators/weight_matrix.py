"""What every model with a weight matrix shares: names, importances and the table of weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_count
from immigrate.estimators.interaction_test import InteractionTest
from immigrate.estimators.weight_table import (
    evidence_table,
    feature_share,
    fitted_pair_test,
    interaction_table,
)
from immigrate.scikit_learn import StoredEstimator, checked_feature_names
from immigrate.table import Reader


class WeightMatrixModel(StoredEstimator):
    """A weight matrix over the features that passed the screen.

    Relies on `model_`, the `MarginModel` that a subclass sets in `fit`, and on
    `column_reader_`.
    """

    model_: Any
    column_reader_: Reader

    def interactions(
        self, top: int | None = None, *, test: InteractionTest | None = None
    ) -> pd.DataFrame:
        """Every feature and every pair of features with its weight, after evidence if there is.

        Two questions have two answers. What the model uses to tell the classes apart is its
        weights, which prove nothing: two features with strong effects of their own raise the
        weight of their pair, a pair that matters only together can have a small one, and on noise
        some weight is the largest. Whether a feature matters, or two features act together beyond
        their own effects, is answered by `InteractionTest`.

        Parameters
        ----------
        top : int, optional
            Only the first so many rows. By default all.
        test : InteractionTest, optional
            A test that was fitted on the same table; its evidence comes first, for the whole
            table also where a screen has left features out of the model. Without it the table
            has weights alone. No test is fitted here.

        Returns
        -------
        pandas.DataFrame
            The largest weights first, or by evidence: features that are detected and pairs that
            are found, then the others, each by p-value. Columns:

            `feature_1`, `feature_2` (None for a main effect), `kind` ("main" or "pair");

            `p_value`, `p_adjusted` (among all features, or among all pairs), `is_found` (for a
            pair: in `selected_` of the test, which leaves out pairs that only mirror another),
            `size`, `size_low`, `size_high` and `direction`, as in `features_` and `table_` of
            the test; only with a test;

            `weight` (used by the model: the entry of W, 0 for what did not pass a screen),
            `share` (of the sum of the sizes of all weights) and `rank` by it. A pair adds
            2 W_ab d_a d_b to the distance of two samples. With a positive weight, samples that
            differ in both features are further apart than the two differences alone would put
            them; with a negative one they are less far apart, because the two differences partly
            mean the same. The sign does not say which class is more likely: `direction` does.
        """
        check_is_fitted(self)
        if top is not None:
            check_count("top", top)
        weights = self._weights()
        if test is None:
            return weights.iloc[:top]
        test = fitted_pair_test(test, self.get_feature_names_out())
        return evidence_table(weights, test).iloc[:top]

    def _weights(self) -> pd.DataFrame:
        """The weights alone, the largest first."""
        encoding, weights = self.model_.references.encoding, self.model_.weights
        # Sizes are added up and not weights: two levels with opposite weights are both used.
        size = encoding.folded(np.abs(weights))
        return interaction_table(encoding.folded(weights), size, self.get_feature_names_out())

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
        """The importance that the screen gave to every feature, scaled to sum 1."""
        check_is_fitted(self)
        importances: Array | None = self.model_.references.screen_importances
        if importances is None:
            raise AttributeError("screen_importances_ needs a screen, such as screen='im4e'.")
        return importances
