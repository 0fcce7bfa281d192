"""What every selector of the family shares: a mixed table in, one pass, a score per feature out.

Differences follow ReliefF's rule for missing values:

    diff(f, i, j) = |x_if - x_jf| / range_f                    numeric
                  = min(d, P_f - d) / range_f, d = |x_if - x_jf|   circular, of period P_f
                  = 1 if x_if != x_jf, else 0                  categorical
                  = its expectation given the classes          where a value is missing

The last line is Kononenko's: with x_if missing and x_jf known a categorical difference is
1 - P(x_jf | class of i); with both missing it is 1 - sum_v P(v | class of i) P(v | class of j).
Both are the mean difference from values drawn from the class, which says what to do with
numeric features as well. The soft margins draw from all samples instead: ``differences``.

The pass is one hard coupling: a statistic of each anchor's nearest hits and misses, summed up. It
is all of Relief and ReliefF, and the scatter of LFE.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from immigrate.arrays import Array, Mask
from immigrate.checks import (
    check_finite,
    check_option,
    check_option_or_none,
    check_selected_count,
)
from immigrate.core.differences import mean_difference
from immigrate.kernels.layout import COMPLETE
from immigrate.kernels.neighbours_numpy import MixedTable, Nearest, NeighbourPairs
from immigrate.kinds.circular import arc_start, turned
from immigrate.margin.screen import chosen_by_importance
from immigrate.outcomes import OUTCOMES
from immigrate.progress import fitting
from immigrate.scikit_learn import StoredEstimator
from immigrate.table import Reader, chosen_columns, read_table, read_weighted_table

LARGEST = float(np.finfo(np.float64).max)
# Squares of larger differences, summed, leave the range of float64.
LARGEST_SPAN = 1e150
# Squares of smaller differences lose their last digits, and below 1e-162 all of them.
SMALLEST_SPAN = 3e-152
METRICS = ("euclidean", "manhattan")

Statistic = Callable[[NeighbourPairs], Array]


class MarginSelector(SelectorMixin, StoredEstimator, metaclass=ABCMeta):
    """Selects features by a score learned from nearest hits and misses.

    A subclass implements `_learned`, and has the parameters `n_features_to_select`,
    `threshold`, `categorical_features`, `circular_features` and `class_weight`; `scale` too
    unless differences are always in units of the range.
    """

    scale: str | None = "range"
    outcome: str = "class"
    n_features_to_select: int | float | None
    threshold: float | None
    categorical_features: Any
    circular_features: Any
    class_weight: Any
    feature_importances_: Array
    column_reader_: Reader

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Score the features.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            Numbers, flags, categories and text; missing values may be anywhere.
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with two samples each; or numbers, for a method
            with a parameter `outcome`.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts. It weighs the sample as an anchor, not as
            a neighbour of others, so a weight of 2 is not the same as repeating the row: a
            repeated row is its own hit at distance 0.

        Returns
        -------
        self
        """
        with fitting(self):
            self._check_parameters()
            data = read_weighted_table(
                self,
                X,
                y,
                sample_weight,
                categorical_features=self.categorical_features,
                circular_features=self.circular_features,
                class_weight=self.class_weight,
                outcome=self.outcome,
            )
            check_selected_count(self.n_features_to_select, data.values.shape[1])
            is_categorical, period = data.reader.is_nominal, data.reader.period
            values = data.values if period is None else from_arc_starts(data.values, period)
            table = mixed_table(
                values, data.outcome.codes, is_categorical, scale=self.scale, period=period
            )
            units = difference_units(values, is_categorical, scale=self.scale, period=period)
            numbers = data.outcome.numbers
            more = {} if numbers is None else {"numbers": numbers}
            learned = self._learned(table, data.anchor_weight, **more)
            # An ascent leaves a weight where it started if no two samples differ in the column.
            score = np.where(data.reader.is_used, learned["feature_importances_"], 0.0)
            data.keep_on(self)
            self.is_categorical_, self.difference_units_ = is_categorical, units
            for name, value in learned.items():
                setattr(self, name, value)
            self.feature_importances_ = score
        return self

    def transform(self, X: Any) -> Any:
        """The chosen columns, as they were given.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_selected), or data frame
            Numbers as they are, circular ones within one period, and an array of objects where
            text or categories are among them.
            With ``set_output(transform="pandas")`` a data frame keeps the types of its columns.
        """
        check_is_fitted(self)
        return chosen_columns(self, X, read_table(self, X))

    @abstractmethod
    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        """Fitted attributes by name; `feature_importances_`, the higher the better, is one.

        `numbers` are the outcome where it is one, for methods with the parameter `outcome`.
        """

    def _check_parameters(self) -> None:
        check_option_or_none("scale", self.scale, ("range",))
        check_option("outcome", self.outcome, OUTCOMES)
        if self.threshold is not None:
            check_finite("threshold", self.threshold)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        score, count, limit = (
            self.feature_importances_,
            self.n_features_to_select,
            self.threshold,
        )
        if limit is None and count is None:
            # A score of 0 is what a feature without information gets.
            limit = float(np.nextafter(0, 1))
        # The score of 0 of what is no feature would rank above those of useless features.
        is_used = self.column_reader_.is_used
        return is_used & chosen_by_importance(np.where(is_used, score, -np.inf), limit, count)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def hit_and_miss_sides(n_classes: int) -> Array:
    """s(c, c') = -1 for a hit, 1 for a miss."""
    return 1.0 - 2.0 * np.eye(n_classes)


