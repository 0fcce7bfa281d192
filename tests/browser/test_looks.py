"""Colours, widths, paper, and what readers of the screen hear."""

from __future__ import annotations

from pathlib import Path

import pytest


def brightness(page, selector):
    colour = page.js(
        "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor", selector
    )
    red, green, blue = (int(part) for part in colour[4:-1].split(","))
    return (red + green + blue) / 3


def test_it_follows_the_colours_of_the_system_and_the_switch(page, trial):
    page.open(trial)
    assert brightness(page, "body") > 200
    page.click("#theme")
    assert brightness(page, "body") < 60
    page.open(trial, dark=True)
    assert brightness(page, "body") < 60
    assert brightness(page, "#pairs") < 60
    page.click("#theme")
    assert brightness(page, "body") > 200


def test_paper_is_white_and_has_no_buttons(page, trial):
    page.open(trial, dark=True, media="print")
    assert brightness(page, "body") == 255
    assert not any(node.is_displayed() for node in page.all("nav, .tools, .pages, #theme"))
    assert page.one("#pair-table tbody tr").is_displayed()
    assert page.one("#pair-table tbody .open").is_displayed()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["trial", "hostile", "many_pairs", "four_classes"])
def test_nothing_is_wider_than_the_screen(page, request, name, width):
    page.open(request.getfixturevalue(name), width=width)
    for view in ("map", "network", "table"):
        page.click(f"#tab-{view}")
        assert page.js("return document.documentElement.scrollWidth") <= width


def test_on_a_narrow_screen_the_picture_comes_into_view(page, trial):
    page.open(trial, width=390)
    page.js("document.documentElement.style.scrollBehavior = 'auto'")
    page.click("#pair-table tbody tr:nth-child(2) button")
    top = page.js("return document.getElementById('pair-picture').getBoundingClientRect().top")
    assert top < 900


def test_tabs_turn_by_arrows(page, trial):
    page.open(trial)
    page.one("#tab-table").send_keys("\ue014")
    assert page.one("#tab-map").get_attribute("aria-selected") == "true"
    assert page.one("#pair-map").is_displayed()
    assert not page.one("#pair-table").is_displayed()


def test_copied_is_said(page, trial):
    page.open(trial)
    page.click("[data-copy='methods-text']")
    from selenium.webdriver.support.ui import WebDriverWait

    # The browser writes to the clipboard in its own time.
    WebDriverWait(page.driver, 20).until(
        lambda _: "Copied" in page.texts("[data-copy='methods-text']")
    )


# Every page in both widths and in both colours, and both widths in both colours.
@pytest.mark.parametrize(
    ("name", "width", "dark"),
    [
        ("trial", 1280, False),
        ("trial", 390, True),
        ("noise", 1280, True),
        ("noise", 390, False),
        ("four_classes", 1280, False),
        ("four_classes", 390, True),
        ("hostile", 1280, True),
        ("hostile", 390, False),
    ],
)
def test_nothing_serious_stands_in_the_way_of_anybody(page, request, name, width, dark):
    import axe_core_python

    page.open(request.getfixturevalue(name), width=width, dark=dark)
    page.js(Path(axe_core_python.__file__).with_name("axe.min.js").read_text("utf-8"))
    for view in ("table", "map", "network"):
        page.click(f"#tab-{view}")
        found = page.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then(done)"
        )["violations"]
        bad = [
            (one["id"], one["help"], one["nodes"][0]["html"][:300])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert bad == []
