"""The pages of the roads follow the code: ``harness/stops.py``."""

from __future__ import annotations

import sys

import pytest

from harness.roads import road
from harness.stops import MOST_STOPS, PAGES, ROAD_PAGES, text_of


@pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work")
@pytest.mark.parametrize("name", ROAD_PAGES)
def test_a_call_visits_the_stops_of_its_page_in_their_order(name):
    visited = [function for _, function in road(name).visits]
    stops = ROAD_PAGES[name].stops
    assert len(stops) <= MOST_STOPS
    assert [one for one in stops if one not in visited] == []
    assert list(stops) == sorted(stops, key=visited.index)


@pytest.mark.parametrize("name", ROAD_PAGES)
def test_a_page_is_what_the_code_says(name):
    page = (PAGES / f"road-{name}.md").read_text(encoding="utf-8")
    assert page == text_of(name, ROAD_PAGES[name]), "run python -m harness.stops"
