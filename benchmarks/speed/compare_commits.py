"""The pass of two versions of the library, measured side by side.

    git worktree add ../before COMMIT
    python benchmarks/speed/compare_commits.py --before ../before/src

Two processes, one per version, take turns, so that whatever else the machine does falls on both.
Prints for every shape the ratio of their best times: above 1 the version here is slower.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[2] / "src"
SHAPES = [(200, 5), (200, 22), (1000, 8), (1000, 30), (1000, 100), (3000, 20), (500, 300)]
SIGMAS = [4.0, 0.25]

WORKER = """
import inspect, os, sys, time, numpy as np

clock = time.process_time if os.environ["CLOCK"] == "cpu" else time.perf_counter

def passes(n, p, n_threads, form):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, p)), rng.integers(0, 2, n)
    try:
        from immigrate.kernels import Pieces, pass_over
    except ImportError:
        from immigrate.kernels import pass_over
        from immigrate.kernels.pieces import Pieces
    from immigrate.core.forms import LINEAR, QUADRATIC
    form = QUADRATIC if form == "matrix" else LINEAR
    kernel = pass_over(Pieces.of(X, y, form=form), n_threads=n_threads)
    # Threads of a prediction are an argument of it since layouts do not know them.
    is_argument = "n_jobs" in inspect.signature(kernel.scores_many).parameters
    threads = {"n_jobs": n_threads} if is_argument else {}
    return kernel.margin, lambda W, s: kernel.scores_many(X, [W], [s], **threads)

at = None
for line in sys.stdin:
    n, p, threads, form, what, sigma, repeats = line.split()
    if at != (n, p, threads, form):
        at, (margin, scores) = (n, p, threads, form), passes(int(n), int(p), int(threads), form)
    W = np.eye(int(p)) / int(p) ** 0.5 if form == "matrix" else np.full(int(p), 1 / int(p))
    task = margin if what == "train" else scores
    best = float("inf")
    for _ in range(int(repeats)):
        start = clock()
        task(W, float(sigma))
        best = min(best, clock() - start)
    print(best, flush=True)
"""


class Version:
    """A process that measures one version of the library."""

    def __init__(self, source: Path, clock: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(source), "CLOCK": clock},
        )

    def seconds(self, *request) -> float:
        """Best time of a case: n, p, threads, form, what, sigma, repeats."""
        print(*request, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def compared(before, now, case, n_turns):
    """Best time of each version, and the median of the ratios of single turns."""
    n, p, *_ = case
    repeats = max(1, min(50, int(4e8 / (n * n * (p * p + 50)))))
    turns = [
        (before.seconds(*case, repeats), now.seconds(*case, repeats)) for _ in range(n_turns + 1)
    ][1:]
    old, new = (min(column) for column in zip(*turns))
    return old, new, statistics.median(b / a for a, b in turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="src folder of the other one")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--shapes", nargs="+", default=[f"{n}x{p}" for n, p in SHAPES])
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    options = parser.parse_args()
    before, now = (Version(source, options.clock) for source in (options.before, HERE))
    print("    n    p threads form   what    sigma  before ms    now ms   best  median")
    for threads in options.threads:
        for n, p in (map(int, shape.split("x")) for shape in options.shapes):
            for form, what, sigma in [
                *(("matrix", "train", sigma) for sigma in SIGMAS),
                ("vector", "train", 0.25),
                ("matrix", "predict", 4.0),
            ]:
                case = (n, p, threads, form, what, sigma)
                old, new, median = compared(before, now, case, options.turns)
                print(
                    f"{n:5d} {p:4d} {threads:7d} {form:6s} {what:7s} {sigma:5.2f} "
                    f"{1e3 * old:10.3f} {1e3 * new:9.3f} {new / old:6.2f} {median:7.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
