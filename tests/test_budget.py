"""The common roads stay short and the tree small: limits in ``budget.toml``."""

from __future__ import annotations

import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from harness.house import House
from harness.roads import ROADS, road, walk
from immigrate.core.cones import unit

BUDGET = tomllib.loads((Path(__file__).parent / "budget.toml").read_text())
# Coverage traces too, and two tracers do not see the same calls.
pytestmark = pytest.mark.skipif(sys.gettrace() is not None, reason="a tracer is at work")


def over_limit(figures, limits):
    return {key: figures[key] for key, limit in limits.items() if figures[key] > limit}


@pytest.mark.parametrize("name", ROADS)
def test_a_road_is_as_short_as_its_budget(name):
    figures = road(name).figures
    over = {
        key: figures[key] for key, limit in BUDGET["roads"][name].items() if figures[key] > limit
    }
    assert not over, f"{figures}; python -m harness.roads --tree {name}"


@pytest.mark.parametrize("name", ROADS)
def test_the_road_of_a_mixed_table_is_little_longer(name):
    """A category, a gap, three classes and weights."""
    figures = road(name, "mixed").figures
    limits = {key: BUDGET["mixed"][key] * limit for key, limit in BUDGET["roads"][name].items()}
    over = over_limit(figures, limits)
    assert not over, f"{figures}; python -m harness.roads --table mixed --tree {name}"


def test_the_house_is_as_small_as_its_budget():
    figures = House.of().figures
    over = over_limit(figures, BUDGET["house"])
    assert not over, "python -m harness.house --listed"


def test_a_walk_counts_what_runs():
    """A function of one file that runs a handful of lines."""
    found = walk(lambda: unit([[3.0, 0.0], [0.0, 4.0]]))
    assert found.files[0] == "core/cones.py"
    assert 1 <= found.figures["lines"] <= 20
    assert found.figures["functions"] == len(set(found.visits))


def test_the_house_finds_what_it_counts(tmp_path):
    body = "\n".join(f"    x{k} = {k}" for k in range(41))
    (tmp_path / "a.py").write_text(
        textwrap.dedent(
            '''
            """Docstrings and comments are no code."""
            # Nor this.
            def _once():
                return 1

            def _twice():
                return _once()

            both = _twice() + _twice()

            class Sounding(Protocol):
                def sound(self): ...

            class Bell:
                def sound(self):
                    """Rings."""
            '''
        )
        + f"\ndef long():\n{body}\n"
    )
    house = House.of(tmp_path)
    assert house.figures == {
        "files": 1,
        "code_lines": 9 + 42,
        "long_bodies": 1,
        "one_caller": 1,
        "lone_protocols": 1,
    }
