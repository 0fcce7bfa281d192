"""ReliefF against scikit-rebate: the same scores where the definitions are the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import skrebate
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from skrebate import scoring_utils

from immigrate import ReliefF


def table(kind, seed, n_classes=2, n=204, p=16):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.standard_normal((n, p)) + np.linspace(1.5, 0, p) * (y - y.mean())[:, None]
    is_categorical = {"continuous": np.zeros(p, bool), "discrete": np.ones(p, bool)}.get(
        kind, np.arange(p) % 2 == 0
    )
    X[:, is_categorical] = np.digitize(X[:, is_categorical], [-1, 0, 1])
    return X, y, is_categorical


def both_scores(X, y, is_categorical, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = skrebate.ReliefF(
            n_neighbors=k, categorical_features=list(np.flatnonzero(is_categorical))
        ).fit(X.copy(), y)
    ours = ReliefF(n_neighbors=k, categorical_features=is_categorical).fit(X, y)
    return ours.feature_importances_, theirs.feature_importances_


@pytest.fixture
def plain_mixed_types(monkeypatch):
    """scikit-rebate without its two departures for mixed tables; see the deviations page.

    It multiplies category mismatches by n_features / n_categorical when it looks for
    neighbours, and counts a numeric difference above one standard deviation as 1.
    """
    ramp = scoring_utils.ramp_vec
    monkeypatch.setattr(
        scoring_utils, "ramp_vec", lambda data_type, *rest: ramp("continuous", *rest)
    )

    def distances(self, numeric, categorical):
        spread = np.ptp(numeric, axis=0)
        mismatches = pdist(categorical, "hamming") * categorical.shape[1]
        return squareform(pdist(numeric / spread, "cityblock") + mismatches)

    monkeypatch.setattr(skrebate.ReliefF, "_distarray_no_missing", distances)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("k", [1, 10, 50])
def test_continuous_tables_get_the_same_scores(n_classes, k):
    ours, theirs = both_scores(*table("continuous", 0, n_classes), k)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_discrete_tables_get_the_same_ranking_but_for_broken_ties(seed, n_classes):
    """scikit-rebate takes whichever equally far sample comes first; here they share."""
    ours, theirs = both_scores(*table("discrete", seed, n_classes), 30)
    assert spearmanr(ours, theirs).statistic >= 0.99


def test_sharing_among_ties_is_the_mean_over_orders_of_the_rows():
    X, y, is_categorical = table("discrete", 0)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(y)) for _ in range(8)]
    scores = [both_scores(X[order], y[order], is_categorical, 10) for order in orders]
    ours, theirs = np.mean(scores, axis=0)
    np.testing.assert_allclose(ours, scores[0][0], atol=1e-12)
    assert spearmanr(ours, theirs).statistic >= 0.99
    assert max(np.abs(their - theirs).max() for _, their in scores) > np.abs(ours - theirs).max()


def test_a_sample_is_its_own_hit_there_where_its_class_is_no_larger_than_k():
    X, y, is_categorical = table("continuous", 0)
    ours, theirs = both_scores(X, y, is_categorical, len(y))
    d = np.abs(X[:, None] - X) / np.ptp(X, axis=0)
    is_hit = y[:, None] == y
    n_own = len(y) // 2
    miss = d[~is_hit].sum(axis=0) / n_own / len(y)
    hit = d[is_hit].sum(axis=0) / len(y)
    np.testing.assert_allclose(ours, miss - hit / (n_own - 1))
    np.testing.assert_allclose(theirs, miss - hit / n_own)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.usefixtures("plain_mixed_types")
def test_mixed_tables_get_the_same_scores_under_the_same_definition(n_classes):
    ours, theirs = both_scores(*table("mixed", 0, n_classes), 10)
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_mixed_tables_get_a_similar_ranking_as_published(seed):
    ours, theirs = both_scores(*table("mixed", seed), 10)
    assert 0.8 < spearmanr(ours, theirs).statistic < 0.99


def test_unequal_classes_weigh_by_their_share_here_and_alike_there():
    X, y, is_categorical = table("continuous", 0, 3)
    y[:60] = 0
    ours, theirs = both_scores(X, y, is_categorical, 10)
    assert spearmanr(ours, theirs).statistic > 0.95
    assert np.abs(ours - theirs).max() > 1e-3
