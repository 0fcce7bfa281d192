"""The demo leads with a find, and says so where there is none."""

from __future__ import annotations

import pytest
from small_forests import _small_forests  # noqa: F401

from immigrate import demo


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    lines = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "FOLDER", folder)
        patch.setattr(demo, "print_line", lines.append)
        demo.main()
    return "\n".join(lines), folder


def test_the_pair_is_found_that_weights_would_miss(said):
    text = said[0]
    first = text[: text.index("MONK-1")]
    assert "Which pairs act together? treatment × variant\n" in first
    assert "Which features matter? age, severity\n" in first
    alone = first[first.index("What weights alone would say:") :]
    assert "severity × age first, treatment × variant in place" in alone


def test_the_robots_are_told_apart(said):
    text = said[0]
    second = text[text.index("MONK-1") : text.index("Shuffled")]
    assert "Which features matter? jacket_color\n" in second
    assert "Which pairs act together? head_shape × body_shape\n" in second
    assert "alone would say: head_shape × body_shape first, as the evidence does.\n" in second


def test_nothing_is_found_where_nothing_is(said):
    text = said[0]
    last = text[text.index("Shuffled") :]
    assert "Which features matter? None detected\n" in last
    assert "Which pairs act together? None detected\n" in last
    assert "How well does it predict? Not shown to be better than guessing\n" in last


def test_it_ends_with_the_pages_to_open(said):
    text, folder = said
    end = text[text.index("Open these pages") :].splitlines()[1:]
    places = [folder / f"{name}.html" for name in ("trial", "monk-1", "shuffled")]
    assert [line.strip() for line in end] == [str(place.resolve()) for place in places]
    assert all(place.read_text("utf-8").startswith("<!DOCTYPE html>") for place in places)


def test_it_draws_without_matplotlib(said):
    assert {path.suffix for path in said[1].iterdir()} == {".html"}
