"""A few of the errors that `make mutants` plants by the hundred, and how the harness works."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.mutations import mutants_of

ROOT = Path(__file__).parents[1]
if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

SOURCE = b'''
LIMIT = 3
TOLERANCE: float = 1e-9


def first(x, axis=0):
    """Not 1 and not 2."""
    x = sorted(x)
    if len(x) > LIMIT and not x[0]:
        raise ValueError("3 < 4")
    return min(x[1:]) - 0.5 * x.sum(axis=0)
'''
# In a process of its own, because the harness must not have imported the library before.
PLANT = """
import json, sys
from harness.mutants import by_hand, fate_of, mutated_files
from harness.reach import Heard

tests = [Heard(name.split("::")[0], name, 1.0, frozenset()) for name in sys.argv[1:]]
files = mutated_files()
fates = [fate_of(0, one, files[one.file], [tests]) for one in by_hand(files)]
print(json.dumps([(fate.outcome, fate.by) for fate in fates]))
"""
CAUGHT_BY = [
    "tests/core/test_cones.py::test_what_lies_in_a_cone_stays_as_it_is[psd-0.0001]",
    "tests/core/test_splitting.py::test_the_positive_part_keeps_small_eigenvalues",
    "tests/estimators/test_immigrate_cv.py::"
    "test_the_automatic_width_is_an_eighth_of_the_median_distance",
]


def changes():
    return [mutant.planted(SOURCE).decode() for mutant in mutants_of("made.py", SOURCE)]


@pytest.mark.parametrize(
    "line",
    [
        "LIMIT = 4",
        "TOLERANCE: float = 1e-05",
        "def first(x, axis=1):",
        "    x = x",
        "    if len(x) >= LIMIT and not x[0]:",
        "    if len(x) <= LIMIT and not x[0]:",
        "    if len(x) > LIMIT or not x[0]:",
        "    if len(x) > LIMIT and  x[0]:",
        "    if len(x) > LIMIT and not x[1]:",
        "    return max(x[1:]) - 0.5 * x.sum(axis=0)",
        "    return min(x[(1) + 1:]) - 0.5 * x.sum(axis=0)",
        "    return min(x[1:]) + 0.5 * x.sum(axis=0)",
        "    return min(x[1:]) - 1.0 * x.sum(axis=0)",
        "    return min(x[1:]) - 0.5 / x.sum(axis=0)",
        "    return min(x[1:]) - 0.5 * x.mean(axis=0)",
        "    return min(x[1:]) - 0.5 * x.sum(axis=1)",
    ],
)
def test_every_kind_of_change_is_made(line):
    assert sum(line in text.splitlines() for text in changes()) == 1


def test_a_mutant_changes_one_place_and_is_still_python():
    before = SOURCE.decode().splitlines()
    for text in changes():
        ast.parse(text)
        after = text.splitlines()
        assert len(after) == len(before)
        assert sum(one != other for one, other in zip(before, after)) == 1
        assert '"""Not 1 and not 2."""' in text
        assert '"3 < 4"' in text


def test_errors_planted_by_hand_are_caught_and_the_sources_stay_as_they_are():
    """A width that is not the documented one, projections that drop small eigenvalues."""
    before = {path: path.read_bytes() for path in (ROOT / "src").rglob("*.py")}
    done = subprocess.run(
        [sys.executable, "-c", PLANT, *CAUGHT_BY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    fates = json.loads(done.stdout)
    assert len(fates) == 4
    assert {outcome for outcome, _ in fates} == {"caught"}
    assert {by for _, by in fates} <= set(CAUGHT_BY)
    assert {path: path.read_bytes() for path in before} == before
