"""Every block of code in README.md and in docs/ prints what the page shows.

The blocks of a page are one session, from top to bottom, in an empty folder. A block of Python is
a doctest. In a block of the console each line that begins with `$` is a command.
"""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from small_forests import _small_forests  # noqa: F401

ROOT = Path(__file__).parents[1]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# Setting up an environment and running the repository's own jobs is not for a test.
NOT_RUN = ("pip ", "make ", "git ", "cd ", "python -m venv ", ". ", ".venv/", "Rscript ")


class Block(NamedTuple):
    """A fenced block of a page."""

    line: int
    language: str
    content: str


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in its order."""
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(r"^```([a-z]+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [Block(text[: one.start()].count("\n") + 1, one[1], one[2]) for one in fences]


def pages() -> list[Path]:
    """All pages with code."""
    candidates = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]
    return [
        page
        for page in candidates
        if not {"gallery", "reference"} & set(page.relative_to(ROOT).parts)
        and any(block.language in ("python", "console") for block in blocks_of(page))
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_the_code_of_a_page_prints_what_it_shows(page, tmp_path, monkeypatch, capfd):
    if "immigrate.cluster" in page.read_text():
        pytest.importorskip("distributed")
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    faults = []
    for block in blocks_of(page):
        if block.language == "python":
            faults += faults_of_python(block, page, names)
        if block.language == "console":
            faults += faults_of_console(block, capfd)
    assert not faults, "\n".join(faults)


def faults_of_python(block: Block, page: Path, names: dict[str, Any]) -> list[str]:
    """What a block prints that the page does not show; `names` go on to the next block."""
    example = doctest.DocTestParser().get_doctest(
        block.content, names, page.name, str(page), block.line
    )
    if not example.examples:
        return [f"line {block.line}: a block of Python without >>> is not tested"]
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(example, out=said.append, clear_globs=False)
    names.update(example.globs)
    return ["".join(said)] if said else []


def faults_of_console(block: Block, capfd: Any) -> Iterator[str]:
    """Commands that print something else than the page shows."""
    for command, shown in commands(block.content):
        if command.startswith(NOT_RUN):
            continue
        capfd.readouterr()
        ran(command)
        said = capfd.readouterr()
        printed = comparable(said.err + said.out, command)
        expected = comparable(shown, command)
        if not doctest.OutputChecker().check_output(expected, printed, doctest.ELLIPSIS):
            yield f"line {block.line}: $ {command}\nprinted\n{printed}"


def commands(content: str) -> list[tuple[str, str]]:
    """Each command and what it is said to print."""
    assert content.startswith("$ "), f"a block of the console begins with a command: {content}"
    parts = ("\n" + content).split("\n$ ")[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2].strip("\n")) for part in parts]


def ran(command: str) -> None:
    """Run a command, those of the library in this process."""
    program, *arguments = shlex.split(command, comments=True)
    if program == "python":
        subprocess.run([sys.executable, *arguments], check=True)
        return
    assert program == "immigrate", f"{program} is no command that a test runs"
    main: Callable[[list[str]], int] = pytest.importorskip("immigrate.cli").main
    main(arguments)


def comparable(text: str, command: str) -> str:
    """Without the note of a first call; scores of peers change with versions, words do not."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    lines = [line for line in lines if not line.startswith("immigrate: compiling for tables")]
    if " compare " in command:
        lines = [re.sub(r"\d", "#", line) for line in lines if not line.startswith("By ")]
    return "\n".join(lines)


def test_readme_start_and_guide_have_code():
    """So that a change of the fences does not turn the test above into one of nothing."""
    found = {name_of(page): len(blocks_of(page)) for page in pages()}
    assert found["README.md"] > 2
    assert sum(name.startswith("docs/guide/") for name in found) >= 3


def test_sources_name_pages_that_are_there():
    """Docstrings and comments say docs/measurements/scaling.md; pages move."""
    sources = [
        path
        for folder in ("src", "benchmarks", "tests", "paper", "examples", "harness")
        for path in (ROOT / folder).rglob("*.py")
    ]
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in sources
        for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert sorted(one for one in named if not (ROOT / one[1]).exists()) == []


def test_links_between_files_of_the_repository_lead_somewhere():
    """Those of the site are checked by `make docs`; these are read on the repository's pages."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    links = [
        (file.name, link)
        for file in files
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", file.read_text())
    ]
    assert len(links) > 10
    assert [one for one in links if not (ROOT / one[1]).exists()] == []


def written_pages() -> list[Path]:
    """Pages that speak of the library as it is: no changelog, and none that is made by a build."""
    site = [
        page
        for page in sorted(ROOT.glob("docs/**/*.md"))
        if not {"gallery", "reference"} & set(page.relative_to(ROOT).parts)
    ]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *site]


def test_files_that_pages_name_are_there():
    """Paths count from the root, from the package or from the page."""
    # Those that a reader is to write, and one that is gone.
    examples = {"tests/relief/test_missrelief.py", "methods/prototype.py"}
    named = [
        (page, path)
        for page in written_pages()
        for path in re.findall(
            r"(?<![\w./-])((?:[\w.-]+/)+[\w-]*\.(?:py|toml|csv))\b", page.read_text("utf-8")
        )
        if path not in examples
    ]
    assert len(named) > 100
    homes = (ROOT, ROOT / "src", ROOT / "src" / "immigrate")
    assert [
        f"{name_of(page)}: {path}"
        for page, path in named
        if not any((home / path).exists() for home in (*homes, page.parent))
    ] == []


def test_names_that_pages_and_docstrings_name_are_there():
    """Such as `immigrate.options.Columns`; modules and names move."""
    sources = [path for path in (ROOT / "src").rglob("*.py") if path.name != "compiling.py"]
    named = {
        (name_of(page), name)
        for page in [*written_pages(), *sources]
        for name in re.findall(r"`(immigrate(?:\.\w+)+)", page.read_text("utf-8"))
    }
    assert len(named) > 15
    assert sorted(one for one in named if not is_there(one[1])) == []


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or can be had from one."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            reduce(getattr, parts[k:], import_module(".".join(parts[:k])))
        except (ImportError, AttributeError):
            continue
        return True
    return False
