"""What README.md shows is what its lines print."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_the_examples_print_what_the_page_shows():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    shown = "\n".join(block for block in blocks if ">>>" in block)
    example = doctest.DocTestParser().get_doctest(
        shown, globs={}, name=README.name, filename=str(README), lineno=0
    )
    said: list[str] = []
    found = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=said.append)
    assert found.attempted > 6
    assert found.failed == 0, "".join(said)


def test_the_pages_it_names_are_there():
    pages = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text())
    assert len(pages) > 10
    assert [page for page in pages if not (README.parent / page).exists()] == []
