"""What the buttons save."""

from __future__ import annotations

import json
import time
from xml.etree import ElementTree

import pandas as pd
import pytest


@pytest.fixture
def downloads(driver, tmp_path):
    wanted = {"behavior": "allow", "downloadPath": str(tmp_path)}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", wanted)
    return tmp_path


def arrived(folder, name):
    for _ in range(200):
        path = folder / name
        if path.exists() and path.stat().st_size:
            return path
        time.sleep(0.05)
    raise AssertionError(f"{name} did not arrive, but {[p.name for p in folder.iterdir()]}")


def test_tables_are_saved_as_csv(page, trial, downloads):
    page.open(trial)
    page.click("#pair-tools button")
    table = pd.read_csv(arrived(downloads, "pairs.csv"))
    assert table.loc[0, ["feature_1", "feature_2"]].tolist() == ["treatment", "variant"]
    assert len(table) == 36
    assert table.loc[0, "size_low"] < table.loc[0, "size"] < table.loc[0, "size_high"]


def test_a_csv_runs_no_formula(page, hostile, downloads):
    page.open(hostile)
    page.click("#feature-tools button")
    table = pd.read_csv(arrived(downloads, "features.csv"))
    assert "'=HYPERLINK(1)" in table["feature"].tolist()


def test_pictures_are_saved_as_svg_and_png(page, trial, downloads):
    page.open(trial, dark=True)
    page.click("#pair-picture figure button:nth-child(1)")
    drawing = ElementTree.parse(arrived(downloads, "pair-samples.svg")).getroot()
    assert drawing.tag.endswith("svg")
    fills = {node.get("fill") for node in drawing.iter() if node.tag.endswith("circle")}
    assert len(fills) == 1
    assert fills.pop().startswith("rgb(")
    page.click("#pair-picture figure button:nth-child(2)")
    assert arrived(downloads, "pair-samples.png").read_bytes().startswith(b"\x89PNG")
    assert page.messages == []


def test_everything_is_saved_as_json(page, trial, downloads):
    page.open(trial)
    page.click("#save-json")
    saved = json.loads(arrived(downloads, "report.json").read_text("utf-8"))
    assert saved["format"] == 1
    assert saved["answers"][1]["headline"] == [["treatment", "variant"]]