def prior_weighted_sides(class_share: Array) -> Array:
    """-1 for a hit, P(c') / (1 - P(c)) for a miss of class c' from class c: ReliefF's weights."""
    sides = class_share / (1 - class_share[:, None])
    np.fill_diagonal(sides, -1.0)
    return sides


def one_pass(
    table: MixedTable,
    rule: Nearest,
    statistic: Statistic,
    *,
    sides: Array,
    narrowed: Callable[[NeighbourPairs], NeighbourPairs] | None = None,
    anchors: NDArray[np.intp] | None = None,
    anchor_weight: Array | None = None,
    n_threads: int = 1,
) -> Array:
    """Sum over the anchors of a statistic of each one's nearest hits and misses.

    Parameters
    ----------
    table : MixedTable
    rule : Nearest
    statistic : callable
        From pairs with signed weights D_n c_nj s(y_n, y_j) to an array.
    sides : ndarray of shape (n_classes, n_classes)
        s: how a neighbour of each class counts for an anchor of each class.
    narrowed : callable, optional
        Chooses among the pairs that `rule` gives, and weighs them anew. By default all stay.
    anchors : ndarray of int, optional
        By default every sample.
    anchor_weight : ndarray of shape (n,), optional
        D, scaled to sum 1 over the anchors. By default all weigh the same.
    n_threads : int
    """
    # Here and below: imported late, so that importing the library does not import Numba.
    from immigrate.kernels.neighbours import nearest_pairs, sum_over_anchors

    n = table.y.size
    anchors = np.arange(n) if anchors is None else anchors
    D = np.ones(n) if anchor_weight is None else anchor_weight
    D = D / D[anchors].sum()
    # Methods of one pass look for neighbours with all features alike; nothing is learned yet.
    even = np.ones(table.values.shape[1])

    def block_statistic(block: NDArray[np.intp]) -> Array:
        pairs = nearest_pairs(table, block, even, rule)
        pairs = pairs if narrowed is None else narrowed(pairs)
        return statistic(signed(pairs, table.y, sides, D))

    total: Array = sum_over_anchors(block_statistic, anchors, n, n_threads)
    return total


def sharing(pairs: NeighbourPairs, is_chosen: Mask, y: NDArray[np.intp]) -> NeighbourPairs:
    """Some of `pairs`; the neighbours of one class of an anchor share a weight of 1."""
    # The shares of `Nearest` are for all samples of a class; they are given out anew here.
    chosen = NeighbourPairs(*(column[is_chosen] for column in pairs))
    group = chosen.anchor * (y.max() + 1) + y[chosen.neighbour]
    return chosen._replace(weight=1 / np.bincount(group)[group])


def signed(
    pairs: NeighbourPairs, y: NDArray[np.intp], sides: Array, anchor_weight: Array
) -> NeighbourPairs:
    """`pairs` with hits and misses told apart and anchors weighed: D_n c_nj s(y_n, y_j)."""
    side = sides[y[pairs.anchor], y[pairs.neighbour]]
    return pairs._replace(weight=anchor_weight[pairs.anchor] * side * pairs.weight)


def feature_differences(table: MixedTable, *, is_squared: bool) -> Statistic:
    """The diagonal statistic: weighted sum of the (squared) differences of each feature."""
    from immigrate.kernels.neighbours import difference_sum

    return lambda pairs: difference_sum(table, pairs, is_squared=is_squared)


def mixed_table(
    X: Array,
    y: NDArray[np.intp],
    is_categorical: NDArray[np.bool_] | None = None,
    *,
    scale: str | None = "range",
    period: Array | None = None,
) -> MixedTable:
    """`X` and `y` laid out for passes, numeric features in units of their range or as they are.

    Values of circular features lie on one arc that is no longer than their `period`.
    """
    n, p = X.shape
    n_classes = int(y.max()) + 1
    if is_categorical is None:
        is_categorical = np.zeros(p, dtype=bool)
    values = _in_units(np.array(X, dtype=np.float64, order="C"), is_categorical, scale, period)
    if period is None:
        period = np.full(p, np.inf)
    else:
        period = period / (2 * _half_units(X, is_categorical, scale, period))
    for f in np.flatnonzero(is_categorical):
        values[:, f] = _codes(values[:, f])
    has_gap = np.isnan(values).any(axis=0)
    filled = [
        _expected_differences(values[:, f], y, n_classes, bool(is_categorical[f]), period[f])
        for f in np.flatnonzero(has_gap)
    ]
    span = difference_units(values, is_categorical, period=period)
    return MixedTable(
        values,
        is_categorical,
        y,
        np.concatenate([[0], np.cumsum(np.bincount(y))]).astype(np.intp),
        np.where(has_gap, np.cumsum(has_gap) - 1, COMPLETE).astype(np.intp),
        np.array([one for one, _ in filled]).reshape(-1, n_classes, n),
        np.array([both for _, both in filled]).reshape(-1, n_classes, n_classes),
        np.ascontiguousarray(_from_zero(values, is_categorical, span / 2).T, dtype=np.float32),
        span,
        period,
        _runs(~is_categorical & ~has_gap & np.isinf(period)),
    )


