"""Nominal columns with nearly as many levels as samples are no finds, whatever else is found."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from interaction_problems import NAMES_OF_NOTHING, PLANTED, found_pairs, hospital_table

from immigrate import InteractionTest
from immigrate.table import ColumnWarning


def false_finds(seeds):
    """For each table, the pairs that were found but not planted; the planted ones must be."""
    finds = []
    for seed in seeds:
        with pytest.warns(ColumnWarning, match="'identifier' \\(400 levels in 400 rows\\)"):
            found = found_pairs(InteractionTest().fit(*hospital_table(seed=seed)))
        assert all(pair in found for pair in PLANTED), seed
        finds.append([pair for pair in found if pair not in PLANTED])
    return finds


def test_names_of_nothing_are_not_found_beside_true_pairs():
    assert sum(map(bool, false_finds(range(4)))) <= 2


@pytest.mark.slow
def test_false_finds_beside_true_pairs_stay_within_alpha():
    finds = false_finds(range(200))
    of_nominal = [any(pair & NAMES_OF_NOTHING for pair in found) for found in finds]
    # With probability .05 each, more than 18 of 200 have probability .006.
    assert sum(map(bool, finds)) <= 18
    assert sum(of_nominal) <= 18


def test_a_raw_table_has_its_pairs_and_its_other_columns_are_named():
    """Exactly the planted pairs, and a warning for each kind of column that is no feature."""
    table, y = hospital_table(seed=0)
    table = table.drop(columns=["visit", "room", "ward"]).assign(
        admitted=pd.date_range("2021", periods=len(y)).strftime("%d.%m.%Y"),
        price=[f"{i % 7},{i % 9}" for i in range(len(y))],
        study="CARE",
        empty=np.nan,
        sex=pd.Categorical(np.where(np.arange(len(y)) % 2, "f", "m")),
        stage=pd.Categorical(np.array(["I", "II", "III"])[np.arange(len(y)) % 3], ordered=True),
    )
    table.loc[::10, "BMI"] = np.nan
    table.loc[::11, "genotype"] = None
    with pytest.warns(ColumnWarning) as caught:
        test = InteractionTest().fit(table, np.where(y, "ill", "well"))
    assert sorted(map(sorted, found_pairs(test))) == sorted(map(sorted, PLANTED))
    said = [str(warning.message) for warning in caught]
    assert sorted(re.findall(r"^Columns? '(\w+)'", message)[0] for message in said) == [
        "admitted",
        "empty",
        "identifier",
        "price",
        "study",
    ]
    tested = set(test.table_[["feature_1", "feature_2"]].to_numpy().ravel())
    assert tested == set(table) - {"admitted", "empty", "identifier", "price", "study"}
    assert test.classes_.tolist() == ["ill", "well"]


@pytest.mark.parametrize("left_out", [[], ["patient_id"], ["visit_date"]])
def test_the_messy_table_has_its_two_pairs_and_no_others(left_out):
    folder = os.environ.get("IMMIGRATE_DATA")
    if not folder:
        pytest.skip("IMMIGRATE_DATA is not set")
    table = pd.read_csv(Path(folder) / "messy.csv", sep=";", decimal=",")
    with pytest.warns(ColumnWarning) as caught:
        test = InteractionTest().fit(table.drop(columns=["outcome", *left_out]), table["outcome"])
    expected = [{"genotype (rs1801133)", "smoker"}, {"BMI [kg/m²]", "CRP µg/ml"}]
    assert sorted(map(sorted, found_pairs(test))) == sorted(map(sorted, expected))
    said = " ".join(str(warning.message) for warning in caught)
    for name in {"patient_id", "visit_date", "study"} - set(left_out):
        assert f"Column '{name}' (" in said
