"""A table as a hospital would export it: the page names what was planted and what it left out."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from immigrate import Report

MESSY = Path(os.environ.get("IMMIGRATE_DATA", "")) / "messy.csv"


@pytest.mark.skipif(not MESSY.is_file(), reason="IMMIGRATE_DATA names no folder with messy.csv")
def test_both_planted_pairs_are_named_and_what_is_left_out_is_said():
    report = Report.of(pd.read_csv(MESSY, sep=";", decimal=","), "outcome")
    headline = report.summary["answers"][1]["headline"]
    assert {frozenset(pair) for pair in headline} == {
        frozenset(("genotype (rs1801133)", "smoker")),
        frozenset(("BMI [kg/m²]", "CRP µg/ml")),
    }
    assert "age" in [row["feature"] for row in report.summary["test"]["shown"]]
    assert report.summary["data"]["left_out"] == ["patient_id", "visit_date"]
    notes = " ".join(report.summary["data"]["notes"])
    assert "Column 'study' (always 'CARE-2'): constant" in notes
    # The classes are 77 and 23 per cent.
    assert report.summary["answers"][2]["headline"][0].startswith("AUC 0.")
