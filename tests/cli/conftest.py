from __future__ import annotations

from typing import NamedTuple

import pytest

pytest.importorskip("typer")

from cli.tables import csv_text, xor_table
from small_forests import _small_forests  # noqa: F401

from immigrate.cli import main


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Runs a command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments) -> Ended:
        capfd.readouterr()
        code = main([str(one) for one in arguments])
        return Ended(code, *capfd.readouterr())

    return ended


@pytest.fixture(scope="session")
def xor_csv(tmp_path_factory):
    """A file in which two features act together."""
    path = tmp_path_factory.mktemp("tables") / "xor.csv"
    path.write_text(csv_text(xor_table()))
    return path


@pytest.fixture(scope="session")
def model_file(xor_csv, tmp_path_factory):
    """A model that the command line stored."""
    path = tmp_path_factory.mktemp("models") / "xor.model"
    assert main(["fit", str(xor_csv), "--target", "outcome", "--out", str(path)]) == 0
    return path
