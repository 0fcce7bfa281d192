"""What docs/explaining.md shows is what its lines print."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "explaining.md"


def test_the_examples_of_the_page_print_what_it_shows():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    # One session from block to block: the first one fits the model.
    example = doctest.DocTestParser().get_doctest(
        "\n".join(blocks), globs={}, name=PAGE.name, filename=str(PAGE), lineno=0
    )
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    found = runner.run(example, out=said.append)
    assert found.attempted > 10
    assert found.failed == 0, "".join(said)
