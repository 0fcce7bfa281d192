"""A method of the family cannot be forgotten: its class is public, and has a row of the table."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from immigrate import relief
from immigrate.persistence import public_estimators
from immigrate.relief.base import MarginSelector

ROOT = Path(__file__).parents[2]
FILES = [file.name for file in pkgutil.iter_modules(relief.__path__)]


@pytest.mark.parametrize("file", FILES)
def test_the_selector_of_a_file_is_public(file):
    module = import_module(f"{relief.__name__}.{file}")
    selectors = {
        name
        for name, thing in vars(module).items()
        if inspect.isclass(thing) and issubclass(thing, MarginSelector)
    }
    forgotten = selectors - {"MarginSelector"} - set(public_estimators())
    assert not forgotten, f"import {forgotten} in {relief.__file__} and list it in __all__"


@pytest.mark.parametrize("name", [name for name in relief.__all__ if name in public_estimators()])
def test_a_method_has_a_row_in_the_table_of_methods(name):
    page = ROOT / "docs" / "method" / "four-pieces.md"
    methods = [line.split("|")[1].strip() for line in page.read_text().splitlines() if "|" in line]
    rows = [method.replace("-", "").lower() for method in methods]
    assert name.lower() in rows, f"add a row for {name} to {page}"