def from_arc_starts(X: Array, period: Array) -> Array:
    """Values of circular columns counted from the start of the shortest arc with all of them.

    Where the arc is at most half the period, differences are those on a line.
    """
    X = np.array(X, dtype=np.float64)
    for f in np.flatnonzero(np.isfinite(period)):
        X[:, f] = turned(X[:, f] - arc_start(X[:, f], period[f]), period[f])
    return X


def _codes(x: Array) -> Array:
    """Categories numbered 0, 1, ..., NaN where missing."""
    is_known = ~np.isnan(x)
    codes = np.full(x.size, np.nan)
    codes[is_known] = np.unique(x[is_known], return_inverse=True)[1]
    return codes


def _runs(is_plain: NDArray[np.bool_]) -> NDArray[np.intp]:
    edges = np.flatnonzero(np.diff(is_plain)) + 1
    first, last = np.append(0, edges), np.append(edges, is_plain.size)
    return np.column_stack([first, last, is_plain[first]]).astype(np.intp)


def difference_units(
    X: Array,
    is_categorical: NDArray[np.bool_],
    *,
    scale: str | None = "range",
    period: Array | None = None,
) -> Array:
    """What a difference of 1 is: the largest of the feature, or 1 where it is not scaled."""
    # A range that overflows is cut to the largest float, which has no counterpart in float32.
    X = X.astype(np.float64, copy=False)
    return 2 * np.minimum(_half_units(X, is_categorical, scale, period), LARGEST / 2)


def _half_units(
    X: Array, is_categorical: NDArray[np.bool_], scale: str | None, period: Array | None
) -> Array:
    half_range = _highest(X) / 2 - _lowest(X) / 2  # -inf where nothing is known
    if period is not None:
        half_range = np.minimum(half_range, period / 4)
    return np.where(~is_categorical & (half_range > 0) & (scale == "range"), half_range, 0.5)


def _in_units(
    X: Array, is_categorical: NDArray[np.bool_], scale: str | None, period: Array | None
) -> Array:
    if scale is None:
        span = float((_highest(X) / 2 - _lowest(X) / 2).max()) * 2
        if span > LARGEST_SPAN:
            raise ValueError(
                f"A feature of X spans {span:.3g}; squared differences would overflow. Use "
                "scale='range', or scale the features first."
            )
        if 0 < span < SMALLEST_SPAN and not is_categorical.any():
            raise ValueError(
                f"No feature of X spans more than {span:.3g}; squared differences would vanish. "
                "Use scale='range', or scale the features first."
            )
        return X
    return _from_zero(X, is_categorical, _half_units(X, is_categorical, scale, period))


def _from_zero(X: Array, is_categorical: NDArray[np.bool_], half_unit: Array) -> Array:
    """Values in units, numbers from 0 on: float32 has no digit to spend on an offset."""
    # The smallest value is taken off first, so that integers differ by exact multiples. Halves
    # do not overflow.
    shifted = X / 2 - np.where(is_categorical, 0.0, _lowest(X) / 2)
    in_units: Array = shifted / half_unit
    return in_units


def _lowest(X: Array) -> Array:
    return np.fmin.reduce(X, axis=0, initial=np.inf)


def _highest(X: Array) -> Array:
    return np.fmax.reduce(X, axis=0, initial=-np.inf)


def _expected_differences(
    x: Array, y: NDArray[np.intp], n_classes: int, is_categorical: bool, period: float
) -> tuple[Array, Array]:
    """Differences of one feature where one of two values is missing, and where both are."""
    is_known = ~np.isnan(x)
    one, both = np.zeros((n_classes, x.size)), np.zeros((n_classes, n_classes))
    if not is_known.any():
        return one, both  # nothing is known of it: no two samples differ
    members = [is_known & (y == c) for c in range(n_classes)]
    # A class with no known value says nothing: draw from all of them.
    members = [member if member.any() else is_known for member in members]
    for c, member in enumerate(members):
        one[c, is_known] = mean_difference(x[is_known], x[member], is_categorical, period=period)
        both[c] = [one[c, other].mean() for other in members]
    return one, both
