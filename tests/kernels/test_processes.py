"""Memory, compilation and imports, each seen from a process of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import immigrate
from immigrate import kernels

PEAK = """
import resource, numpy as np, sklearn
from immigrate.core.forms import LINEAR, QUADRATIC
from immigrate.kernels import Pieces, pass_over

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

rng = np.random.default_rng(0)
def margin(n, p, W):
    X = rng.standard_normal((n, p))
    pieces = Pieces.of(X, rng.integers(0, 2, n), form=LINEAR if is_vector else QUADRATIC)
    return pass_over(pieces, n_threads=2).margin(W, 4.0)

n, p, working_memory, is_vector = {arguments}
W = np.full(p, 1 / p) if is_vector else np.eye(p) / p**0.5
margin(50, p, W)
before = peak()
with sklearn.config_context(working_memory=working_memory):
    assert np.isfinite(margin(n, p, W).gradient).all()
print(peak() - before)
"""

HITS = """
import numpy as np
from immigrate.core.forms import LINEAR
from immigrate.kernels import Pieces, pass_over, sweeps
X = np.random.default_rng(0).standard_normal((150, 7))
pieces = Pieces.of(X, np.arange(150) % 2, form=LINEAR)
gradient = pass_over(pieces).margin(np.full(7, 1 / 7), 0.7).gradient
for function in (sweeps.energy_sweep, sweeps.scatter_sweep):
    print(sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))
print(gradient.tobytes().hex())
"""


def output_of(script, **environment):
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def memory_growth(*arguments):
    """Peak growth in MB over a pass, compilation and imports left out."""
    return float(output_of(PEAK.replace("{arguments}", repr(arguments))))


def test_memory_stays_within_a_small_working_memory():
    assert memory_growth(6000, 4, 16, False) < 16 + 100  # n^2 / 2 numbers would be 144 MB


def test_a_long_vector_needs_no_table_of_pairs_of_features():
    assert memory_growth(100, 25_000, 1024, True) < 200


@pytest.mark.slow
def test_memory_at_20000_samples():
    assert memory_growth(20_000, 12, 1024, False) < 1024 + 200


@pytest.fixture
def read_only_install(tmp_path):
    """A copy of the package whose folder for compiled code cannot be made."""
    source = Path(immigrate.__file__).parent
    copy = tmp_path / "site" / "immigrate"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "__pycache__").write_text("a file where a folder should be")
    return {"PYTHONPATH": str(copy.parent), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": ""}


def test_a_second_process_loads_the_same_bits_even_if_the_install_is_read_only(
    read_only_install, tmp_path
):
    environment = {**read_only_install, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    *counts, compiled = output_of(HITS, **environment).split()
    assert counts == ["0", "1", "0", "1"]
    assert list((tmp_path / "cache").rglob("*.compiled"))
    *counts, loaded = output_of(HITS, **environment).split()
    assert counts == ["1", "0", "1", "0"]
    assert loaded == compiled


@pytest.mark.slow
def test_the_passes_run_where_nothing_can_be_written(read_only_install, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    environment = {**read_only_install, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    script = HITS + "from immigrate.kernels import cache_folder; print(repr(cache_folder()))"
    assert output_of(script, **environment).split()[-1] == "''"


def test_warm_up_says_what_took_so_long(capsys, monkeypatch):
    monkeypatch.setattr(kernels, "LONG_WARM_UP", 0.0)
    assert kernels.warm_up(verbose=False) > 0
    assert capsys.readouterr().out == ""
    kernels.warm_up(verbose=True)
    assert kernels.cache_folder() in capsys.readouterr().out


def test_importing_the_kernels_does_not_import_numba():
    script = "import sys, immigrate.kernels; print('numba' in sys.modules)"
    assert output_of(script).strip() == "False"
