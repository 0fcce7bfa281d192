"""Sizes of the tree by its syntax: files, lines of code, long bodies, helpers with one caller.

python -m harness.house            # the figures
python -m harness.house --listed   # and the long bodies, one-caller helpers and lone protocols
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import immigrate

PACKAGE = Path(immigrate.__file__).parent
LONGEST_BODY = 40
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class House:
    """A package, read as text.

    Attributes
    ----------
    trees : dict
        Syntax of each file, by its path in the package.
    n_code_lines : int
        Lines that hold code, docstrings and comments left out.
    """

    trees: dict[str, ast.Module]
    n_code_lines: int

    @classmethod
    def of(cls, package: Path = PACKAGE) -> House:
        """All Python files below a folder."""
        files = {file.relative_to(package).as_posix(): file for file in package.rglob("*.py")}
        texts = {name: files[name].read_text() for name in sorted(files)}
        trees = {name: ast.parse(text) for name, text in texts.items()}
        lines = sum(len(code_lines(texts[name], trees[name])) for name in texts)
        return cls(trees, lines)

    @property
    def long_bodies(self) -> list[str]:
        """Functions whose body is longer than `LONGEST_BODY` lines."""
        return [
            f"{file}::{one.name} ({body_length(one)})"
            for file, one in self.functions()
            if body_length(one) > LONGEST_BODY
        ]

    @property
    def one_caller(self) -> list[str]:
        """Private functions that are mentioned once in the package, by their one caller."""
        mentions = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        return [
            f"{file}::{one.name}"
            for file, one in self.functions()
            if one.name.startswith("_") and not one.name.startswith("__")
            if mentions[one.name] == 1 and not is_property(one)
        ]

    @property
    def lone_protocols(self) -> list[str]:
        """Protocols that fewer than two classes fulfil, by the names of their methods."""
        classes = [
            (file, node)
            for file, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        ]
        found = []
        for file, protocol in classes:
            if not is_protocol(protocol):
                continue
            named = {
                base for _, one in classes for base in base_names(one) if base == protocol.name
            }
            wanted = member_names(protocol)
            n_implementers = sum(
                wanted <= member_names(one) for _, one in classes if not is_protocol(one)
            )
            if n_implementers < 2 and not named:
                found.append(f"{file}::{protocol.name}")
        return found

    @property
    def figures(self) -> dict[str, int]:
        """What the budget speaks of."""
        return {
            "files": len(self.trees),
            "code_lines": self.n_code_lines,
            "long_bodies": len(self.long_bodies),
            "one_caller": len(self.one_caller),
            "lone_protocols": len(self.lone_protocols),
        }

    def functions(self) -> Iterator[tuple[str, Function]]:
        """Each function with its file."""
        for file, tree in self.trees.items():
            for node in ast.walk(tree):
                if isinstance(node, Function):
                    yield file, node


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """Numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node):
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def body_length(function: Function) -> int:
    """Lines from the first statement behind the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def is_property(function: Function) -> bool:
    """Whether a decorator makes it read like an attribute."""
    return any("property" in ast.unparse(one) for one in function.decorator_list)


def base_names(one: ast.ClassDef) -> set[str]:
    """The classes it derives from, without their parameters."""
    return {ast.unparse(base).split("[")[0].split(".")[-1] for base in one.bases}


def is_protocol(one: ast.ClassDef) -> bool:
    """Whether it says what others must offer."""
    return "Protocol" in base_names(one)


def member_names(one: ast.ClassDef) -> set[str]:
    """Methods and annotated attributes of a class body."""
    methods = {node.name for node in one.body if isinstance(node, Function)}
    fields = {
        node.target.id
        for node in one.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    return methods | fields


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--listed", action="store_true", help="print the places as well")
    house = House.of()
    print(*(f"{value} {key}" for key, value in house.figures.items()), sep="\n")
    if parser.parse_args().listed:
        print(*house.long_bodies, *house.one_caller, *house.lone_protocols, sep="\n")


if __name__ == "__main__":
    main()
