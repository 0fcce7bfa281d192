"""Pages that follow the data of one call in a dozen stops, made from the code.

    python -m harness.stops   # writes docs/contributing/road-fit.md and its siblings

A stop is a function; what the page says of it is the first sentence of its docstring and what it
hands on. A test fails if the call does not visit the stops in this order, or if a page is not what
the code says now.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.house import Function
from harness.roads import PACKAGE, road

PAGES = Path(__file__).parents[1] / "docs" / "contributing"
MOST_STOPS = 12


@dataclass(frozen=True)
class Page:
    """One road: its title, the call, what is worth knowing before, and its stops."""

    title: str
    call: str
    before: str
    stops: tuple[str, ...]


ROAD_PAGES = {
    "fit": Page(
        "The road of a fit",
        "ImmigrateClassifier().fit(X, y)",
        "Each stop returns a value that the next one takes. Nothing is written on the estimator "
        "before everything has succeeded, so that an error or Ctrl-C leaves the model of the last "
        "fit as it was.",
        (),
    ),
}


def text_of(name: str, page: Page) -> str:
    """The page of one road, in Markdown."""
    figures = road(name).figures
    lines = [
        f"# {page.title}",
        "",
        "% Written by `python -m harness.stops`, from the code.",
        "",
        f"`{page.call}` with numbers and two classes, the second call: {figures['functions']} "
        f"functions in {figures['files']} files, {figures['lines']:,} lines. {page.before}",
        "",
        "| stop | where | what it does | what it hands on |",
        "|---|---|---|---|",
    ]
    for number, stop in enumerate(page.stops, 1):
        summary, returned = said_of(stop)
        file, function = stop.split("::")
        lines.append(f"| {number} | `{file}`<br>`{function}` | {summary} | {returned} |")
    lines += ["", f"Each call by its depth: `python -m harness.roads --tree {name}`.", ""]
    return "\n".join(lines)


def said_of(stop: str) -> tuple[str, str]:
    """First sentence of a function's docstring, and the type that it returns."""
    file, name = stop.split("::")
    node: ast.AST = ast.parse((PACKAGE / file).read_text())
    for part in name.split("."):
        node = next(one for one in named_nodes(node) if one.name == part)
    assert isinstance(node, Function)
    docstring = ast.get_docstring(node) or ""
    summary = " ".join(docstring.split("\n\n")[0].split())
    returned = ast.unparse(node.returns) if node.returns is not None else ""
    escaped = returned.replace("|", "\\|")
    return summary, f"`{escaped}`" if returned not in ("", "None") else ""


def named_nodes(node: ast.AST) -> Iterator[ast.ClassDef | Function]:
    """Functions and classes directly below."""
    return (one for one in ast.iter_child_nodes(node) if isinstance(one, ast.ClassDef | Function))


def main() -> None:
    """Write the pages."""
    for name, page in ROAD_PAGES.items():
        (PAGES / f"road-{name}.md").write_text(text_of(name, page))


if __name__ == "__main__":
    main()
