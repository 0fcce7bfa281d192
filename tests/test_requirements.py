"""The files in `requirements/` are those that their command makes, and name no server."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from sklearn.utils.fixes import parse_version

FOLDER = Path(__file__).parents[1] / "requirements"


@pytest.fixture(scope="module")
def make():
    spec = importlib.util.spec_from_file_location("make", FOLDER / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pinned(name):
    lines = (FOLDER / f"{name}.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_the_oldest_versions_are_the_lower_bounds(make):
    assert (FOLDER / "oldest.txt").read_text() == make.oldest()


def test_the_locked_versions_are_within_the_bounds(make):
    locked = pinned("test")
    for package, bound in make.lower_bounds().items():
        assert parse_version(locked[package]) >= parse_version(bound), package


@pytest.mark.parametrize("name", ["oldest", "test"])
def test_a_file_names_its_command_and_no_server(name):
    text = (FOLDER / f"{name}.txt").read_text()
    assert text.startswith(f"# Made by: python requirements/make.py {name}\n")
    assert "://" not in text
    assert "--" not in text
