"""Does the interaction test need its user to limit BLAS? It should not.

    python benchmarks/speed/blas_threads.py [--busy]

Each line is one shape: the median time of `InteractionTest().fit` with ``OMP_NUM_THREADS=1``, with
the threads that BLAS takes by default, and their ratio, measured in turns in one run, each time
in a process of its own. With ``--busy`` two other processes keep the cores occupied meanwhile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

SHAPES = [(500, 50, 2), (300, 10, 3), (400, 15, 2)]
N_TURNS = 5
TIMED = """
import sys
from time import perf_counter
import numpy as np
from immigrate import InteractionTest
n, p, n_classes = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, p))
y = np.argmax(X[:, :n_classes] + rng.gumbel(size=(n, n_classes)), axis=1)
InteractionTest().fit(X[:50, :3], y[:50])
start = perf_counter()
InteractionTest().fit(X, y)
print(perf_counter() - start)
"""
BUSY = "while True: pass"
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def seconds(shape: tuple[int, int, int], n_threads: int | None) -> float:
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    if n_threads is not None:
        environment["OMP_NUM_THREADS"] = str(n_threads)
    command = [sys.executable, "-c", TIMED, *map(str, shape)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


@contextmanager
def busy_cores(count: int) -> Iterator[None]:
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--busy", action="store_true", help="keep all cores occupied meanwhile")
    is_busy = parser.parse_args().busy
    print("n × p, classes: seconds with one thread, by default, ratio")
    with busy_cores(os.cpu_count() or 1 if is_busy else 0):
        for shape in SHAPES:
            turns = [(seconds(shape, 1), seconds(shape, None)) for _ in range(N_TURNS)]
            one, default = (median(times) for times in zip(*turns))
            n, p, k = shape
            print(f"{n} × {p}, {k}: {one:.2f} {default:.2f} {default / one:.2f}", flush=True)


if __name__ == "__main__":
    main()
