"""What somebody calls in the first hour, and what helps on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from immigrate import ImmigrateClassifier, InteractionTest, Report
from immigrate.checks import meant_name
from immigrate.options import Columns

ESTIMATORS = [InteractionTest, ImmigrateClassifier]


def table(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["dose", "age"])
    return frame.assign(outcome=np.where(frame["dose"] > frame["dose"].median(), "ill", "well"))


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_one_column_in_place_of_the_table_is_named(Estimator):
    frame = table()
    with pytest.raises(ValueError, match=r"X is one column, a Series .* fit\(X, y\)\. "):
        Estimator().fit(frame["outcome"], frame.drop(columns="outcome"))


def test_a_column_of_polars_in_place_of_the_table_is_named():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match="X is one column, a Series"):
        InteractionTest().fit(polars.Series([1.0, 2.0]), ["ill", "well"])


@pytest.mark.parametrize("Estimator", ESTIMATORS)
def test_the_name_of_the_target_in_place_of_its_values_is_named(Estimator):
    remedy = r"fit\(table.drop\(columns='outcome'\), table\['outcome'\]\)"
    with pytest.raises(ValueError, match=rf"^y='outcome' is a text; .*{remedy}\.$"):
        Estimator().fit(table(), "outcome")


def test_a_text_file_that_was_read_as_one_column_asks_for_its_delimiter():
    frame = pd.DataFrame({"dose;age": [f"{i};{i % 7}" for i in range(40)]})
    with pytest.raises(ValueError, match=r"All is one column; read the file with sep=';'\.$"):
        InteractionTest().fit(frame, ["ill", "well"] * 20)


def test_a_table_that_lies_on_its_side_is_recognised():
    with pytest.raises(ValueError, match=r"'outcome' is a row of it; .*transpose it, table\.T\."):
        Report.of(table().T, "outcome")


def test_the_name_that_was_meant_is_said():
    frame = table()
    test = InteractionTest().fit(frame[["dose", "age"]], frame["outcome"])
    with pytest.raises(ValueError, match=r"'does', but .* Did you mean 'dose'\? Use one of"):
        test.effect("does", "age")
    assert meant_name("zzz", ["dose", 3]) == ""


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(ImmigrateClassifier(), "penalty__strength"), (ImmigrateClassifier(), "screen__threshold")],
)
def test_a_parameter_of_a_part_that_is_not_there_says_which_part(estimator, name):
    part = name.partition("__")[0]
    with pytest.raises(ValueError, match=rf"{name} is a parameter of {part}, which is None"):
        estimator.set_params(**{name: 0.5})


def test_parameters_of_parts_can_be_searched():
    frame = table()
    search = GridSearchCV(
        ImmigrateClassifier(columns=Columns()), {"columns__scale": ["std", "range"]}, cv=2
    )
    search.fit(frame[["dose", "age"]], frame["outcome"])
    assert search.best_params_["columns__scale"] in ("std", "range")
    both = ImmigrateClassifier().set_params(columns=Columns(), columns__scale="range")
    assert both.columns.scale == "range"


def test_a_target_with_a_class_for_each_row_is_questioned():
    frame = table()
    with pytest.raises(ValueError, match=r"40 classes in as many samples, .* the right column"):
        InteractionTest().fit(frame[["dose", "age"]], [f"street {i}" for i in range(40)])


def test_a_page_is_not_written_over_a_folder(tmp_path):
    from immigrate.files import write_text_whole

    with pytest.raises(IsADirectoryError, match="this is a folder; give the name of a file in it"):
        write_text_whole(tmp_path, "page")
    assert list(tmp_path.iterdir()) == []
