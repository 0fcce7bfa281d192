"""docs/guide/command-line.md names every command and option; tests/test_pages.py runs it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "command-line.md"


def test_every_command_and_option_is_on_the_page(run):
    page = PAGE.read_text()
    listed = run("--help").out
    for command in ("report", "test", "fit", "predict", "compare", "demo"):
        assert command in listed
        assert f"`immigrate {command}" in page
        options = set(re.findall(r"--[a-z-]+", run(command, "--help").out))
        common = {"--help", "--title", "--folds", "--target", "--out"}
        assert [one for one in sorted(options - common) if one not in page] == []
