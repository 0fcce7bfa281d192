"""Nominal columns with nearly as many levels as samples are no finds, whatever else is found."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from interaction_problems import NAMES_OF_NOTHING, PLANTED, found_pairs, hospital_table

from immigrate import InteractionTest


def false_finds(seeds):
    """For each table, the pairs that were found but not planted; the planted ones must be."""
    finds = []
    for seed in seeds:
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


@pytest.mark.parametrize("left_out", [[], ["patient_id"], ["visit_date"]])
def test_the_messy_table_has_its_two_pairs_and_no_others(left_out):
    folder = os.environ.get("IMMIGRATE_DATA")
    if not folder:
        pytest.skip("IMMIGRATE_DATA is not set")
    table = pd.read_csv(Path(folder) / "messy.csv", sep=";", decimal=",")
    test = InteractionTest().fit(table.drop(columns=["outcome", *left_out]), table["outcome"])
    expected = [{"genotype (rs1801133)", "smoker"}, {"BMI [kg/m²]", "CRP µg/ml"}]
    assert sorted(map(sorted, found_pairs(test))) == sorted(map(sorted, expected))
