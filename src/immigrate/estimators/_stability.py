"""Stability selection: which pairs enter again and again on halves of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import Tags, check_random_state

from immigrate.arrays import Array, Codes
from immigrate.checks import check_count, check_jobs, check_positive
from immigrate.estimators._encoding import resolved_columns
from immigrate.estimators._immigrate import (
    ImmigrateClassifier,
    base_classifier,
    base_training_data,
)
from immigrate.estimators._margin_classifier import with_mixed_input
from immigrate.estimators._penalty_path import PenaltyPath
from immigrate.estimators._task import Task, learning_tasks
from immigrate.estimators._tracks import Track
from immigrate.estimators._training import TrainingData, remember
from immigrate.estimators.base import fitting
from immigrate.estimators.sigma import resolved_sigma
from immigrate.estimators.stored import StoredEstimator
from immigrate.progress import progress_stage
from immigrate.scikit_learn import checked_feature_names

# A half needs a hit for every sample.
FEWEST_OF_A_CLASS = 4
# Strengths along which pairs enter: many, so that few enter at once.
STRENGTHS = PenaltyPath(n_strengths=40, smallest=0.02)
# A table of pairs lists so many, the most frequent first.
MOST_ROWS = 100_000


class StabilitySelection(StoredEstimator):
    """How often each pair is among the first to enter an `L1` path, on random halves of a table.

    The samples are cut into two random halves, again and again [1]_. On each half the first q
    pairs to enter as the price of pairs falls are selected. A pair is *stable* if it was selected
    on at least a share `threshold` of the halves.

    **The bound.** Of m possible pairs, the expected number of stable ones among those that a half
    selects with probability q / m or less, that is no more often than by chance, is at most

        q^2 / ((2 threshold - 1) m)

    (Shah and Samworth, Theorem 1 [1]_; no other assumption is made). Here q is the largest number
    for which this is at most `max_false`. What it does *not* say is that a stable pair acts
    together: a pair of two strong features enters often because the distance multiplies their
    differences, whether or not they interact. Stability is a property of the model's choice; for
    evidence of an interaction see `InteractionTest`.

    Parameters
    ----------
    estimator : ImmigrateClassifier, default=None
        What is fitted on the halves. None is ``ImmigrateClassifier(constraint="nonnegative")``,
        which takes a fraction of the time of the other constraints. Its `penalty`, `rule`,
        `references` and `n_jobs` are not read; a nominal column has one weight.
    max_false : float, default=1.0
        The bound on the expected number of stable pairs that enter by chance.
    threshold : float, default=0.75
        Share of the halves from which on a pair is stable, above 0.5.
    n_splits : int, default=50
        How often the samples are cut into two halves.
    n_jobs : int, default=None
        Processes over halves. None is 1 unless in a `joblib.parallel_config` context; -1 is all.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For drawing halves.

    Attributes
    ----------
    table_ : pandas.DataFrame
        Pairs by falling `frequency`: `feature_1`, `feature_2`, `frequency` (share of halves on
        which the pair was selected), `is_stable`. The 100,000 most frequent ones at most.
    selected_ : pandas.DataFrame
        The stable ones.
    frequencies_ : ndarray of shape (n_features_in_, n_features_in_)
        Symmetric, 0 on the diagonal.
    n_pairs_ : int
        q, the number of pairs selected on each half.
    n_possible_ : int
        m, the number of pairs of features.
    expected_false_ : float
        The bound above. It can exceed `max_false` where q = 1 is already too many.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only when `X` has string column names.

    See Also
    --------
    PenaltyPath : The path on one table.
    InteractionTest : Whether two features act together.

    References
    ----------
    .. [1] R. D. Shah and R. J. Samworth, "Variable selection with error control: another look at
       stability selection", Journal of the Royal Statistical Society B 75(1), 2013.
       :doi:`10.1111/j.1467-9868.2011.01034.x`

    Examples
    --------
    >>> from immigrate import StabilitySelection
    >>> from immigrate.datasets import make_xor
    >>> X, y = make_xor(200, 6, random_state=0)
    >>> stable = StabilitySelection(n_splits=5, random_state=0).fit(X, y)
    >>> stable.n_pairs_, round(stable.expected_false_, 2)
    (2, 0.53)
    >>> list(stable.table_.columns)
    ['feature_1', 'feature_2', 'frequency', 'is_stable']
    """

    def __init__(
        self,
        estimator: ImmigrateClassifier | None = None,
        *,
        max_false: float = 1.0,
        threshold: float = 0.75,
        n_splits: int = 50,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.max_false = max_false
        self.threshold = threshold
        self.n_splits = n_splits
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count how often each pair enters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes with four samples each.
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample's margin counts in the fits.

        Returns
        -------
        self
        """
        with fitting(self):
            threshold = checked_threshold(self.threshold)
            max_false = check_positive("max_false", self.max_false)
            check_count("n_splits", self.n_splits)
            check_jobs(self.n_jobs)
            base = base_classifier(self.estimator, ImmigrateClassifier(constraint="nonnegative"))
            STRENGTHS.check(base.constraint)
            # One encoding of levels on every half, so that pairs are counted alike.
            base = with_one_weight_per_column(base)
            data = base_training_data(self, base, X, y, sample_weight)
            n_possible = n_pairs_of(data)
            check_halves(data)
            q = n_pairs_within(max_false, threshold, n_possible)
            halves = self._halves(data.codes)
            chosen = Parallel(n_jobs=self.n_jobs)(
                delayed(pairs_of_half)(base, data.rows(half), q, f"half {k} of {len(halves)}")
                for k, half in enumerate(halves, start=1)
            )
            counts = np.zeros((data.X.shape[1],) * 2)
            for pairs in chosen:
                # No pair is listed twice for one half; with repeats, only one of them would be
                # counted.
                counts[pairs[:, 0], pairs[:, 1]] += 1
            remember(self, data)
            self.frequencies_ = (counts + counts.T) / len(halves)
            self.n_pairs_, self.n_possible_ = q, n_possible
            self.expected_false_ = q**2 / ((2 * threshold - 1) * n_possible)
            self.table_ = self._table(np.flatnonzero(data.reader.is_used), threshold)
        return self

    @property
    def selected_(self) -> pd.DataFrame:
        """The stable pairs."""
        return self.table_[self.table_["is_stable"]]

    def _halves(self, codes: Codes) -> list[Codes]:
        """Complementary halves, each with half of every class."""
        random = check_random_state(self.random_state)
        halves = []
        for _ in range(self.n_splits):
            is_first = np.zeros(len(codes), dtype=bool)
            for code in range(int(codes.max()) + 1):
                own = random.permutation(np.flatnonzero(codes == code))
                is_first[own[: len(own) // 2]] = True
            # Both halves count: the bound of Shah and Samworth is for complementary pairs of them.
            halves += [np.flatnonzero(is_first), np.flatnonzero(~is_first)]
        return halves

    def _table(self, used: Codes, threshold: float) -> pd.DataFrame:
        names = checked_feature_names(self)
        rows, columns = np.triu_indices(len(used), 1)
        a, b = used[rows], used[columns]
        frequency = self.frequencies_[a, b]
        order = np.argsort(-frequency, kind="stable")[:MOST_ROWS]
        return pd.DataFrame(
            {
                "feature_1": names[a[order]],
                "feature_2": names[b[order]],
                "frequency": frequency[order],
                "is_stable": frequency[order] >= threshold,
            }
        )

    def __sklearn_tags__(self) -> Tags:
        tags = with_mixed_input(super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags


def checked_threshold(threshold: Any) -> float:
    """A share of halves above one half, for which the bound holds."""
    value = check_positive("threshold", threshold)
    if not 0.5 < value <= 1:
        raise ValueError(f"threshold must be above 0.5 and at most 1, got {threshold!r}.")
    return value


def n_pairs_within(max_false: float, threshold: float, n_possible: int) -> int:
    """The largest q whose bound q^2 / ((2 threshold - 1) m) is within `max_false`; 1 at least."""
    q = int(np.sqrt(min(max_false, n_possible) * (2 * threshold - 1) * n_possible))
    return min(max(q, 1), n_possible)


def n_pairs_of(data: TrainingData) -> int:
    """Number of pairs of features, of which there has to be one."""
    p = int(data.reader.is_used.sum())
    if p < 2:
        raise ValueError(
            f"X has n_features = {p} that can be used, and a pair takes two. Add features, or use "
            "ImmigrateClassifier without a selection of pairs."
        )
    return p * (p - 1) // 2


def check_halves(data: TrainingData) -> None:
    """Refuse classes of which a half would have a single sample."""
    size = np.bincount(data.codes, minlength=len(data.classes))
    for label, n in zip(data.classes.tolist(), size):
        if n < FEWEST_OF_A_CLASS:
            raise ValueError(
                f"Class {label!r} has n_samples = {n}; halves of the table need two each, so at "
                f"least {FEWEST_OF_A_CLASS} samples of every class are needed. Merge rare classes "
                "or drop them."
            )


def with_one_weight_per_column(base: ImmigrateClassifier) -> ImmigrateClassifier:
    """The classifier without a choice between ways to encode levels."""
    columns = clone(resolved_columns(base.columns)).set_params(nominal="mismatch")
    return clone(base).set_params(columns=columns)


def pairs_of_half(base: ImmigrateClassifier, data: TrainingData, q: int, half: str) -> Codes:
    """The first pairs to enter on one half; `half` names it in lines of progress."""
    with progress_stage(half):
        return first_pairs(base, data, q)


def first_pairs(base: ImmigrateClassifier, data: TrainingData, q: int) -> Codes:
    """The first `q` pairs to enter on some samples, as indices of features, (n_pairs, 2).

    Of pairs that enter at one strength those with the larger weight are taken.
    """
    # One thread: halves are spread over processes.
    (task,) = learning_tasks(base, data, n_jobs=None)
    feature = np.flatnonzero(task.references.is_used)
    rows, columns = np.triu_indices(len(feature), 1)
    chosen: list[int] = []
    for weights in weights_as_pairs_enter(task, base.sigma):
        size = np.abs(weights[rows, columns])
        entered = [k for k in np.argsort(-size, kind="stable") if size[k] > 0]
        # A pair that has entered stays chosen, even if it leaves again at a weaker price.
        chosen += [k for k in entered if k not in chosen]
        # The path is lazy: weaker prices are not solved once enough pairs are in.
        if len(chosen) >= q:
            break
    first = np.array(chosen[:q], dtype=np.intp)
    return np.column_stack([feature[rows[first]], feature[columns[first]]])


def weights_as_pairs_enter(task: Task, sigma: Any) -> Iterator[Array]:
    """Weights along falling strengths."""
    references = task.references
    width = resolved_sigma(sigma, references.table, task.start, references.encoding)
    track = Track(task, task.solver, STRENGTHS.on(task, [width]))
    for _, solution in track.along_strengths(width):
        yield solution.weights
