"""What docstrings write plainly and reStructuredText would misread: `n_iter_`, `|W|`.

A name that ends in an underscore is a link there, and bars enclose a substitution. Both are
common in the prose of this library, so they are taken literally outside of code.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(`+[^`]*`+_?)")
TRAILING_UNDERSCORE = re.compile(r"(?<=\w)_(?![\w*])")
BAR = re.compile(r"(?<!\\)\|")


def literal(line: str) -> str:
    r"""A line with its underscores and bars escaped, but for what is code in it.

    Examples
    --------
    >>> print(literal("|W| of shape (n_features_in_,), see `n_iter_`"))
    \|W\| of shape (n_features_in\_,), see `n_iter_`
    """
    parts = CODE.split(line)
    # Every second part is code.
    parts[::2] = [TRAILING_UNDERSCORE.sub(r"\\_", BAR.sub(r"\\|", part)) for part in parts[::2]]
    return "".join(parts)


def escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape prose; examples and blocks of code stay as they are."""
    code_indent: int | None = None  # of the text above the block of code that we are in
    is_doctest = False
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        is_doctest = line.lstrip().startswith(">>>") or (is_doctest and bool(line.strip()))
        if code_indent is not None and line.strip() and indent <= code_indent:
            code_indent = None
        if is_doctest or code_indent is not None or is_table_border(line):
            continue
        if line.rstrip().endswith("::") and not line.lstrip().startswith(".. "):
            code_indent = indent
        lines[i] = literal(line)


def is_table_border(line: str) -> bool:
    """Whether a line rules a table."""
    return bool(line.strip()) and set(line.strip()) <= set("=-+ ")


def setup(app: Sphinx) -> dict[str, bool]:
    """Escape after numpydoc has made reStructuredText of a docstring."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
