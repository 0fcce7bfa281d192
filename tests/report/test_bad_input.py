"""What no report can be made of is said before the work; odd groups are groups."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from immigrate import ImmigrateClassifier, Report

N = 24
X = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 3)), columns=list("abc"))
Y = np.arange(N) % 2
CLASSES = Y == 1


def of(table=X, y=Y, **options):
    return Report.of(table, y, ImmigrateClassifier(), **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"table": X["a"]}, ValueError, "X is one column, a Series of pandas"),
        ({"table": np.ones(N)}, ValueError, r"X has shape \(24,\); a table"),
        ({"table": "t.csv"}, TypeError, "X is 't.csv', a text; a table was expected"),
        (
            {"table": X.assign(d=Y, e=Y).set_axis([*"abcdd"], axis=1), "y": "d"},
            ValueError,
            "y='d' names 2 columns of the table; give each column a name of its own",
        ),
        (
            {"table": pd.DataFrame({"day": pd.date_range("2021", periods=N)})},
            ValueError,
            "X has no column that can be used as a feature: Column 'day'.*dates or times",
        ),
        ({"title": 3}, TypeError, "title must be a text, got 3"),
        ({"n_jobs": "2"}, ValueError, "n_jobs must be None, a whole number.*got '2'"),
        ({"cv": []}, ValueError, "cv has no fold"),
        (
            {"cv": [(np.flatnonzero(CLASSES), np.flatnonzero(~CLASSES))]},
            ValueError,
            "Fold 1 of 1 leaves one class, or none, to learn from",
        ),
        (
            {"groups": np.where(np.arange(N) == 5, np.nan, np.arange(N))},
            ValueError,
            r"groups is missing \(NaN\) in 1 of 24 samples, first in row 5",
        ),
        (
            {"groups": [None, *"ab" * (N // 2)][:N]},
            ValueError,
            r"groups is missing \(NaN\) in 1 of 24 samples, first in row 0",
        ),
        ({"groups": np.zeros(N)}, ValueError, "all samples are of one group"),
        ({"groups": Y}, ValueError, "Fold 1 of 2 leaves one class, or none, to learn from"),
    ],
)
def test_what_is_wrong_is_named(options, error, message):
    with pytest.raises(error, match=message):
        of(**options)


def test_there_are_no_more_folds_than_groups():
    groups = np.arange(N) // 8
    found = of(groups=groups).summary["performance"]
    assert (found["n_folds"], found["by_groups"]) == (3, True)
    assert np.sum(found["confusion"]) == N


def test_groups_may_be_names_and_numbers():
    mixed = [["x", 1, 2.5, "y"][k // 6] for k in range(N)]
    splits = {"cv": GroupKFold(4)}
    found = of(groups=mixed, **splits).summary
    alike = of(groups=np.arange(N) // 6, **splits).summary
    assert found["performance"]["accuracy"] == alike["performance"]["accuracy"]


def test_processes_of_any_kind_give_the_same_page():
    page = of(cv=3).html()
    with joblib.parallel_config("multiprocessing", n_jobs=2):
        assert of(cv=3).html() == page
