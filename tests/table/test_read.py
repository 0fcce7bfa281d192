"""Reading around scikit-learn's own checks: its conventions hold, and a refused refit is none."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

from immigrate.kinds.number import difference_units
from immigrate.table import ColumnWarning, read_table, read_training_table

DATA = Path(os.environ.get("IMMIGRATE_DATA", "no folder"))
MESSY = DATA / "messy.csv"


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class with the nearest mean, gaps left aside: the least that uses both functions."""

    def __init__(self, *, takes_gaps=True, categorical_features="from_dtype"):
        self.takes_gaps = takes_gaps
        self.categorical_features = categorical_features

    def fit(self, X, y):
        table = read_training_table(
            self,
            X,
            y,
            categorical_features=self.categorical_features,
            allow_nan=self.takes_gaps,
        )
        units = difference_units(table.values, table.low, table.high, table.reader.is_nominal)
        X, codes = np.nan_to_num(table.values / units), table.outcome.codes
        self._means = np.array([X[codes == c].mean(axis=0) for c in np.unique(codes)])
        self._units = units
        table.keep_on(self)
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = np.nan_to_num(read_table(self, X, allow_nan=self.takes_gaps) / self._units)
        return self.classes_[np.square(X[:, None] - self._means).sum(axis=2).argmin(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_gaps
        return tags


@parametrize_with_checks([NearestMean(), NearestMean(takes_gaps=False)])
def test_sklearn_conventions(estimator, check):
    check(estimator)


def mixed(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {"dose": rng.normal(size=n) + y, "site": rng.choice(["A", "B"], n), "smoker": y > 0}
    )
    return frame, np.array(["ill", "well"])[y]


def test_the_table_is_read_and_nothing_is_written():
    X, y = mixed()
    estimator = NearestMean()
    table = read_training_table(estimator, X, y)
    assert vars(estimator) == {"takes_gaps": True, "categorical_features": "from_dtype"}
    table.keep_on(estimator)
    assert estimator.feature_names_in_.tolist() == ["dose", "site", "smoker"]
    assert estimator.n_features_in_ == 3
    assert estimator.classes_.tolist() == ["ill", "well"]
    assert [kind.name for kind in estimator.column_reader_.kinds] == ["number", "nominal", "flag"]


REFUSED = {
    "label": lambda X, y: (X, np.where(np.arange(len(y)) == 3, None, y)),
    "one class": lambda X, y: (X, ["other"] * len(y)),
    "length": lambda X, y: (X, y[:-1]),
    "infinity": lambda X, y: (X[["dose"]].replace(X["dose"][0], np.inf), y),
    "dates": lambda X, y: (X.assign(dose=pd.Timestamp("2021")), y),
    "no label": lambda X, y: (X.drop(columns="site"), None),
    "a warning that is an error": lambda X, y: (X.assign(dose=1.0), y),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_refit_leaves_the_model_whole(case):
    X, y = mixed()
    model = NearestMean().fit(X, y)
    before, state = model.predict(X), dict(vars(model))
    with pytest.raises((ValueError, ColumnWarning)):
        model.fit(*REFUSED[case](X, y))
    assert vars(model) == state
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_refit_without_names_forgets_the_names():
    X, y = mixed()
    model = NearestMean().fit(X, y).fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    assert model.column_reader_.names == ("x0", "x1", "x2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.rename(columns={"site": "place"}), "Feature names unseen at fit time:\n- pl"),
        (lambda X: X[["site", "dose", "smoker"]], "must be in the same order as they were in fit"),
        (lambda X: X.drop(columns="site"), "yet now missing:\n- site"),
        (lambda X: X.iloc[:0], r"0 sample\(s\)"),
        (lambda X: X.assign(dose=-np.inf), "Column 'dose' holds infinity in 40 rows"),
    ],
)
def test_other_tables_at_predict_are_refused(change, message):
    X, y = mixed()
    with pytest.raises(ValueError, match=message):
        NearestMean().fit(X, y).predict(change(X))


def test_names_of_which_only_some_are_text_are_refused():
    X, y = mixed()
    with pytest.raises(TypeError, match="Feature names are only supported if all"):
        NearestMean().fit(X.rename(columns={"site": 3}), y)


def test_repeated_names_are_told_apart_in_fit_and_at_predict():
    X, y = mixed()
    X = X[["dose", "site"]].assign(other=X["dose"] ** 2)
    X.columns = ["lab", "site", "lab"]
    with pytest.warns(ColumnWarning, match=r"Column 'lab\.1' \(position 2"):
        model = NearestMean().fit(X, y)
    assert model.feature_names_in_.tolist() == ["lab", "site", "lab.1"]
    assert len(model.predict(X)) == len(y)


def test_polars_gives_the_model_of_pandas():
    pl = pytest.importorskip("polars")
    X, y = mixed()
    same = pl.DataFrame({name: X[name].to_list() for name in X})
    model = NearestMean().fit(same, pl.Series(y.tolist()))
    assert model.feature_names_in_.tolist() == list(X)
    np.testing.assert_array_equal(model.predict(X), NearestMean().fit(X, y).predict(same))


def test_plain_arrays_pass_without_a_copy():
    X = np.random.default_rng(0).normal(size=(20, 3))
    table = read_training_table(BaseEstimator(), X, np.arange(20) % 2)
    assert table.values is X


def test_the_messy_table_as_it_came_from_the_file():
    if not MESSY.exists():
        pytest.skip("messy.csv is not in the data folder; IMMIGRATE_DATA names it")
    frame = pd.read_csv(MESSY, sep=";", decimal=",")
    X, y = frame.drop(columns="outcome"), frame["outcome"]
    with pytest.warns(ColumnWarning) as caught:
        table = read_training_table(BaseEstimator(), X, y)
    assert len(caught) == 3
    reader = table.reader
    assert {(note.name, note.reason.name) for note in reader.notes} == {
        ("patient_id", "IDENTIFIER"),
        ("visit_date", "TEXT_DATES"),
        ("study", "CONSTANT"),
    }
    nominal = [name for name, is_one in zip(reader.names, reader.is_nominal) if is_one]
    assert nominal == ["patient_id", "visit_date", "genotype (rs1801133)", "Zentrum", "study"]
    assert reader.kinds[reader.names.index("smoker")].name == "flag"
    assert np.isnan(table.values).sum() == X.isna().to_numpy().sum()
