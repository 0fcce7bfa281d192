"""The tables of docs/measurements/columns.md are those of the tracked results."""

from benchmarks.columns.columns_page import PAGE, TABLES, filled


def test_the_page_shows_the_tracked_results():
    page = PAGE.read_text()
    assert filled(page) == page


def test_every_table_has_a_place_on_the_page():
    page = PAGE.read_text()
    assert all(f"<!-- table: {name} -->" in page for name in TABLES)
