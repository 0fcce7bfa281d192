"""The first fit of a fresh process on an empty cache, in two versions of the library.

    git worktree add ../before COMMIT
    python benchmarks/first_call.py --before ../before/src

Nearly all of that time is compilation, which one thread does: its processor time is hardly
disturbed by what else the machine does. The two versions take turns.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1] / "src"

FIRST_FIT = """
import resource, time
import numpy as np

def seconds():
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()

rng = np.random.default_rng(0)
X, y = rng.standard_normal((200, 6)), rng.integers(0, 2, 200)
start = seconds()
from immigrate import ImmigrateClassifier
imported = seconds()
ImmigrateClassifier().fit(X, y)
fitted = seconds()
print(*(b - a for a, b in zip(start, imported)), *(b - a for a, b in zip(imported, fitted)))
"""


def first_fit(source: Path) -> list[float]:
    """Seconds of the import, processor and wall, and of the fit, with nothing compiled yet."""
    with tempfile.TemporaryDirectory() as cache:
        names = {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"}
        run = subprocess.run(
            [sys.executable, "-c", FIRST_FIT],
            env={**os.environ, **names},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
    return [float(number) for number in run.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="src folder of the other one")
    parser.add_argument("--turns", type=int, default=4)
    options = parser.parse_args()
    print("         import cpu   wall     fit cpu   wall")
    ratios = []
    for _ in range(options.turns):
        turns = [first_fit(source) for source in (options.before, HERE)]
        for name, numbers in zip(("before", "now"), turns):
            print(f"{name:8s} {numbers[0]:10.2f} {numbers[1]:6.2f} {numbers[2]:11.2f}", end="")
            print(f" {numbers[3]:6.2f}", flush=True)
        ratios.append(turns[1][2] / turns[0][2])
    print(f"fit, processor time, now / before: median {statistics.median(ratios):.2f}")
    print("of", " ".join(f"{ratio:.3f}" for ratio in sorted(ratios)))


if __name__ == "__main__":
    main()
