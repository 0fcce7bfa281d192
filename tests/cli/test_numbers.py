"""Commands on a table whose outcome is a number."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest

from immigrate import load_model
from immigrate.cli import main


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(0)
    years, group = rng.uniform(0, 20, 60).round(1), rng.choice(["a", "b"], 60)
    wage = (5 + years * np.where(group == "a", 0.5, 1.5) + rng.normal(size=60)).round(2)
    frame = pd.DataFrame({"years": years, "group": group, "wage": wage})
    frame["rating"] = np.digitize(wage, [10, 15, 20])
    path = tmp_path_factory.mktemp("numbers") / "wages.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return main([str(one) for one in arguments])


def test_fit_and_predict(table, tmp_path, capsys):
    model = tmp_path / "wage.model"
    options = ("--drop", "rating", "--out", model)
    assert run("fit", table, "--target", "wage", *options) == 0
    assert "ImmigrateRegressor for 'wage' (a number), 60 rows." in capsys.readouterr().out
    assert load_model(model).feature_names_in_.tolist() == ["years", "group"]
    assert run("predict", model, table) == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len(rows) == 60
    assert set(rows[0]) == {"row", "prediction"}
    assert "R² 0." in said.err
    assert "mean absolute error" in said.err


def test_few_whole_numbers_are_classes_until_the_user_says_otherwise(table, tmp_path, capsys):
    model = tmp_path / "rating.model"
    options = ("--target", "rating", "--drop", "wage", "--out", model)
    assert run("fit", table, *options) == 0
    said = capsys.readouterr()
    assert "--outcome number reads them as a number" in said.err
    assert "ImmigrateClassifierCV" in said.out
    assert run("fit", table, *options, "--outcome", "number") == 0
    assert "ImmigrateRegressor" in capsys.readouterr().out
    assert run("fit", table, *options, "--outcome", "number", "--boosted") != 0
    assert "--boosted is a vote of classes" in capsys.readouterr().err


def test_compare_shows_the_share_of_squared_error_and_errors(table, tmp_path, capsys):
    scores = tmp_path / "scores.csv"
    options = ("--target", "wage", "--drop", "rating", "--folds", 3, "--csv", scores)
    assert run("compare", table, *options) == 0
    out = capsys.readouterr().out
    for name in ("ImmigrateRegressor", "ridge regression", "random forest", "R²"):
        assert name in out
    assert set(pd.read_csv(scores).columns) == {"method", "fold", "r2", "mae"}
    assert run("compare", table, "--target", "wage", "--folds", 40) != 0
    assert "--folds 40" in capsys.readouterr().err


def test_report(table, tmp_path, capsys):
    page = tmp_path / "wage.html"
    assert run("report", table, "--target", "wage", "--drop", "rating", "--out", page) == 0
    assert "smaller than those of guessing the mean" in capsys.readouterr().out
    assert "R²" in page.read_text("utf-8")
