"""What every model with a weight matrix shares: names, importances, and the table of weights.

The table can be put behind the evidence of a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_count
from immigrate.margin.encoding import resolved_columns
from immigrate.margin.penalties import named_penalty
from immigrate.margin.screen import resolved_screen
from immigrate.scikit_learn import StoredEstimator, checked_feature_names
from immigrate.solvers import resolved_solver
from immigrate.table import Reader

if TYPE_CHECKING:
    from immigrate.estimators.interaction_test import InteractionTest

PAIR = ["feature_1", "feature_2"]
EVIDENCE = ["p_value", "p_adjusted", "is_found", "size", "size_low", "size_high", "direction"]
WEIGHT = ["weight", "share", "rank"]
# What stands where the test says nothing.
ABSENT: dict[str, Any] = dict.fromkeys(EVIDENCE, np.nan) | {"is_found": False, "direction": ""}


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
        names, encoding = self.get_feature_names_out(), self.model_.references.encoding
        W = self.model_.weights
        # Sizes are added up and not weights: two levels with opposite weights are both used.
        weights = interaction_table(encoding.folded(W), encoding.folded(np.abs(W)), names)
        if test is None:
            return weights.iloc[:top]
        return evidence_table(weights, fitted_pair_test(test, names)).iloc[:top]

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
        row_sums = size.sum(axis=0)
        full[references.is_used] = row_sums / row_sums.sum()
        return full

    @property
    def screen_importances_(self) -> Array:
        """The importance that the screen gave to every feature, scaled to sum 1."""
        check_is_fitted(self)
        importances: Array | None = self.model_.references.screen_importances
        if importances is None:
            raise AttributeError("screen_importances_ needs a screen, such as screen='im4e'.")
        return importances

    def _part(self, name: str, value: Any) -> Any:
        makers: dict[str, Any] = {
            "solver": resolved_solver,
            "penalty": named_penalty,
            "screen": resolved_screen,
            "columns": resolved_columns,
        }
        return makers[name](value) if name in makers else value


def interaction_table(W: Array, size: Array, names: Any) -> pd.DataFrame:
    """Every feature and every pair of features, strongest first.

    Parameters
    ----------
    W : ndarray of shape (p, p)
    size : ndarray of shape (p, p)
        |W|; where a column has a weight per level, the sum of their sizes.
    names : array-like of p str
    """
    names = np.asarray(names, dtype=object)
    a, b = np.triu_indices(len(W))
    weight = W[a, b]
    size = size[a, b]
    order = np.argsort(-without_rounding(size), kind="stable")
    a, b = a[order], b[order]
    return pd.DataFrame(
        {
            **term_columns(names, a, b),
            "weight": weight[order],
            "share": size[order] / size.sum(),
            "rank": np.arange(1, len(order) + 1),
        }
    )


def without_rounding(size: Array) -> Array:
    """Sizes to nine digits: what differs by rounding alone keeps the order of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.estimators.weight_matrix import without_rounding
    >>> one, other = without_rounding(np.array([0.1 + 0.2, 0.3]))
    >>> bool(one == other)
    True
    """
    # Digits that count, and not decimals: sizes of any magnitude are rounded alike.
    _, exponent = np.frexp(size)
    digits: Array = np.ldexp(np.round(np.ldexp(size, -exponent), 9), exponent)
    return digits


def term_columns(names: NDArray[np.object_], a: Codes, b: Codes) -> dict[str, Any]:
    """Names and kind of the entries (a, b) of a matrix; a main effect has one name."""
    return {
        "feature_1": names[a],
        # As objects: a column of text would turn None into NaN.
        "feature_2": pd.Series([None if i == j else names[j] for i, j in zip(a, b)], dtype=object),
        "kind": np.where(a == b, "main", "pair"),
    }


def fitted_pair_test(test: Any, names: Any) -> InteractionTest:
    """A fitted test of pairs of the features with these names; anything else is refused."""
    from immigrate.estimators.interaction_test import InteractionTest

    if not isinstance(test, InteractionTest):
        raise ValueError(f"test must be None or a fitted InteractionTest, got {test!r}.")
    if not hasattr(test, "table_"):
        raise ValueError(f"{test!r} is not fitted; fit it on the same table first.")
    if test._fitted_as["order"] != 2:
        raise ValueError("test has order=3; pairs need InteractionTest(order=2).")
    unknown = [
        name for name in names if name not in set(map(str, test._effect_source.table.reader.names))
    ]
    if unknown:
        raise ValueError(
            f"test was fitted on a table without {unknown[0]!r}, a feature of the model; fit it "
            "on the same table."
        )
    return test


def evidence_table(weights: pd.DataFrame, test: InteractionTest) -> pd.DataFrame:
    """Every feature and pair by evidence, with the weights that the model gives them.

    Rows of `weights`, and those of the test that have no weight because of a screen.
    """
    names = np.array([str(name) for name in test._effect_source.table.reader.names], dtype=object)
    tested = evidence_rows(test).pipe(_by_place, names)
    weighed = _by_place(weights, names)
    # Rows are known by their place in the matrix of all features; either table may lack some.
    rows = tested.index.union(weighed.index, sort=False)
    a, b = np.divmod(rows.to_numpy(), len(names))
    table = pd.DataFrame(
        {
            **term_columns(names, a, b),
            **{name: _values(tested[name], rows, ABSENT[name]) for name in EVIDENCE},
            **{name: _values(weighed[name], rows, 0) for name in WEIGHT},
        }
    )
    order = np.lexsort(
        (
            -without_rounding(table["share"].to_numpy()),
            without_rounding(table["p_value"].to_numpy()),
            # Approximate p-values, which have no adjusted one, after the exact ones.
            table["p_adjusted"].isna(),
            ~table["is_found"],
        )
    )
    table = table.iloc[order].reset_index(drop=True)
    is_unused = table["rank"] == 0
    # What did not pass a screen has no weight to be ranked by, and comes last.
    table.loc[is_unused, "rank"] = len(weights) + np.arange(1, is_unused.sum() + 1)
    return table


def evidence_rows(test: InteractionTest) -> pd.DataFrame:
    """The features and pairs of a test as one table: the names and what there is to say."""
    features = test.features_.rename(columns={"feature": "feature_1"})
    is_shown = features["p_adjusted"] <= test._fitted_as["alpha"]
    features = features.assign(feature_2=features["feature_1"], is_found=is_shown)
    parts = [part[[*PAIR, *EVIDENCE]] for part in (features, test.table_) if len(part)]
    # An empty part would have a say in the types of the columns.
    return pd.concat(parts or [features[[*PAIR, *EVIDENCE]]], ignore_index=True)


def _by_place(table: pd.DataFrame, names: Array) -> pd.DataFrame:
    """`table` with each row known by its place in the matrix of all features."""
    place = {name: i for i, name in enumerate(names)}
    first = table["feature_1"].map(place).to_numpy(dtype=np.intp)
    # A main effect has no second feature.
    second = table["feature_2"].where(table["feature_2"].notna(), table["feature_1"])
    return table.set_axis(first * len(names) + second.map(place).to_numpy(dtype=np.intp))


def _values(column: pd.Series[Any], rows: pd.Index[Any], absent: Any) -> Any:
    return column.reindex(rows, fill_value=absent).to_numpy()
