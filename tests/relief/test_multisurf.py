"""MultiSURF against its definition written out, and against scikit-rebate."""

from __future__ import annotations

import numpy as np
import pytest
import skrebate
from relief_oracles import KINDS, cases, table

from immigrate import MultiSURF


def multisurf(d, y, sample_weight, metric):
    """ReliefF with the neighbours of a sample nearer than the mean less half a deviation."""
    w = np.zeros(d.shape[2])
    prior = np.bincount(y) / len(y)
    for i, weight in enumerate(sample_weight / sample_weight.sum()):
        distance = np.sqrt((d[i] ** 2).sum(axis=1)) if metric == "euclidean" else d[i].sum(axis=1)
        to_others = np.delete(distance, i)
        limit = to_others.mean() - to_others.std() / 2
        for c in set(y):
            members = [j for j in range(len(y)) if j != i and y[j] == c]
            near = [j for j in members if distance[j] < limit - 1e-9]
            side = -1 if c == y[i] else prior[c] / (1 - prior[y[i]])
            for j in near:
                w += weight * side * d[i, j] / len(near)
    return w


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_definition(kind, n_classes, metric, missing):
    X, y, is_categorical, weight, d = cases(kind, n_classes, missing=missing)
    model = MultiSURF(metric=metric, categorical_features=is_categorical).fit(X, y, weight)
    expected = multisurf(d, y, weight, metric)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_continuous_tables_get_the_scores_of_scikit_rebate(seed):
    X, y, _ = table(seed, n=204, p=16)
    theirs = skrebate.MultiSURF().fit(X.copy(), y).feature_importances_
    np.testing.assert_allclose(MultiSURF().fit(X, y).feature_importances_, theirs, atol=1e-12)
