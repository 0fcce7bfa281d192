"""The tables of the pages on detection and on numbers are those of the tracked results."""

import pytest

from benchmarks.detection import number_tables, tables

PAGES = {"detection": tables, "numbers": number_tables}


@pytest.mark.parametrize("name", PAGES)
def test_the_page_shows_the_tracked_results(name):
    page = PAGES[name].PAGE.read_text()
    assert tables.filled(page, PAGES[name].TABLES) == page


@pytest.mark.parametrize("name", PAGES)
def test_every_table_has_a_place_on_the_page(name):
    page = PAGES[name].PAGE.read_text()
    assert all(f"<!-- table: {table} -->" in page for table in PAGES[name].TABLES)
