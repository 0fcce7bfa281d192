"""Every example of the gallery runs, draws, and has the form that the gallery needs."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))
# It starts a cluster, as the tests of the group do.
GROUPS = {"plot_11_dask_cluster": [pytest.mark.xdist_group("cluster")]}
CASES = [pytest.param(file, id=file.stem, marks=GROUPS.get(file.stem, [])) for file in GALLERY]


@pytest.fixture
def closed_figures():
    mpl.use("Agg")
    plt.close("all")
    yield
    plt.close("all")


def test_the_gallery_has_its_dozen():
    assert len(GALLERY) >= 12


# `make docs` runs each of them too, and an error or a warning there ends it.
@pytest.mark.slow
@pytest.mark.parametrize("file", CASES)
def test_an_example_runs_and_draws(file, closed_figures, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(file))
    assert plt.get_fignums()
    # Nothing is written: a reader's folder stays as it was.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("file", CASES)
def test_an_example_has_a_title_and_cells_that_begin_with_prose(file):
    text = file.read_text(encoding="utf-8")
    title, line = (ast.get_docstring(ast.parse(text)) or "").splitlines()[:2]
    assert line == "=" * len(title)
    cells = text.split("\n# %%\n")[1:]
    assert cells
    assert all(cell.startswith("# ") for cell in cells)


@pytest.mark.slow
def test_every_kind_of_picture_of_a_pair_is_drawn(closed_figures, tmp_path):
    draw = runpy.run_path(str(EXAMPLES / "pair_effects.py"))["draw"]
    draw(tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 27
