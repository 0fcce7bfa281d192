"""What docs/command-line.md shows is what its commands print."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"


def commands(page: str) -> list[tuple[str, str]]:
    """Each command of the page and what it is said to print."""
    blocks = re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL)
    parts = (part for block in blocks for part in ("\n" + block).split("\n$ ")[1:])
    return [(part.partition("\n")[0], part.partition("\n")[2].strip("\n")) for part in parts]


def comparable(text: str, command: str) -> str:
    """Scores of peers change with the versions of their libraries, the words do not."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if " compare " in command:
        lines = [re.sub(r"\d", "#", line) for line in lines if not line.startswith("By ")]
    return "\n".join(lines)


def test_the_commands_print_what_the_page_shows(run):
    shown = commands(PAGE.read_text())
    assert len(shown) > 6
    for command, expected in shown:
        program, *arguments = shlex.split(command)
        if program == "python":
            subprocess.run([sys.executable, *arguments], check=True)
            continue
        ended = run(*arguments)
        said = comparable(ended.err + ended.out, command)
        is_same = doctest.OutputChecker().check_output(
            comparable(expected, command), said, doctest.ELLIPSIS
        )
        assert is_same, f"{command}\n{said}"


def test_every_command_and_option_is_on_the_page(run):
    page = PAGE.read_text()
    listed = run("--help").out
    for command in ("report", "test", "fit", "predict", "compare", "demo", "warm-up"):
        assert command in listed
        assert f"`immigrate {command}" in page
        options = set(re.findall(r"--[a-z-]+", run(command, "--help").out))
        common = {"--help", "--title", "--folds", "--target", "--out"}
        assert [one for one in sorted(options - common) if one not in page] == []
