from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from relief_oracles import table
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from immigrate import LFE, IRelief, Relief, ReliefF, Simba, make_margin_knn


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_neighbours_are_near_under_the_weights(metric):
    X, y, _ = table(0, n=60)
    fit, new = slice(0, 40), slice(40, 60)
    model = make_margin_knn(ReliefF(), n_neighbors=1, metric=metric).fit(X[fit], y[fit])
    w = np.maximum(ReliefF().fit(X[fit], y[fit]).feature_importances_, 0)
    d = np.abs(X[new][:, None] - X[fit]) / np.ptp(X[fit], axis=0)
    distance = (d if metric == "manhattan" else d**2) @ w
    np.testing.assert_array_equal(model.predict(X[new]), y[fit][distance.argmin(axis=1)])


@pytest.mark.parametrize(
    "weigher", [Relief(), ReliefF(), Simba(random_state=0), IRelief(sigma=0.3), LFE()]
)
def test_wine_is_told_apart(weigher):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    assert cross_val_score(make_margin_knn(weigher), X, y).mean() > 0.93


@pytest.mark.filterwarnings("ignore:Columns 'x0' .always 0.")
def test_no_useful_feature_leaves_plain_neighbours():
    y = np.arange(8) % 2
    X = np.zeros((8, 2))
    assert (Relief().fit(X, y).feature_importances_ == 0).all()
    model = make_margin_knn(Relief()).fit(X, y)
    plain = KNeighborsClassifier(1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_names_differ_by_one_under_the_weights(metric):
    X, y, _ = table(0, n=80)
    X = pd.DataFrame(X, columns=list("abcde")).round(2)
    X = X.assign(b=np.array(["lo", "mid", "hi"])[np.digitize(X["b"], [-0.5, 0.5])])
    old, new = X[:60], X[60:].copy()
    new.iloc[0, 1] = "unseen"
    model = make_margin_knn(ReliefF(), metric=metric).fit(old, y[:60])
    w = np.maximum(ReliefF().fit(old, y[:60]).feature_importances_, 0)
    assert w[1] > 0
    distance = 0.0
    for j, name in enumerate(X):
        one, other = new[name].to_numpy()[:, None], old[name].to_numpy()
        is_named = name == "b"
        d = (one != other) * 1.0 if is_named else np.abs(one - other) / np.ptp(other)
        distance = distance + w[j] * (d if metric == "manhattan" else d**2)
    np.testing.assert_array_equal(model.predict(new), y[:60][distance.argmin(axis=1)])


def test_gaps_are_refused_with_advice():
    X, y, _ = table(0)
    X = pd.DataFrame(X, columns=list("abcde"))
    model = make_margin_knn(ReliefF()).fit(X, y)
    X.loc[3, "d"] = np.nan
    with pytest.raises(ValueError, match="Column 'd' holds NaN in row 3, and WeightedFeatures"):
        make_margin_knn(ReliefF()).fit(X, y)
    with pytest.raises(ValueError, match="Column 'd' holds NaN in row 3, and WeightedFeatures"):
        model.predict(X)


def test_lfe_refuses_names_with_advice():
    X, y, _ = table(0)
    X = pd.DataFrame(X, columns=list("abcde")).assign(sex=np.where(y, "f", "m"))
    with pytest.raises(ValueError, match="Column 'sex' holds names such as 'f'; LFE adds"):
        LFE().fit(X, y)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="choose one of"):
        make_margin_knn(Relief(), metric="cosine")
