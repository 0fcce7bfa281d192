"""What a narrow terminal shows, and that nothing else sees of it."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout

import pytest

from immigrate.cli.terminal import show, show_table

SENTENCE = (
    "  relapse is more likely where treatment is drug and variant is other: /a/place/of/a/file"
)
HEADER = ["method", "accuracy", "balanced accuracy", "log-loss"]
ROWS = [["BoostedImmigrateClassifier", "76.5 %", "76.4 %", "0.536"]] * 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(params=[40, 60, 80])
def width(monkeypatch, request):
    monkeypatch.setenv("COLUMNS", str(request.param))
    return request.param


def test_lines_end_between_words(width):
    with redirect_stdout(Terminal()) as terminal:
        show(SENTENCE)
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()) == SENTENCE.strip()
    assert all(line.startswith("  ") for line in lines)


def test_a_table_keeps_its_words_whole(width):
    with redirect_stdout(Terminal()) as terminal:
        show_table(HEADER, ROWS)
    plain = re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue())
    assert max(map(len, plain.splitlines())) <= width
    words = plain.split()
    assert words.count("BoostedImmigrateClassifier") == 2
    assert words.count("76.5") == 2
    assert "accuracy" in words


def test_a_file_has_the_lines_as_they_are(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    show(SENTENCE)
    show_table(HEADER, ROWS)
    first, head, *_ = capsys.readouterr().out.splitlines()
    assert first == SENTENCE
    assert head.split() == ["method", "accuracy", "balanced", "accuracy", "log-loss"]
