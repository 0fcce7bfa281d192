"""The first fit of a fresh process on an empty cache, in two versions of the library.

    git worktree add ../before COMMIT
    python benchmarks/speed/first_call.py --before ../before/src

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

HERE = Path(__file__).parents[2] / "src"

FIRST_FIT = """
import resource, time
import numpy as np
from immigrate import ImmigrateClassifier

rng = np.random.default_rng(0)
X, y = rng.standard_normal((200, 6)), rng.integers(0, 2, 200)
used, start = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
ImmigrateClassifier().fit(X, y)
seconds, total = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime
print(total, total - used, seconds)
"""


def first_fit(source: Path) -> list[float]:
    """Processor time of the process and of its fit, and the wall time of the fit."""
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
    print("seconds  process      fit   fit, wall")
    ratios = []
    for _ in range(options.turns):
        old, new = (first_fit(source) for source in (options.before, HERE))
        for name, (process, fit, wall) in (("before", old), ("now", new)):
            print(f"{name:7s} {process:8.2f} {fit:8.2f} {wall:11.2f}", flush=True)
        ratios.append([b / a for a, b in zip(old, new)])
    medians = (statistics.median(column) for column in zip(*ratios))
    print("ratio   {:8.2f} {:8.2f} {:11.2f}   (medians)".format(*medians))


if __name__ == "__main__":
    main()
