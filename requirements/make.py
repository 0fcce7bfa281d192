"""Write the files of this folder: `oldest.txt` from pyproject.toml, `test.txt` from the index.

- ``python requirements/make.py oldest``: the lower bounds, as versions to install;
- ``python requirements/make.py test``: everything that the tests need, as of today.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
EXTRAS = ("plot", "report", "cli", "distributed", "test")
# What the oldest versions need beside them, and do not ask for: packages of their own time.
OF_THEIR_TIME = {"pyparsing": "3.1.0"}  # matplotlib 3.9 uses names that later ones deprecate
NAME, BOUND = re.compile(r"[\w.-]+"), re.compile(r">=([\w.]+)")


def declared() -> list[str]:
    """The requirements of the library and of its tests, as pyproject.toml has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    return [line for line in lines if not line.startswith("immigrate")]


def lower_bounds() -> dict[str, str]:
    """The oldest version of each package that pyproject.toml says will do."""
    found = {}
    for line in declared():
        name, bound = NAME.match(line), BOUND.search(line)
        if name is None or bound is None:
            raise ValueError(f"{line!r} in pyproject.toml has no lower bound such as '>=1.0'.")
        found[name.group()] = bound.group(1)
    return found


def oldest() -> str:
    """Content of `oldest.txt`."""
    return _content("oldest", lower_bounds() | OF_THEIR_TIME)


def resolved() -> dict[str, str]:
    """What pip would install for the tests into an empty environment today."""
    command = ["install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"]
    printed = subprocess.run(
        [sys.executable, "-m", "pip", *command, *declared()],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout
    chosen = (package["metadata"] for package in json.loads(printed)["install"])
    return {package["name"].lower(): package["version"] for package in chosen}


def _content(name: str, versions: dict[str, str]) -> str:
    lines = [f"{package}=={versions[package]}" for package in sorted(versions)]
    return "\n".join([f"# Made by: python requirements/make.py {name}", *lines, ""])


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        text = oldest() if chosen == "oldest" else _content(chosen, resolved())
        (FOLDER / f"{chosen}.txt").write_text(text)
