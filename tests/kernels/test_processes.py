"""Memory, compilation and imports, each seen from a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PEAK = """
import resource, numpy as np, sklearn
from immigrate.kernels import pair_kernel

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

rng = np.random.default_rng(0)
def margin(n, p, W):
    X = rng.standard_normal((n, p))
    return pair_kernel(X, rng.integers(0, 2, n), n_threads=2).margin(W, 4.0)

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
from immigrate.kernels import pair_kernel, sweeps
X = np.random.default_rng(0).standard_normal((40, 3))
pair_kernel(X, np.arange(40) % 2).margin(np.eye(3), 1.0)
for function in (sweeps.energy_sweep, sweeps.scatter_sweep):
    print(sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values()))
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


def test_a_second_process_does_not_compile(tmp_path):
    cache = str(tmp_path)
    assert output_of(HITS, NUMBA_CACHE_DIR=cache).split() == ["0", "1", "0", "1"]
    assert output_of(HITS, NUMBA_CACHE_DIR=cache).split() == ["1", "0", "1", "0"]


def test_importing_the_kernels_does_not_import_numba():
    script = "import sys, immigrate.kernels; print('numba' in sys.modules)"
    assert output_of(script).strip() == "False"
