"""What one public call visits: its lines, its changes of file, and how deep its calls go.

Functions count in the order of their first visit. A change of file is a neighbouring pair of them
that stands in two files: whoever reads the call from top to bottom turns the page there. The
second call is walked, since the first one imports and compiles.

    python -m harness.roads              # the figures of every road
    python -m harness.roads --tree fit   # who calls whom, in the order of first visits
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

import immigrate
from immigrate.datasets import make_xor
from immigrate.report import Report

PACKAGE = Path(immigrate.__file__).parent


@dataclass(frozen=True)
class Walk:
    """One call.

    Attributes
    ----------
    visits : tuple of (int, str)
        Depth and "file::function" of each function, at its first visit.
    n_lines : int
        Different lines that ran.
    depth : int
        The largest depth of any visit.
    """

    visits: tuple[tuple[int, str], ...]
    n_lines: int
    depth: int

    @property
    def files(self) -> list[str]:
        """File of each visit."""
        return [name.split("::")[0] for _, name in self.visits]

    @property
    def n_changes(self) -> int:
        """How often the next function stands in another file than the one before."""
        return sum(here != there for here, there in zip(self.files, self.files[1:]))

    @property
    def figures(self) -> dict[str, int]:
        """What the budget speaks of."""
        return {
            "changes": self.n_changes,
            "lines": self.n_lines,
            "depth": self.depth,
            "functions": len(self.visits),
            "files": len(set(self.files)),
        }

    @property
    def tree(self) -> str:
        """The visits, each below its caller."""
        return "\n".join("  " * depth + name for depth, name in self.visits)


def walk(call: Callable[[], object]) -> Walk:
    """The functions of this package that a call visits in this thread.

    Comprehensions and lambdas belong to the function that they stand in.
    """
    visits: dict[str, int] = {}
    stack: list[str] = []
    lines: set[tuple[str, int]] = set()
    deepest = 0

    def within(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        elif event == "return" and not frame.f_code.co_name.startswith("<"):
            stack.pop()
        return within

    def entered(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal deepest
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return None
        if not code.co_name.startswith("<"):
            file = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            name = f"{file}::{code.co_qualname}"
            visits.setdefault(name, len(stack))
            deepest = max(deepest, len(stack))
            stack.append(name)
        return within

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        call()
    finally:
        sys.settrace(before)
    return Walk(tuple((depth, name) for name, depth in visits.items()), len(lines), deepest)


def plain_table() -> tuple[Any, Any, dict[str, Any]]:
    """Numbers, two classes."""
    return *make_xor(80, 4, random_state=0), {}


def mixed_table() -> tuple[Any, Any, dict[str, Any]]:
    """A category, a gap, three classes and weights."""
    rng, n = np.random.default_rng(0), 120
    X = pd.DataFrame(
        {
            "a": rng.standard_normal(n),
            "b": rng.standard_normal(n),
            "group": pd.Categorical(np.array(list("uvw"))[rng.integers(0, 3, n)]),
        }
    )
    X.loc[5, "a"] = np.nan
    y = np.array(["low", "mid", "high"])[np.clip((X["b"] + 1.5).astype(int), 0, 2)]
    return X, y, {"sample_weight": 1 + rng.random(n)}


TABLES = {"plain": plain_table, "mixed": mixed_table}
ROADS: dict[str, Callable[[Any, Any, dict[str, Any]], Callable[[], object]]] = {
    "fit": lambda X, y, weight: lambda: immigrate.ImmigrateClassifier().fit(X, y, **weight),
    "CV": lambda X, y, weight: lambda: immigrate.ImmigrateClassifierCV().fit(X, y, **weight),
    "predict": lambda X, y, weight: predicting(X, y, weight),
    "test": lambda X, y, weight: lambda: immigrate.InteractionTest().fit(X, y, **weight),
    "report": lambda X, y, weight: lambda: Report.of(X, y, cv=2),
}


def predicting(X: Any, y: Any, weight: dict[str, Any]) -> Callable[[], object]:
    """The prediction of a model that is fitted already."""
    model = immigrate.ImmigrateClassifier().fit(X, y, **weight)
    return lambda: model.predict(X)


@cache
def road(name: str, table: str = "plain") -> Walk:
    """What the call of this name visits on a table, the second time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = ROADS[name](*TABLES[table]())
        call()
        return walk(call)


def main() -> None:
    """Print figures or a tree."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", choices=ROADS, help="print the visits of one road")
    parser.add_argument("--table", choices=TABLES, default="plain")
    options = parser.parse_args()
    if options.tree:
        print(road(options.tree, options.table).tree)
        return
    for table in TABLES:
        for name in ROADS:
            figures = road(name, table).figures
            print(f"{table:6}{name:8}", *(f"{value:6} {key}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
