"""The page in a real browser: it stands alone, and every click shows what it should."""

from __future__ import annotations

import pytest

SURFACE = "return [...document.querySelectorAll('#pair-picture svg')].at(-1).outerHTML"
# Where the middle of a line is on the screen: its box need not hold it.
MIDDLE = """
const path = arguments[0].querySelector("path");
path.scrollIntoView({block: "center", behavior: "instant"});
const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM());
return [at.x, at.y];
"""
LEGEND = "return [...document.querySelectorAll('.picture .legend bdi')].map(n => n.textContent)"
PAGES = ["trial", "noise", "four_classes", "hostile", "many_pairs"]


@pytest.fixture(params=PAGES)
def any_page(request):
    return request.getfixturevalue(request.param)


def rows(page, table="#pair-table"):
    return [text.split("\n")[0] for text in page.texts(f"{table} tbody th")]


def picture(page):
    return page.one("#pair-picture").get_attribute("data-pair")


def test_it_says_nothing_and_asks_for_nothing(page, any_page):
    page.open(any_page)
    assert page.messages == []
    assert page.requests == [any_page.as_uri()]
    page.click("#pair-table tbody tr:nth-child(1)")
    assert page.all("#pair-picture figure svg")
    # Every view, every choice.
    for view in ("map", "network", "table"):
        page.click(f"#tab-{view}")
    assert page.messages == []
    assert [url for url in page.requests if not url.startswith("data:")] == []


def test_the_answers_are_the_first_thing(page, trial):
    page.open(trial)
    assert page.texts(".headline")[:2] == ["age, severity", "treatment × variant"]
    bottom = page.js("return document.querySelector('.answers').getBoundingClientRect().bottom")
    assert bottom < 900


def test_where_there_is_nothing_it_says_so(page, noise):
    page.open(noise)
    assert page.texts(".headline")[:2] == ["None detected"] * 2
    assert not page.all("#pair-picture svg, #feature-picture svg, tr.chosen, tr.found")
    page.click("#tab-network")
    assert "none was detected" in page.one("#pair-network").text


def test_a_row_opens_its_pair(page, trial):
    page.open(trial)
    assert picture(page) == "treatment × variant"
    page.click("#pair-table tbody tr:nth-child(3)")
    assert picture(page) == rows(page)[2]
    assert len(page.all("#pair-table tr.chosen")) == 1
    # Each sample with both values is a point, and the levels of shares sum to them.
    assert "The samples" in page.one("#pair-picture").text


def test_enter_opens_the_row_in_focus(page, trial):
    page.open(trial)
    button = page.one("#pair-table tbody tr:nth-child(4) button")
    button.send_keys("\ue007")
    assert picture(page) == rows(page)[3]
    assert page.one("#live").get_attribute("textContent").startswith("Picture of ")


def test_points_are_the_samples_in_the_colours_of_their_class(page, trial):
    page.open(trial)
    drawn = page.js(
        "const svg = document.querySelector('#pair-picture figure svg');"
        "return [0, 1].map(c => svg.querySelectorAll(`.f${c}`).length)"
    )
    counts = page.js(
        "const s = JSON.parse(document.getElementById('data').textContent).samples;"
        "return [0, 1].map(c => s.codes.filter(code => code === c).length)"
    )
    assert drawn == counts


def test_a_cell_of_the_map_opens_its_pair(page, trial):
    page.open(trial)
    page.click("#tab-map")
    cells = page.all("#pair-map rect[data-pair='5']")
    assert len(cells) == 2
    cells[0].click()
    page.click("#tab-table")
    assert picture(page) == rows(page)[5]
    assert page.one("#pair-table tr.chosen").get_attribute("data-row") == "5"


def test_arrows_walk_over_the_map_and_enter_opens(page, trial):
    page.open(trial)
    page.click("#tab-map")
    assert len(page.all("#pair-map .cell[tabindex='0']")) == 1
    page.js("document.querySelector(\"#pair-map .cell[tabindex='0']\").focus()")
    here = "return [+document.activeElement.dataset.row, +document.activeElement.dataset.column]"
    row, column = page.js(here)
    for key in ("\ue015", "\ue015", "\ue014"):  # down, down, right
        page.js("return document.activeElement").send_keys(key)
    assert page.js(here) == [row + 2, column + 1]
    cell = page.js("return document.activeElement")
    pair = int(cell.get_attribute("data-pair"))
    cell.send_keys("\ue007")
    page.click("#tab-table")
    assert picture(page) == rows(page)[pair]


def test_a_feature_of_the_map_opens_it(page, trial):
    page.open(trial)
    page.click("#tab-map")
    page.click("#pair-map rect[data-feature='age']")
    assert page.one("#feature-picture").get_attribute("data-feature") == "age"


