"""Which tests reach which functions, and in how many seconds.

Every test runs once under a tracer that hears of calls only. What was heard is kept under
``build/`` with the digest of each file of tests, so that only files that changed are heard again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "immigrate"
KEPT = ROOT / "build" / "mutants" / "reach.json"
# Tests elsewhere reach the same functions by the same ways, or in processes that import the
# sources as they lie.
FOLDERS = (
    "table",
    "kinds",
    "outcomes",
    "core",
    "solvers",
    "kernels",
    "relief",
    "additive",
    "interactions",
    "margin",
    "estimators",
    "plotting",
    "datasets",
    "report",
    "cluster",
    "cli",
)
# Of modules that are no packages.
ROOT_TESTS = ("same_answers", "durations", "files", "persistence", "progress", "demo")
# Numbers at import, which no function is needed to test.
TUNED = "tests/test_tuned_numbers.py"
# Files of tests by their usual name only: pytest would import interaction_test.py of the sources
# itself, where no mutant is planted.
QUIET = ["-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "-o", "python_files=test_*.py"]


@dataclass(frozen=True)
class Heard:
    """A test: its file, how long it took, and the functions that it reached, as file:function."""

    file: str
    name: str
    seconds: float
    reached: frozenset[str]


class Recorder:
    """A plugin of pytest that notes which functions of some files each test calls."""

    def __init__(self, files: Iterable[str]) -> None:
        self.names = {str(PACKAGE / file): file for file in files}
        self.reached: set[str] = set()
        self.tests: dict[str, dict[str, Any]] = {}
        self.failed: set[str] = set()

    def heard(self, frame: FrameType, event: str, argument: object) -> None:
        """Called by Python for each call; lines inside are not of interest."""
        file = self.names.get(frame.f_code.co_filename)
        if file is not None:
            outermost = frame.f_code.co_qualname.split(".<locals>")[0]
            self.reached.add(f"{file}:{outermost}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Listen while a test and its fixtures run."""
        self.reached = set()
        start = time.perf_counter()
        sys.settrace(self.heard)
        threading.settrace(self.heard)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
            seconds = time.perf_counter() - start
            if self.reached or item.nodeid.startswith(TUNED):
                self.tests[item.nodeid] = {"seconds": seconds, "reached": sorted(self.reached)}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails, or is skipped, can catch nothing."""
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


def test_files(mutated: Iterable[str]) -> list[str]:
    """The files of tests that are listened to, and those with examples, from the root."""
    found = [path for folder in FOLDERS for path in (ROOT / "tests" / folder).rglob("test_*.py")]
    found += [ROOT / "tests" / f"test_{name}.py" for name in ROOT_TESTS] + [ROOT / TUNED]
    found += [PACKAGE / file for file in mutated if ">>>" in (PACKAGE / file).read_text()]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def reach(files: Iterable[str]) -> list[Heard]:
    """What each test reaches in these files of the package, heard now or kept from before."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    sources = sorted(files)
    for file in test_files(sources):
        digest = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()
        if kept.get(file, {}).get("digest") == digest and kept[file]["sources"] == sources:
            continue
        print(f"listening to {file}", flush=True)
        kept[file] = {"digest": digest, "sources": sources, "tests": _in_child(file, sources)}
        _keep(kept)
    return [
        Heard(file, name, test["seconds"], frozenset(test["reached"]))
        for file in test_files(sources)
        for name, test in kept[file]["tests"].items()
    ]


def _keep(kept: dict[str, Any]) -> None:
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    temporary = KEPT.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps(kept))
    os.replace(temporary, KEPT)


def _in_child(file: str, sources: list[str]) -> dict[str, Any]:
    """Run a file of tests in a child, because this process must not import the library."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        silence()
        recorder = Recorder(sources)
        try:
            pytest.main([file, *QUIET], plugins=[recorder])
            passed = {k: v for k, v in recorder.tests.items() if k not in recorder.failed}
            with os.fdopen(writing, "w") as pipe:
                json.dump(passed, pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if not said:
        raise RuntimeError(f"pytest could not run {file}; run it by itself to see why.")
    heard: dict[str, Any] = json.loads(said)
    return heard


def users_of(line: str, files: dict[str, bytes]) -> set[str]:
    """The functions, as file:function, that mention a constant which this line defines."""
    defined = re.match(r"([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*)(?:: [^=]+)? = ", line)
    if not defined:
        return set()
    pattern = re.compile(rf"\b({'|'.join(defined[1].split(', '))})\b")
    return {
        f"{file}:{name}"
        for file, source in files.items()
        for name, text in functions_of(source.decode())
        if pattern.search(text)
    }


def functions_of(source: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the functions and methods of a file."""
    for node in ast.parse(source).body:
        for part in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(part, ast.FunctionDef):
                prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                yield prefix + part.name, ast.get_source_segment(source, part) or ""


def silence() -> None:
    """No output from this process on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
