"""Tables for which a part of the page has nothing to say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from immigrate import BoostedImmigrateClassifier, ImmigrateClassifier, Report
from immigrate.datasets import make_xor


def one_feature():
    X, y = make_xor(60, 2, random_state=0)
    return Report.of(X[["a"]].assign(a=X["a"] + y), y, ImmigrateClassifier(), cv=2)


def repeated_people():
    X, y = make_xor(60, 3, random_state=0)
    return Report.of(X, y, ImmigrateClassifier(), cv=2, groups=np.repeat(np.arange(30), 2))


def tiny_class():
    X, y = make_xor(40, 3, random_state=0)
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:2]]
    return Report.of(X.iloc[rows], y[rows], ImmigrateClassifier())


def boosted():
    X, y = make_xor(60, 3, random_state=0)
    return Report.of(X, y, BoostedImmigrateClassifier(n_estimators=3), cv=2)


def mostly_missing():
    X, y = make_xor(80, 3, random_state=0)
    X.iloc[:60, 0] = np.nan
    levels = pd.Categorical.from_codes(np.arange(80) % 20, [f"level {k}" for k in range(20)])
    return Report.of(X.assign(levels=levels), y, ImmigrateClassifier(), cv=2)


def many_classes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 3)), columns=list("abc"))
    X["a"] += np.arange(120) % 12
    return Report.of(X, np.arange(120) % 12, ImmigrateClassifier(), cv=2)


@pytest.mark.parametrize(
    "made", [one_feature, repeated_people, tiny_class, boosted, mostly_missing, many_classes]
)
def test_the_page_stands(driver, page, made, tmp_path):
    path = made().save(tmp_path / "page.html")
    page.open(path, width=390)
    for tab in page.all("[role='tab']"):
        page.js("arguments[0].click()", tab)
    for row in page.all("#pair-table tbody tr.opens, #feature-table tbody tr.opens"):
        page.js("arguments[0].click()", row)
    assert page.messages == []
    assert page.one("#feature-picture").text
    assert page.js("return document.documentElement.scrollWidth") <= 390