@pytest.mark.parametrize("by_keyboard", [False, True])
def test_a_line_of_the_network_opens_its_pair(page, trial, by_keyboard):
    page.open(trial)
    page.click("#pair-table tbody tr:nth-child(2)")
    page.click("#tab-network")
    line = page.one("#pair-network .edge[data-pair='0']")
    if by_keyboard:
        page.js("arguments[0].focus()", line)
        line.send_keys("\ue007")
    else:
        page.press(*page.js(MIDDLE, line))
    assert picture(page) == "treatment × variant"
    assert "chosen" in line.get_attribute("class")


def test_the_slider_filters_the_table_and_the_network(page, trial):
    page.open(trial)
    everything = page.one("#pair-table .pages").text
    slider = page.one("#pairs-threshold")
    slider.send_keys("\ue010")  # to the end: an adjusted p of 1
    assert page.one("#pair-tools output").text == "1"
    assert page.one("#pair-table .pages").text == everything
    page.click("#tab-network")
    assert len(page.all("#pair-network .edge")) > 1
    slider.send_keys("\ue011")  # to the start: the strictest
    assert len(page.all("#pair-network .edge")) == 1
    page.click("#tab-table")
    assert rows(page) == ["treatment × variant"]


def test_search_sort_and_filter(page, trial):
    page.open(trial)
    page.one("#pairs-search").send_keys("AGE")
    assert rows(page)
    assert all("age" in row for row in rows(page))
    page.one("#pairs-search").send_keys("nothing has this name")
    assert "No name holds" in page.one("#pair-table tbody").text
    page.open(trial)
    page.click("#pair-table thead th:nth-child(1) button")
    assert rows(page) == sorted(rows(page), key=str.casefold)
    assert page.one("#pair-table thead th").get_attribute("aria-sort") == "ascending"
    page.click("#pair-table thead th:nth-child(1) button")
    assert page.one("#pair-table thead th").get_attribute("aria-sort") == "descending"
    page.click("#pairs-filter option[value='found']")
    assert rows(page) == ["treatment × variant"]
    page.click("#features-filter option[value='found']")
    assert rows(page, "#feature-table") == ["age", "severity"]


def test_sizes_sort_as_numbers(page, trial):
    page.open(trial)
    page.click("#pair-table thead th:nth-child(4) button")
    sizes = [float(text.split()[0]) for text in page.texts("#pair-table tbody td:nth-child(4)")]
    assert sizes == sorted(sizes, reverse=True)


def test_ten_thousand_pairs_are_a_page_of_rows(page, many_pairs):
    page.open(many_pairs)
    assert "of 10,011" in page.one("#pair-table .pages").text
    assert len(page.all("#pair-table tbody tr")) <= 25
    page.click("#pair-table .pages button:nth-child(2)")
    assert page.one("#pair-table .pages").text.endswith("21–40 of 10,011")
    page.one("#pairs-search").send_keys("x141")
    assert "of 141" in page.one("#pair-table .pages").text
    page.click("#tab-map")
    assert len(page.all("#pair-map .cell")) <= 25 * 25
    assert page.js("return document.getElementsByTagName('*').length") < 5_000


def test_names_are_text_and_never_markup(page, hostile, hostile_names):
    page.open(hostile)
    for view in ("map", "network", "table"):
        page.click(f"#tab-{view}")
    page.click("#pairs-filter option[value='all']")
    assert page.js("return window.broken === undefined")
    assert page.all("main img, main b b, header b") == []
    assert page.driver.title == hostile_names[2] + hostile_names[3]
    assert page.one("h1").get_attribute("textContent") == hostile_names[2] + hostile_names[3]
    names = page.js(
        "return [...document.querySelectorAll('#feature-table bdi')].map(n => n.textContent)"
    )
    assert sorted(names) == sorted(hostile_names)
    # A name of the other direction turns nothing around it.
    isolation = "return getComputedStyle(document.querySelector('#feature-table bdi')).unicodeBidi"
    assert page.js(isolation) == "isolate"
    assert sorted(page.js(LEGEND)) == sorted(hostile_names[3:5])


def test_a_held_out_row_is_explained(page, trial):
    page.open(trial)
    shown = page.one("#explained figcaption").text
    page.click("#explained-row option:last-child")
    assert page.one("#explained figcaption").text != shown
    assert page.texts("#prediction-pictures figure figcaption")[1].startswith("ROC of ")
    methods = page.texts("#method-table tbody th")
    assert methods[1:] == ["logistic regression", "random forest", "the largest class"]


def test_several_classes_have_a_curve_and_a_surface_each(page, four_classes):
    page.open(four_classes)
    page.click("#pair-table tbody tr:nth-child(1)")
    assert len(page.all("#prediction-pictures figure:nth-child(2) .curve")) == 4
    options = page.texts("#surface-class option")
    assert options == list("KLMN")
    first = page.js(SURFACE)
    page.click("#surface-class option:not(:checked)")
    changed = page.js(SURFACE)
    assert changed != first
