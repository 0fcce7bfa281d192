"""Simba: stochastic gradient ascent on the margin, neighbours looked up anew at every step.

The global side of a margin is how far each sample is from the mean of each class:

    number      |x_nf - mean of class c|
    category    share of class c with another level: the mean of its mismatches
    circular    difference from the mean direction of class c; a quarter of the period, which is
                the mean over all directions, where the values of the class balance each other

A sample is left out of the mean of its own class, as it is no neighbour of itself. A missing value
is as far from a mean as the known values of its class are on average. Where nothing is known of a
class, its mean is that of all samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes, Mask
from immigrate.checks import check_count, check_fraction
from immigrate.kernels.neighbours_numpy import MixedTable, Nearest, NeighbourPairs
from immigrate.kernels.threads import n_threads
from immigrate.kinds.circular import LEAST_RESULTANT
from immigrate.progress import warn_user
from immigrate.relief.base import MarginSelector, feature_differences, hit_and_miss_sides, signed

NO_USE = (
    "The ascent ended at weights of 0: no feature differs more from misses than from hits. Check "
    "that the features are not constant and that they carry information about the classes."
)

# Weights grow to about this times the number of steps: squares of both, multiplied, stay floats.
LARGEST_CLIMB = 1e70


class Simba(MarginSelector):
    """Simba: features weighed to make the hypothesis margin large.

    The margin of a sample is half the distance to its nearest miss less half the distance
    to its nearest hit, distances being sqrt(sum_f w_f^2 diff_f^2). Weights climb the
    gradient of one sample's margin at a time, and neighbours are looked up under the
    weights of the moment [1]_. The sum of margins has several maxima, so the ascent starts
    from several points and the best end counts. A difference with a missing value is its
    expectation given the class, as in ReliefF.

    Neighbours with a wrong label mislead; means of classes hardly notice them. With
    `global_share`, the margin of a sample is a mixture of the one above and of half the distance
    to the nearest mean of another class less half the distance to the mean of its own. That is
    this library's reading of an idea of [2]_, whose formula is in no public text.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, highest scores first; a float is a share. None keeps
        every feature that reaches `threshold`.
    threshold : float, default=None
        Keep only features with a score of at least this. None is every score above 0 when
        `n_features_to_select` is None, else no limit.
    n_starts : int, default=5
        Ascents; the first starts from equal weights, the others at random.
    n_rounds : int, default=1
        Rounds over the samples in each ascent.
    global_share : float, default=0.0
        Share of the margins to the means of the classes, between 0 and 1. 0 is Simba. The more
        labels are wrong the more it helps, as long as the means of the classes differ: in an XOR
        they do not (docs/measurements/simba.md).
    scale : {"range", None}, default="range"
        Numeric differences in units of the feature's range, or as they are. The length of
        the steps is in these units.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose difference is 0 (equal) or 1: a mask, indices or column names;
        "from_dtype" takes the category and text columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads, one per start. None is 1 unless in a `joblib.parallel_config` context; -1 is
        all. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the starts and the order of the samples.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        w^2, the largest scaled to 1; all 0, with a warning, if no weights give a margin above 0.
    margin_ : float
        Mean margin of the samples at these weights.
    classes_ : ndarray of shape (n_classes,)
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    is_categorical_ : ndarray of shape (n_features,)
    difference_units_ : ndarray of shape (n_features,)
        What a difference of 1 is, in units of the feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    References
    ----------
    .. [1] R. Gilad-Bachrach, A. Navot and N. Tishby, "Margin based feature selection - theory
       and algorithms", ICML 2004, 43. :doi:`10.1145/1015330.1015352`
    .. [2] M. Yang, F. Wang and P. Yang, "A novel feature selection algorithm based on
       hypothesis-margin", Journal of Computers 3(12), 2008.

    Examples
    --------
    >>> from immigrate import Simba
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(n_samples=300, n_features=6, random_state=0)
    >>> Simba(n_features_to_select=2, random_state=0).fit(X, y).get_feature_names_out()
    array(['a', 'b'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        n_starts: int = 5,
        n_rounds: int = 1,
        global_share: float = 0.0,
        scale: str | None = "range",
        categorical_features: Any = "from_dtype",
        circular_features: Any = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_starts = n_starts
        self.n_rounds = n_rounds
        self.global_share = global_share
        self.scale = scale
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_starts", self.n_starts)
        check_count("n_rounds", self.n_rounds)
        check_fraction("global_share", self.global_share)

    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        from immigrate.kernels.threads import run_in_order

        largest = float(table.span.max())
        if self.scale is None and largest > LARGEST_CLIMB:
            raise ValueError(
                f"A feature of X spans {largest:.3g}; weights climb in steps of that length, and "
                "distances would overflow. Use scale='range', or scale the features first."
            )
        n, p = table.values.shape
        margin = Margin(
            table,
            np.full(n, 1 / n) if anchor_weight is None else anchor_weight,
            global_share=float(self.global_share),
        )
        rng = check_random_state(self.random_state)
        # 1 - u is in (0, 1]: a weight of 0 has no slope and would stay 0.
        starts = [np.ones(p), *(1 - rng.uniform(size=(self.n_starts - 1, p)))]
        # Drawn before the threads begin, so that their number does not matter.
        visits = [
            np.concatenate([rng.permutation(n) for _ in range(self.n_rounds)]) for _ in starts
        ]
        ends = run_in_order(
            lambda run: ascent(margin, *run), list(zip(starts, visits)), n_threads(self.n_jobs)
        )
        values = [margin.value(w) for w in ends]
        best = ends[int(np.argmax(values))]
        if not best.any():
            warn_user(NO_USE, ConvergenceWarning)
        return {"feature_importances_": best**2, "margin_": max(values)}


def ascent(margin: Margin, w: Array, visits: Codes) -> Array:
    """Weights after one gradient step for each visited sample, largest |w| scaled to 1."""
    for i in visits:
        w = w + margin.gradient(w, i)
    largest = np.abs(w).max()
    # Steps can end at weights of 0 exactly, where no feature leads further to misses than to hits.
    return w / largest if largest > 0 else w


class Margin:
    """Mean hypothesis margin as a function of the weights, its neighbours found anew each time.

    Parameters
    ----------
    table : MixedTable
    anchor_weight : ndarray of shape (n,)
    global_share : float
        Share of the margins to the means of the classes.
    """

    def __init__(
        self, table: MixedTable, anchor_weight: Array, *, global_share: float = 0.0
    ) -> None:
        self.table, self.anchor_weight = table, anchor_weight
        self.global_share = global_share
        self._means = MeanMargin(table) if global_share > 0 else None
        self._sides = hit_and_miss_sides(int(table.y.max()) + 1)
        self._statistic = feature_differences(table, is_squared=True)

    def value(self, w: Array) -> float:
        """e(w) = sum_n D_n (|x_n - nearmiss|_w - |x_n - nearhit|_w) / 2, blended with means."""
        if self._means is None:
            return self._local_value(w)
        of_means = float(self.anchor_weight @ self._means.values(w))
        return (1 - self.global_share) * self._local_value(w) + self.global_share * of_means

    def _local_value(self, w: Array) -> float:
        from immigrate.kernels.neighbours import sum_over_anchors

        n = self.table.y.size

        def block_value(block: Codes) -> float:
            pairs = self._pairs(w, block, self.anchor_weight)
            return float(pairs.weight @ np.sqrt(pairs.distance) / 2)

        return float(sum_over_anchors(block_value, np.arange(n), n, n_threads=1))

    def gradient(self, w: Array, i: int) -> Array:
        """(miss^2 / |miss|_w - hit^2 / |hit|_w) w / 2, the slope at sample i, times n D_i."""
        if self._means is None:
            return self._local_gradient(w, i)
        of_means = self.table.y.size * self.anchor_weight[i] * self._means.gradient(w, i)
        return (1 - self.global_share) * self._local_gradient(w, i) + self.global_share * of_means

    def _local_gradient(self, w: Array, i: int) -> Array:
        pairs = self._pairs(w, np.array([i]), self.anchor_weight * self.table.y.size)
        # At distance 0 no weight that counts has a slope.
        length = np.sqrt(pairs.distance)
        weight = np.divide(pairs.weight, 2 * length, out=np.zeros_like(length), where=length > 0)
        return self._statistic(pairs._replace(weight=weight)) * w

    def _pairs(self, w: Array, anchors: Codes, anchor_weight: Array) -> NeighbourPairs:
        from immigrate.kernels.neighbours import nearest_pairs

        pairs = nearest_pairs(self.table, anchors, w**2, Nearest())
        return signed(pairs, self.table.y, self._sides, anchor_weight)


class MeanMargin:
    """Margins to the means of the classes: nearest other mean less the own one, halved."""

    def __init__(self, table: MixedTable) -> None:
        difference = class_mean_differences(
            table.values, table.is_categorical, table.y, table.period
        )
        self._squares, self._y = difference**2, table.y

    def values(self, w: Array) -> Array:
        """Margin of each sample, (n,)."""
        rows = np.arange(len(self._y))
        length = np.sqrt(self._squares @ w**2)  # (n, k)
        miss, hit = self._nearest(length, rows)
        margins: Array = (length[rows, miss] - length[rows, hit]) / 2
        return margins

    def gradient(self, w: Array, i: int) -> Array:
        """(miss^2 / |miss|_w - hit^2 / |hit|_w) w / 2 of sample i."""
        length = np.sqrt(self._squares[i] @ w**2)[None]
        (miss,), (hit,) = self._nearest(length, np.array([i]))
        # At distance 0 no weight that counts has a slope.
        slope = [
            self._squares[i, c] / length[0, c] if length[0, c] > 0 else np.zeros_like(w)
            for c in (miss, hit)
        ]
        return (slope[0] - slope[1]) * w / 2

    def _nearest(self, length: Array, rows: Codes) -> tuple[Codes, Codes]:
        """The nearest mean of another class, and the own class."""
        own = self._y[rows]
        others = length.copy()
        others[np.arange(len(rows)), own] = np.inf
        return others.argmin(axis=1), own


def class_mean_differences(
    values: Array, is_categorical: Mask, y: Codes, period: Array | None = None
) -> Array:
    """Difference of every sample from the mean of every class in each feature, (n, k, p).

    Parameters
    ----------
    values : ndarray of shape (n, p)
        Numbers in the units of their differences, codes of levels, NaN where missing.
    is_categorical : ndarray of shape (p,)
    y : ndarray of shape (n,)
        Class codes.
    period : ndarray of shape (p,), optional
        Periods of circular features, infinite for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from immigrate.relief.simba import class_mean_differences
    >>> X, y = np.array([[0.0], [2.0], [5.0], [7.0]]), np.array([0, 0, 1, 1])
    >>> class_mean_differences(X, np.array([False]), y)[0].ravel()
    array([2., 6.])
    """
    periods = np.full(len(is_categorical), np.inf) if period is None else period
    difference = []
    for x, categorical, P in zip(values.T, is_categorical, periods):
        is_known = ~np.isnan(x)
        means = Means(is_known, y)
        if categorical:
            own = _from_shares(x, means)
        else:
            own = _from_means(x, means) if np.inf == P else _from_directions(x, means, P)
        difference.append(_filled(own, is_known, y))
    return np.moveaxis(np.array(difference), 0, -1)


class Means:
    """What the mean of each class is made of.

    Attributes
    ----------
    member : ndarray of shape (k, n)
        Whose values the mean of a class is of.
    size : ndarray of shape (k,)
    rows, own, is_alone : ndarray
        Each sample with each mean that it is part of, and whether it is all of it.
    """

    def __init__(self, is_known: Mask, y: Codes) -> None:
        # Of a class in which nothing is known the mean is that of all samples.
        self.member = is_known & (np.arange(int(y.max()) + 1)[:, None] == y)
        self.member[~self.member.any(axis=1)] = is_known if is_known.any() else True
        self.size = self.member.sum(axis=1)
        self.own, self.rows = np.nonzero(self.member)
        self.is_alone = self.size[self.own] == 1

    def without(self, mean: Array, x: Array | float) -> Array:
        """Means of the samples' classes without the sample's own value."""
        rest = np.maximum(self.size[self.own] - 1, 1)
        without: Array = mean + (mean - x) / rest
        return without


def _from_means(x: Array, means: Means) -> Array:
    """Differences of one number, (n, k)."""
    # Divided before they are added up: the sum of huge numbers would overflow.
    part = np.where(means.member, np.nan_to_num(x), 0.0) / means.size[:, None]
    mean = part.sum(axis=1)
    others = np.broadcast_to(mean, (len(x), len(mean))).copy()
    own = mean[means.own]
    others[means.rows, means.own] = np.where(
        means.is_alone, own, means.without(own, x[means.rows])
    )
    return np.abs(np.nan_to_num(x)[:, None] - others)


def _from_shares(x: Array, means: Means) -> Array:
    """Differences of one category, (n, k)."""
    # A missing value has a level of its own, which is never read.
    _, level = np.unique(x, return_inverse=True)
    count = np.array([np.bincount(level[m], minlength=level.max() + 1) for m in means.member])
    share = (count / means.size[:, None])[:, level].T
    place = means.rows, means.own
    share[place] = np.where(means.is_alone, 1.0, means.without(share[place], 1.0))
    return 1.0 - share


def _from_directions(x: Array, means: Means, period: float) -> Array:
    """Differences of one circular feature, (n, k)."""
    direction = np.where(np.isnan(x), 0.0, np.exp(2j * np.pi * np.nan_to_num(x) / period))
    total: NDArray[np.complex128] = np.tile(means.member @ direction, (len(x), 1))  # (n, k)
    total[means.rows, means.own] -= np.where(means.is_alone, 0.0, direction[means.rows])
    angle = np.abs(np.angle(direction[:, None] * total.conj()))
    is_balanced = np.abs(total) < LEAST_RESULTANT * means.size
    difference: Array = np.where(is_balanced, np.pi / 2, angle) / (2 * np.pi) * period
    return difference


def _filled(difference: Array, is_known: Mask, y: Codes) -> Array:
    """Rows without a value get the mean row of the known ones of their class, or of all."""
    if is_known.all():
        return difference
    if not is_known.any():
        return np.zeros_like(difference)  # nothing is known of it: no two samples differ
    for c in np.unique(y[~is_known]):
        known = is_known & (y == c)
        rows = known if known.any() else is_known
        difference[~is_known & (y == c)] = difference[rows].mean(axis=0)
    return difference
