"""Predictions of held-out samples: folds, measures, intervals, and what they are held against."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import (
    LeaveOneOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immigrate import ImmigrateClassifier, Report
from immigrate.datasets import make_trial, make_xor
from immigrate.report.folds import accuracy, balanced_accuracy, mean_auc, possible_folds


def quick():
    return ImmigrateClassifier()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_measures_are_those_of_cross_validation(n_classes):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = make_pipeline(StandardScaler(), quick())
    labels = y.map({0: "x", 1: "y", 2: "z"})
    found = Report.of(X, labels, model, cv=5).summary["performance"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = cross_val_score(model, X, y, cv=folds)
    sizes = [len(test) for _, test in folds.split(X, y)]
    assert found["accuracy"]["value"] == pytest.approx(np.average(scores, weights=sizes), rel=1e-3)
    assert (found["lowest"], found["highest"]) == pytest.approx(
        (scores.min(), scores.max()), rel=1e-3
    )
    predicted = cross_val_predict(model, X, y, cv=folds)
    balanced = balanced_accuracy_score(y, predicted)
    assert found["balanced_accuracy"]["value"] == pytest.approx(balanced, rel=1e-3)
    assert np.sum(found["confusion"]) == len(y)
    assert found["labels"] == ["x", "y", "z"][:n_classes]
    assert len(found["roc"]) == (1 if n_classes == 2 else 3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_auc_is_that_of_held_out_probabilities(n_classes):
    X, y = load_wine(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    found = Report.of(X, y, quick(), cv=3).summary["performance"]
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    probability = cross_val_predict(quick(), X, y, cv=folds, method="predict_proba")
    wins = [
        np.mean((p[y == c][:, None] > p[y != c]) + 0.5 * (p[y == c][:, None] == p[y != c]))
        for c, p in enumerate(probability.T)
    ]
    assert found["auc"]["value"] == pytest.approx(np.mean(wins), rel=1e-3)


@pytest.mark.parametrize("n_smallest", range(2, 13))
def test_folds_leave_two_samples_of_every_class(n_smallest):
    n_folds = possible_folds(n_smallest, 10)
    y = np.repeat([0, 1], [n_smallest, 40])

    def leaves_two(k):
        folds = StratifiedKFold(k, shuffle=True, random_state=0).split(y, y)
        return all(np.sum(y[train] == 0) >= 2 for train, _ in folds)

    possible = [k for k in range(2, min(10, n_smallest) + 1) if leaves_two(k)]
    assert n_folds == max(possible, default=None)


def test_any_splitter_will_do():
    X, y = make_xor(24, 3, noise=0.1, random_state=0)
    one_out = Report.of(X, y, quick(), cv=LeaveOneOut()).summary["performance"]
    assert one_out["n_folds"] == 24
    assert np.sum(one_out["confusion"]) == 24
    again = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    assert np.sum(Report.of(X, y, quick(), cv=again).summary["performance"]["confusion"]) == 24
    some = ShuffleSplit(2, test_size=0.25, random_state=0)
    report = Report.of(X, y, quick(), cv=some)
    found = report.summary["performance"]
    assert found["n_never_held_out"] == 24 - np.sum(found["confusion"]) > 0
    assert f"{found['n_never_held_out']} samples are held out by no fold" in report.html()
    listed = [(np.arange(12), np.arange(12, 24)), (np.arange(12, 24), np.arange(12))]
    assert Report.of(X, y, quick(), cv=listed).summary["performance"]["n_folds"] == 2


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(0)
    covered = np.zeros(3)
    for _ in range(400):
        codes = np.repeat([0, 1], [120, 40])
        score = rng.standard_normal(160) + 1.0 * codes
        shares = np.column_stack([1 - score, score])
        predicted = (score > 0.5).astype(int)
        truths = [0.6915, 0.6915, 0.7602]  # of two normal classes one unit apart, cut midway
        found = [
            accuracy(codes, predicted),
            balanced_accuracy(codes, predicted),
            mean_auc(codes, shares),
        ]
        covered += [one["low"] <= truth <= one["high"] for one, truth in zip(found, truths)]
    # Two standard errors of a share of 0.95 of 400 are 0.022.
    assert np.all(np.abs(covered / 400 - 0.95) < 0.03)


def test_perfect_and_hopeless_orders_have_intervals_too():
    codes = np.repeat([0, 1], 20)
    perfect = mean_auc(codes, np.column_stack([1 - codes, codes]))
    assert perfect["value"] == perfect["high"] == 1
    assert 0.7 < perfect["low"] < 1
    worst = mean_auc(codes, np.column_stack([codes, 1 - codes]))
    assert worst["value"] == worst["low"] == 0 < worst["high"]


def test_auc_of_many_classes_is_the_mean():
    rng = np.random.default_rng(0)
    codes, shares = rng.integers(0, 4, 200), rng.dirichlet(np.ones(4), 200)
    expected = [roc_auc_score(codes == c, shares[:, c]) for c in range(4)]
    found = mean_auc(codes, shares)
    assert found["value"] == pytest.approx(np.mean(expected))
    assert found["low"] < found["value"] < found["high"]


def test_baselines_are_measured_on_the_same_folds():
    found = Report.of(make_trial(200, random_state=0), "outcome", quick(), cv=4)
    methods = {one["name"]: one for one in found.summary["performance"]["methods"]}
    assert list(methods) == [
        "ImmigrateClassifier",
        "logistic regression",
        "random forest",
        "the largest class",
    ]
    assert methods["the largest class"]["auc"] == {"value": 0.5, "low": 0.5, "high": 0.5}
    assert methods["the largest class"]["balanced_accuracy"]["value"] == 0.5
    # Severity and age alone; the forest may see the pair as well.
    assert methods["logistic regression"]["auc"]["value"] > 0.6


def test_with_unequal_classes_the_card_shows_more_than_accuracy():
    rng = np.random.default_rng(0)
    y = np.repeat(["common", "rare"], [184, 16])
    X = pd.DataFrame(rng.standard_normal((200, 3)), columns=list("abc"))
    X["a"] += 2.5 * (y == "rare")
    answer = Report.of(X, y, quick(), cv=4).summary["answers"][2]
    assert answer["headline"][0].startswith("AUC 0.")
    assert answer["details"][1]["evidence"].startswith("balanced accuracy ")
    assert "the largest class alone would be right in 92.0 %" in answer["remark"]


def test_guessing_is_called_guessing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.repeat([0, 1], [50, 10])
    answer = Report.of(X, y, quick(), cv=5).summary["answers"][2]
    assert answer["headline"] == ["Not shown to be better than guessing"]
    assert answer["is_none"]


def test_explained_rows_were_held_out_and_their_parts_sum_to_the_margin():
    table = make_trial(150, random_state=0)
    rows = Report.of(table, "outcome", quick(), cv=3).summary["performance"]["explained"]
    held_out = next(
        StratifiedKFold(3, shuffle=True, random_state=0).split(table, table["outcome"])
    )[1]
    for row in rows:
        assert row["row"] in held_out
        assert row["true"] == table["outcome"][row["row"]]
        assert (row["true"] == row["predicted"]) or row["why"] != "surest right"
        assert sum(part["part"] for part in row["parts"]) == pytest.approx(row["margin"], rel=5e-3)
