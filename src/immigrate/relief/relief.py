"""Relief, ReliefF and MultiSURF: one pass over the nearest hits and misses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count, check_option
from immigrate.kernels.neighbours_numpy import TIE, MixedTable, Nearest, NeighbourPairs
from immigrate.kernels.threads import n_threads
from immigrate.relief.base import (
    METRICS,
    MarginSelector,
    feature_differences,
    hit_and_miss_sides,
    one_pass,
    prior_weighted_sides,
    sharing,
)
from immigrate.relief.numbers import k_nearest, near_shares, number_scores


class Relief(MarginSelector):
    """Relief: scores features by nearest hits and misses.

    A feature gains where a sample differs in it from its nearest miss (any other class) and
    loses where it differs from its nearest hit (its own class), by the squared difference
    [1]_: Algorithm 1 of the IMMIGRATE paper [2]_. A difference with a missing value is its
    expectation given the class, as in ReliefF.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, highest scores first; a float is a share. None keeps
        every feature that reaches `threshold`.
    threshold : float, default=None
        Keep only features with a score of at least this. None is every score above 0 when
        `n_features_to_select` is None, else no limit.
    n_anchors : int, default=None
        M of Algorithm 1: how many samples, drawn at random without replacement, have their
        nearest hit and miss looked up. None is all of them.
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance that decides which samples are near.
    scale : {"range", None}, default="range"
        Numeric differences in units of the feature's range, as Kira and Rendell define
        them, or as they are.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose difference is 0 (equal) or 1: a mask, indices or column names;
        "from_dtype" takes the category and text columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
    outcome : {"auto", "class", "number"}, default="auto"
        What the label is, as in `InteractionTest`. Of a number, hits are the samples whose
        outcome differs by less than its standard deviation, and misses all others, as in
        scikit-rebate.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the draw of `n_anchors`.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Scores in [-1, 1] with ``scale="range"``; 0 or less means: of no use.
    classes_ : ndarray of shape (n_classes,)
        Only where the label is a class.
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    is_categorical_ : ndarray of shape (n_features,)
    difference_units_ : ndarray of shape (n_features,)
        What a difference of 1 is, in units of the feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ReliefF : More neighbours, each class on its own, missing values.

    References
    ----------
    .. [1] K. Kira and L. A. Rendell, "A practical approach to feature selection", Machine
       Learning Proceedings 1992, 249-256. :doi:`10.1016/B978-1-55860-247-2.50037-1`
    .. [2] R. Zhao, P. Hong and J. S. Liu, "IMMIGRATE: A margin-based feature selection method
       with interaction terms", Entropy 22(3):291, 2020. :doi:`10.3390/e22030291`

    Examples
    --------
    >>> from immigrate import Relief
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(n_samples=300, n_features=6, random_state=0)
    >>> Relief(n_features_to_select=2).fit(X, y).get_feature_names_out()
    array(['a', 'b'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        n_anchors: int | None = None,
        metric: str = "euclidean",
        scale: str | None = "range",
        categorical_features: Any = "from_dtype",
        circular_features: Any = None,
        outcome: str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_anchors = n_anchors
        self.metric = metric
        self.scale = scale
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.outcome = outcome
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("metric", self.metric, METRICS)
        if self.n_anchors is not None:
            check_count("n_anchors", self.n_anchors)

    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        if numbers is not None:
            return {
                "feature_importances_": number_scores(
                    table,
                    numbers,
                    k_nearest(1),
                    is_squared=self.metric == "euclidean",
                    has_squared_score=True,
                    anchors=self._anchors(numbers.size, anchor_weight),
                    anchor_weight=anchor_weight,
                )
            }
        score = one_pass(
            table,
            Nearest(is_squared=self.metric == "euclidean"),
            # Squared differences in any metric, as in Algorithm 1.
            feature_differences(table, is_squared=True),
            sides=hit_and_miss_sides(int(table.y.max()) + 1),
            anchors=self._anchors(table.y.size, anchor_weight),
            anchor_weight=anchor_weight,
            n_threads=n_threads(self.n_jobs),
        )
        return {"feature_importances_": score}

    def _anchors(self, n_samples: int, anchor_weight: Array | None) -> Codes:
        # A sample of weight 0 would be drawn in vain.
        drawn_from = (
            np.arange(n_samples) if anchor_weight is None else np.flatnonzero(anchor_weight)
        )
        if self.n_anchors is None or self.n_anchors >= drawn_from.size:
            return drawn_from
        rng = check_random_state(self.random_state)
        drawn: Codes = np.sort(rng.choice(drawn_from, self.n_anchors, replace=False))
        return drawn


class ReliefF(MarginSelector):
    """ReliefF: scores features by several nearest hits and misses of every class.

    For each sample a feature loses its mean difference from the k nearest hits and gains
    its mean difference from the k nearest misses of every other class c, weighed by
    P(c) / (1 - P(own class)) [1]_ [2]_. Mixed types and missing values are welcome: a
    difference with a missing value is its expectation given the class, for categories
    Kononenko's 1 - P(value | class).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, highest scores first; a float is a share. None keeps
        every feature that reaches `threshold`.
    threshold : float, default=None
        Keep only features with a score of at least this. None is every score above 0 when
        `n_features_to_select` is None, else no limit.
    n_neighbors : int, default=10
        The k of the method. A class with fewer other samples counts as a whole. Samples equally
        far share their weight, so the order of the rows does not matter.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance that decides which samples are near.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose difference is 0 (equal) or 1: a mask, indices or column names;
        "from_dtype" takes the category and text columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
    outcome : {"auto", "class", "number"}, default="auto"
        What the label is, as in `InteractionTest`. Of a number, hits are the samples whose
        outcome differs by less than its standard deviation, and misses all others, as in
        scikit-rebate.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Scores in [-1, 1]: an estimate of P(different value | miss) - P(different value | hit)
        for near samples. A score of 0 or less means: of no use.
    classes_ : ndarray of shape (n_classes,)
        Only where the label is a class.
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    is_categorical_ : ndarray of shape (n_features,)
    difference_units_ : ndarray of shape (n_features,)
        The range of each numeric feature: what a difference of 1 is.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    IRelief : Soft neighbours under weights that are learned.

    References
    ----------
    .. [1] I. Kononenko, "Estimating attributes: Analysis and extensions of RELIEF", ECML 1994,
       171-182. :doi:`10.1007/3-540-57868-4_57`
    .. [2] M. Robnik-Sikonja and I. Kononenko, "Theoretical and empirical analysis of ReliefF
       and RReliefF", Machine Learning 53, 23-69, 2003. :doi:`10.1023/A:1025667309714`

    Examples
    --------
    >>> from immigrate import ReliefF
    >>> from immigrate.datasets import make_monk1
    >>> X, y = make_monk1()  # 1 if head and body have one shape, or the jacket is red
    >>> model = ReliefF(n_features_to_select=3, categorical_features=X.columns).fit(X, y)
    >>> model.get_feature_names_out()
    array(['head_shape', 'body_shape', 'jacket_color'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        n_neighbors: int = 10,
        metric: str = "manhattan",
        categorical_features: Any = "from_dtype",
        circular_features: Any = None,
        outcome: str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.outcome = outcome
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("metric", self.metric, METRICS)
        check_count("n_neighbors", self.n_neighbors)

    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        if numbers is not None:
            return {
                "feature_importances_": number_scores(
                    table,
                    numbers,
                    k_nearest(self.n_neighbors),
                    is_squared=self.metric == "euclidean",
                    anchor_weight=anchor_weight,
                )
            }
        score = one_pass(
            table,
            Nearest(self.n_neighbors, is_per_class=True, is_squared=self.metric == "euclidean"),
            # Plain differences in any metric: that only decides who is near.
            feature_differences(table, is_squared=False),
            sides=prior_weighted_sides(np.bincount(table.y) / table.y.size),
            anchor_weight=anchor_weight,
            n_threads=n_threads(self.n_jobs),
        )
        return {"feature_importances_": score}


class MultiSURF(MarginSelector):
    """MultiSURF: scores features by all hits and misses that are nearer than most.

    The neighbours of a sample are those whose distance is below the mean of its distances to all
    others by more than half their standard deviation, so that no number of neighbours has to be
    chosen [1]_. A feature loses its mean difference from the hits among them and gains its mean
    difference from the misses of every other class c, weighed by P(c) / (1 - P(own class)), as in
    ReliefF. A sample without such hits, or without such misses of a class, adds nothing there.
    A difference with a missing value is its expectation given the class.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        How many features to keep, highest scores first; a float is a share. None keeps
        every feature that reaches `threshold`.
    threshold : float, default=None
        Keep only features with a score of at least this. None is every score above 0 when
        `n_features_to_select` is None, else no limit.
    metric : {"manhattan", "euclidean"}, default="manhattan"
        Distance that decides which samples are near.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Features whose difference is 0 (equal) or 1: a mask, indices or column names;
        "from_dtype" takes the category and text columns of a data frame. None: there are none.
    circular_features : dict or None, default=None
        Numbers that come round, by name or index, and their periods, such as ``{"hour": 24}``.
    outcome : {"auto", "class", "number"}, default="auto"
        What the label is, as in `InteractionTest`. Of a number, hits are the samples whose
        outcome differs by less than its standard deviation, and misses all others, as in
        scikit-rebate.
    class_weight : dict, "balanced" or None, default=None
        How much the margins of each class count, on top of `sample_weight`.
    n_jobs : int, default=None
        Threads. None is 1 unless in a `joblib.parallel_config` context; -1 is all. The
        result does not depend on it.

    Attributes
    ----------
    feature_importances_ : ndarray of shape (n_features,)
        Scores in [-1, 1]. A score of 0 or less means: of no use.
    classes_ : ndarray of shape (n_classes,)
        Only where the label is a class.
    column_reader_ : Reader
        What was learned about the columns: kinds, levels, and which are left out and why.
    is_categorical_ : ndarray of shape (n_features,)
    difference_units_ : ndarray of shape (n_features,)
        The range of each numeric feature: what a difference of 1 is.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    ReliefF : A fixed number of neighbours.

    Notes
    -----
    Where classes lie far apart, no miss is nearer than most, and hits alone decide: all scores are
    below 0, and by default no feature is selected. Their order still tells which features vary
    least within the classes; choose with `n_features_to_select` there, or use `ReliefF`.

    References
    ----------
    .. [1] R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker and J. H. Moore, "Benchmarking
       relief-based feature selection methods for bioinformatics data mining", Journal of
       Biomedical Informatics 85, 168-188, 2018. :doi:`10.1016/j.jbi.2018.07.015`

    Examples
    --------
    >>> from immigrate import MultiSURF
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(n_samples=300, n_features=6, random_state=0)
    >>> MultiSURF(n_features_to_select=2).fit(X, y).get_feature_names_out()
    array(['a', 'b'], dtype=object)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | None = None,
        metric: str = "manhattan",
        categorical_features: Any = "from_dtype",
        circular_features: Any = None,
        outcome: str = "auto",
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.metric = metric
        self.categorical_features = categorical_features
        self.circular_features = circular_features
        self.outcome = outcome
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("metric", self.metric, METRICS)

    def _learned(
        self, table: MixedTable, anchor_weight: Array | None, numbers: Array | None = None
    ) -> dict[str, Any]:
        if numbers is not None:
            return {
                "feature_importances_": number_scores(
                    table,
                    numbers,
                    near_shares,
                    is_squared=self.metric == "euclidean",
                    anchor_weight=anchor_weight,
                )
            }
        is_squared = self.metric == "euclidean"
        score = one_pass(
            table,
            # All other samples come in; `nearer_than_most` chooses among them.
            Nearest(table.y.size, is_per_class=True, is_squared=is_squared),
            feature_differences(table, is_squared=False),
            narrowed=partial(nearer_than_most, y=table.y, is_squared=is_squared),
            sides=prior_weighted_sides(np.bincount(table.y) / table.y.size),
            anchor_weight=anchor_weight,
            n_threads=n_threads(self.n_jobs),
        )
        return {"feature_importances_": score}


def nearer_than_most(pairs: NeighbourPairs, y: Codes, *, is_squared: bool) -> NeighbourPairs:
    """The neighbours of MultiSURF, of pairs of some anchors with all other samples.

    Those nearer than the mean distance of their anchor by more than half a standard deviation.
    """
    _, of = np.unique(pairs.anchor, return_inverse=True)
    distance = np.sqrt(pairs.distance) if is_squared else pairs.distance
    count = np.bincount(of)
    mean = np.bincount(of, distance) / count
    spread = np.sqrt(np.bincount(of, (distance - mean[of]) ** 2) / count)
    # Distances that are equal but for rounding are on one side of the limit.
    is_near = distance < (mean - spread / 2)[of] * (1 - TIE)
    return sharing(pairs, is_near, y)
