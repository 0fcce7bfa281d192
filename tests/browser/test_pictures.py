"""What is written in pictures can be read: it is inside, apart, and large enough."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from immigrate import ImmigrateClassifier, Report

N_CLASSES = 26
VIEWS = ("table", "map", "network")
# Texts that reach out of their picture, by more than the rounding of a glyph.
OUTSIDE = """
return [...document.querySelectorAll('main svg text')].filter(text => {
  const box = text.getBoundingClientRect(),
    all = text.ownerSVGElement.getBoundingClientRect();
  return box.width && (box.left < all.left - 2 || box.right > all.right + 2
    || box.top < all.top - 2 || box.bottom > all.bottom + 2);
}).map(text => text.textContent);
"""
# Pairs of texts of a picture that cover each other.
COVERED = """
const boxes = [...document.querySelectorAll(arguments[0])]
  .map(text => [text.textContent, text.getBoundingClientRect()]).filter(one => one[1].width);
const found = [];
boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
  if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2
    && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 6) found.push([a, b]);
}));
return found;
"""
SCALES = """
const pictures = '#pair-picture figure svg, #feature-picture svg, #explained svg';
return [...document.querySelectorAll(pictures)]
  .map(svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);
"""
MARKS = """
return [...document.querySelectorAll('#pair-picture > .legend svg > *')].map(mark =>
  mark.getAttribute('class') + mark.tagName
    + (mark.getAttribute('d') || '').replace(/[^a-z]/g, ''));
"""
SIGNS = """
const signs = [...document.querySelectorAll('#pair-picture figure:last-child rect title')]
  .map(title => title.textContent[0] + title.parentNode.getAttribute('class'));
return [...new Set(signs)];
"""
EVERYTHING = (
    "const s = document.getElementById('pairs-threshold');"
    "s.value = s.max; s.dispatchEvent(new Event('input'))"
)


@pytest.fixture(scope="module")
def letters(driver, folder):
    """As many classes as letters, which overlap."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(N_CLASSES), 12)
    X = pd.DataFrame(3 * rng.standard_normal((N_CLASSES, 4))[classes], columns=list("abcd"))
    X += rng.standard_normal(X.shape)
    y = np.array([f"letter {chr(65 + c)}" for c in classes])
    return Report.of(X, y, ImmigrateClassifier(), cv=2).save(folder / "letters.html")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["trial", "hostile", "four_classes", "letters", "many_pairs"])
def test_no_text_leaves_its_picture(page, request, name, width):
    page.open(request.getfixturevalue(name), width=width)
    page.click("#pair-table tbody tr:nth-child(1)")
    for view in VIEWS:
        page.click(f"#tab-{view}")
        if view == "network":
            page.js(EVERYTHING)
        assert page.js(OUTSIDE) == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["trial", "hostile", "four_classes", "letters"])
def test_no_text_covers_another(page, request, name, width):
    page.open(request.getfixturevalue(name), width=width)
    page.click("#tab-network")
    page.js(EVERYTHING)
    for picture in ("#pair-network svg", "#feature-picture svg", "#explained svg"):
        assert page.js(COVERED, f"{picture} text") == []
    confusion = "#predictions figure:first-of-type svg[aria-label='Confusion matrix'] text"
    assert page.js(COVERED, confusion) == []


def test_on_a_phone_texts_keep_their_size(page, trial):
    page.open(trial, width=390)
    assert min(page.js(SCALES)) > 0.9


def test_every_class_has_a_mark_of_its_own(page, letters):
    page.open(letters)
    page.click("#pair-table tbody tr:nth-child(1)")
    marks = page.js(MARKS)
    assert len(marks) == len(set(marks)) == N_CLASSES


def test_of_many_classes_one_curve_at_a_time_is_coloured(page, letters):
    page.open(letters)
    figures = "#prediction-pictures figure"
    assert len(page.all(f"{figures} .curve")) == 2
    page.click("#roc-class option:last-child")
    assert len(page.all("#prediction-pictures .curve.s1")) == 1
    assert "ROC" in page.one(figures).text


def test_both_signs_of_a_surface_have_colours_of_their_own(page, letters):
    """The eighth class is grey, as what speaks against the others."""
    page.open(letters)
    page.click("#pair-table tbody tr:nth-child(1)")
    for c in range(N_CLASSES):
        page.click(f"#surface-class option[value='{c}']")
        colours = page.js(SIGNS)
        signs = {one[0]: one[1:] for one in colours}
        assert len(set(signs.values())) == len(signs) == len(colours)


def test_short_names_stand_on_one_line_of_the_table(page, trial):
    page.open(trial)
    heights = page.js(
        "return [...document.querySelectorAll('#feature-table tbody .open')]"
        ".map(name => name.getBoundingClientRect().height)"
    )
    assert max(heights) < 30


def test_cards_and_tables_say_the_same_accuracy(page, trial):
    page.open(trial)
    card = page.texts(".answer:nth-child(3) li")[1].replace("\u00a0", " ")
    cell = page.texts("#method-table tbody tr:first-child td")[2].replace("\u00a0", " ")
    assert card.startswith(f"accuracy {cell};")
