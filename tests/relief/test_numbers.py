"""Relief, ReliefF and MultiSURF of a number: against loops of the definition and scikit-rebate."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import skrebate
from relief_oracles import KINDS, cases
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, make_friedman1

from immigrate import MultiSURF, Relief, ReliefF

FAMILY = {
    "Relief": lambda **others: Relief(**others),
    "ReliefF": lambda **others: ReliefF(n_neighbors=4, **others),
    "MultiSURF": lambda **others: MultiSURF(**others),
}


def shares(name, to_others, group, k):
    """Who of a group is near, and how much each counts."""
    if name == "MultiSURF":
        limit = np.mean(list(to_others.values())) - np.std(list(to_others.values())) / 2
        near = [j for j in group if to_others[j] < limit - 1e-9]
        return {j: 1 / len(near) for j in near}
    in_order = sorted(group, key=lambda j: to_others[j])
    if len(in_order) <= k:
        return {j: 1 / len(in_order) for j in in_order}
    reach = to_others[in_order[k - 1]]
    closer = [j for j in group if to_others[j] < reach - 1e-9]
    tied = [j for j in group if abs(to_others[j] - reach) <= 1e-9]
    left = (k - len(closer)) / len(tied)
    return dict.fromkeys(closer, 1 / k) | dict.fromkeys(tied, left / k)


def scores(name, d, y, weight, metric):
    """Mean difference of near misses less that of near hits, one anchor at a time."""
    w, spread = np.zeros(d.shape[2]), np.std(y, ddof=1)
    k = {"Relief": 1, "ReliefF": 4, "MultiSURF": 0}[name]
    for i, D in enumerate(weight / weight.sum()):
        distance = np.sqrt((d[i] ** 2).sum(axis=1)) if metric == "euclidean" else d[i].sum(axis=1)
        to_others = {j: distance[j] for j in range(len(y)) if j != i}
        for side, is_hit in ((-1, True), (1, False)):
            group = [j for j in to_others if (abs(y[i] - y[j]) < spread) == is_hit]
            if group:
                for j, share in shares(name, to_others, group, k).items():
                    w += D * side * share * (d[i, j] ** 2 if name == "Relief" else d[i, j])
    return w


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FAMILY)
def test_scores_are_those_of_the_definition(name, kind, metric):
    X, _, is_categorical, weight, d = cases(kind, 2)
    y = np.random.default_rng(1).exponential(size=len(X))
    model = FAMILY[name](metric=metric, categorical_features=is_categorical).fit(X, y, weight)
    expected = scores(name, d, y, weight, metric)
    np.testing.assert_allclose(model.feature_importances_, expected, atol=1e-12)
    assert not hasattr(model, "classes_")


def diabetes():
    X, y = load_diabetes(return_X_y=True)
    # A sex of two numbers would be a category to scikit-rebate.
    return np.delete(X, 1, axis=1), y


def friedman():
    return make_friedman1(300, random_state=0)


@pytest.mark.parametrize("table", [diabetes, friedman])
@pytest.mark.parametrize("name", ["ReliefF", "MultiSURF"])
def test_ranks_are_those_of_scikit_rebate(name, table):
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        k = {"n_neighbors": 10} if name == "ReliefF" else {}
        theirs = getattr(skrebate, name)(**k).fit(X.copy(), y.copy()).feature_importances_
    ours = {"ReliefF": ReliefF(), "MultiSURF": MultiSURF()}[name].fit(X, y)
    np.testing.assert_array_equal(rankdata(ours.feature_importances_), rankdata(theirs))
    np.testing.assert_allclose(ours.feature_importances_, theirs, atol=1e-10)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize(("factor", "shift"), [(3.0, -7.0), (1e100, 0.0), (1e-100, 0.0)])
def test_the_unit_of_the_outcome_does_not_matter(name, factor, shift):
    X, y = make_friedman1(80, random_state=0)
    ours = FAMILY[name]().fit(X, y).feature_importances_
    other = FAMILY[name]().fit(X, factor * y + shift).feature_importances_
    np.testing.assert_allclose(other, ours, atol=1e-12)


def test_values_say_what_the_label_is_unless_the_user_does():
    X = np.random.default_rng(0).normal(size=(60, 3))
    few = np.arange(60) % 6
    assert hasattr(ReliefF().fit(X, few), "classes_")
    assert not hasattr(ReliefF(outcome="number").fit(X, few), "classes_")
    with pytest.raises(ValueError, match="outcome='class' or outcome='number'"):
        ReliefF().fit(X, np.arange(60) % 15)
    assert len(ReliefF(outcome="class").fit(X, np.arange(60) % 15).classes_) == 15
    with pytest.raises(ValueError, match="outcome"):
        ReliefF(outcome="numbers").fit(X, few)


def test_weights_of_classes_are_refused_for_numbers():
    X, y = make_friedman1(40, random_state=0)
    with pytest.raises(ValueError, match="class_weight weighs classes"):
        ReliefF(class_weight="balanced").fit(X, y)


def test_gaps_and_text_are_welcome():
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 150))
    site = rng.choice(["north", "south"], 150)
    X = pd.DataFrame({"noise": noise, "a": a, "site": site})
    X.loc[::9, "a"] = np.nan
    assert ReliefF(1).fit(X, a).get_feature_names_out().tolist() == ["a"]
    assert np.isfinite(MultiSURF().fit(X, a).feature_importances_).all()
