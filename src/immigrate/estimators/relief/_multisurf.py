"""MultiSURF: all samples that are nearer than most are neighbours, however many they are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from immigrate.arrays import Array, Codes
from immigrate.checks import check_option
from immigrate.core.mixed_table import MixedTable
from immigrate.estimators.relief._base import METRICS, MarginSelector
from immigrate.kernels.neighbours_numpy import TIE, Nearest, NeighbourPairs
from immigrate.kernels.threads import n_threads
from immigrate.solvers.nearest import (
    feature_differences,
    one_pass,
    prior_weighted_sides,
    sharing,
)


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
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold
        self.metric = metric
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("metric", self.metric, METRICS)

    def _learned(self, table: MixedTable, anchor_weight: Array | None) -> dict[str, Any]:
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
