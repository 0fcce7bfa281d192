"""ReliefF: k nearest hits, and k nearest misses of each other class."""

from __future__ import annotations

from typing import Any

import numpy as np

from immigrate.arrays import Array
from immigrate.checks import check_count, check_option
from immigrate.core.mixed_table import MixedTable
from immigrate.estimators.relief._base import METRICS, MarginSelector
from immigrate.kernels.neighbours_numpy import Nearest
from immigrate.kernels.threads import n_threads
from immigrate.solvers.nearest import feature_differences, one_pass, prior_weighted_sides


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
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("metric", self.metric, METRICS)
        check_count("n_neighbors", self.n_neighbors)

    def _learned(self, table: MixedTable, anchor_weight: Array | None) -> dict[str, Any]:
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
