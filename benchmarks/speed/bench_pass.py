"""Speed of the pairwise passes against what the machine can do.

    roofline(n, p) = n^2 p^2 / G + n^2 e        for a training pass,
                     m n p^2 / G + m n e        for a prediction of m new samples,

G the float64 matrix-multiply rate and e the time of one exponential, measured in the same run
with the same number of threads. Prints two tables and writes ``benchmarks/results/*.csv``; then
the passes over mixed tables against those over numbers, and one row against many samples.

    make bench                                          everything
    python benchmarks/speed/bench_pass.py --quick       no largest shape, no NumPy loop
    python benchmarks/speed/bench_pass.py --clock cpu   for a machine that others use too: CPU
                                                        seconds of this process, divided by the
                                                        threads; n < 500 still by the wall
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from numba import njit
from threadpoolctl import threadpool_limits

from immigrate import ImmigrateClassifier
from immigrate.core.differences import ColumnKinds
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.microkernels import exponential
from immigrate.kernels.numpy_pass import PlainPass
from immigrate.margin.problem import MarginProblem

SHAPES = [(200, 5), (200, 22), (1000, 8), (1000, 30), (1000, 100), (3000, 20), (500, 300)]
LARGEST = (10_000, 12)
MIXED_SHAPES = [(1000, 30), (1000, 8)]
MANY = (50_000, 20)  # samples that one new row is scored against
SIGMAS = [4.0, 0.25]
LONGEST_REFERENCE = 3000 * 3000 * 20  # n^2 p above which the NumPy loop takes too long
RESULTS = Path(__file__).parents[1] / "results"

FIRST_CALL = """
import time, numpy as np
from immigrate.kernels import Pieces, pass_over
X, y = np.random.default_rng(0).standard_normal((50, 4)), np.arange(50) % 2
start = time.perf_counter()
pass_over(Pieces.of(X, y)).margin(np.eye(4), 1.0)
print(time.perf_counter() - start)
"""


def best(task, clock, *, seconds=1.0, most=200):
    """Shortest of the runs that fit into some seconds, three at least."""
    task()
    times, deadline = [], time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < deadline and len(times) < most):
        start = clock()
        task()
        times.append(clock() - start)
    return min(times)


def matrix_multiply_rate(n_threads, clock, size=768):
    A = np.random.default_rng(0).standard_normal((size, size))
    with threadpool_limits(n_threads, user_api="blas"):
        return 2 * size**3 / best(lambda: A @ A, clock, seconds=3.0)


@njit(nogil=True)
def _own_exp(x, out):
    for k in range(x.shape[0]):
        out[k] = exponential(x[k])


def exponential_seconds(n_threads, clock, size=40_000, n_rounds=50):
    """Time of one exponential: NumPy's or our own, whichever is faster here."""
    blocks = [np.linspace(-20, 0, size) for _ in range(n_threads)]
    outs = [np.empty(size) for _ in range(n_threads)]
    pool = ThreadPoolExecutor(n_threads)

    def rounds(function, x, out):
        for _ in range(n_rounds):
            function(x, out)

    def seconds(function):
        def task():
            return list(pool.map(lambda pair: rounds(function, *pair), zip(blocks, outs)))

        return best(task, clock) / (n_threads * n_rounds * size)

    return min(seconds(np.exp), seconds(_own_exp))


def machine_with(n_threads, clock):
    """(clock, G, e) of the machine with some number of threads."""
    if clock == "wall":
        tick = time.perf_counter
        return tick, matrix_multiply_rate(n_threads, tick), exponential_seconds(n_threads, tick)
    # A BLAS that waits for a core spins and pays for it in CPU time: one thread, multiplied.
    tick = time.process_time
    G, e = n_threads * matrix_multiply_rate(1, tick), exponential_seconds(1, tick) / n_threads
    return lambda: time.process_time() / n_threads, G, e


def table(n, p, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)).astype(dtype)
    return X, rng.integers(0, 2, n), np.eye(p) / np.sqrt(p)


def clock_for(n, clock):
    """Small tables run on one thread whatever is asked for: CPU time would flatter them."""
    return time.perf_counter if n < 500 else clock


def training_row(n, p, sigma, n_threads, machine):
    X, y, W = table(n, p)
    tick, G, e = machine
    clock = clock_for(n, tick)
    kernel = pass_over(Pieces.of(X, y), n_threads=n_threads)
    narrow = pass_over(Pieces.of(X.astype(np.float32), y), n_threads=n_threads)
    roofline = n**2 * (p**2 / G + e)
    seconds = best(lambda: kernel.margin(W, sigma), clock)
    row = {"n": n, "p": p, "sigma": sigma, "threads": n_threads, "roofline_ms": 1e3 * roofline}
    row |= {"pass_ms": 1e3 * seconds, "ratio": seconds / roofline}
    row["float32_gain"] = seconds / best(lambda: narrow.margin(W, sigma), clock)
    return row


def reference_seconds(n, p, sigma):
    """CPU time of the plain loop, with one thread for its matrix products."""
    X, y, W = table(n, p)
    plain = PlainPass(Pieces.of(X, y), np.full(n, 1 / n))
    with threadpool_limits(1, user_api="blas"):
        start = time.process_time()
        plain.margin(W, sigma)
        return time.process_time() - start


def prediction_row(n, p, sigma, n_threads, machine):
    X, y, W = table(n, p)
    tick, G, e = machine
    clock = clock_for(n, tick)
    kernel = pass_over(Pieces.of(X, y), n_threads=n_threads)
    roofline = n**2 * (p**2 / G + e)  # as many new samples as old, each pair once
    seconds = best(lambda: kernel.scores_many(X, [W], [sigma]), clock)
    row = {"n": n, "p": p, "sigma": sigma, "threads": n_threads, "roofline_ms": 1e3 * roofline}
    return row | {"pass_ms": 1e3 * seconds, "ratio": seconds / roofline}


def mixed_pieces(n, p):
    """A third of the features nominal with four levels, a tenth of all values missing."""
    X, y, _ = table(n, p)
    rng = np.random.default_rng(1)
    is_nominal = np.arange(p) % 3 == 0
    X[:, is_nominal] = rng.integers(0, 4, (n, is_nominal.sum()))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    return Pieces.of(X, y, kinds=ColumnKinds(is_nominal))


def mixed_row(n, p, clock):
    """The pass over a mixed table and over numbers, in turns: other work falls on both."""
    X, y, W = table(n, p)
    numbers, mixed = pass_over(Pieces.of(X, y)), pass_over(mixed_pieces(n, p))
    turns = [
        [best(lambda k=k: k.margin(W, 4.0), clock, seconds=0.2) for k in (numbers, mixed)]
        for _ in range(5)
    ]
    plain, other = (1e3 * min(column) for column in zip(*turns))
    ratio = float(np.median([b / a for a, b in turns]))
    return {"n": n, "p": p, "numbers_ms": plain, "mixed_ms": other, "ratio": ratio}


def one_row_times(machine):
    """Milliseconds of scoring one row against MANY: roofline, class_scores, predict."""
    (n, p), (tick, G, e) = MANY, machine
    X, y, W = table(n, p)
    classifier = ImmigrateClassifier().fit(X[:200], y[:200])
    # A fit to all samples would take minutes; the references alone decide what predict costs.
    references = replace(classifier.model_.references, values=X, codes=y, anchor_weight=None)
    classifier.model_ = replace(classifier.model_, references=references)
    problem = MarginProblem(X, y)
    return {
        "arithmetic_ms": 1e3 * n * (p**2 / G + e),
        "class_scores_ms": 1e3 * best(lambda: problem.class_scores(X[:1], W, 1.0), tick),
        "predict_ms": 1e3 * best(lambda: classifier.predict(X[:1]), tick),
    }


def first_call_seconds():
    """First call with an empty cache, and in a second process."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", FIRST_CALL]
        return [
            float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
            for _ in range(2)
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    options = parser.parse_args()
    shapes = SHAPES if options.quick else [*SHAPES, LARGEST]
    training, prediction = [], []
    for n_threads in sorted({1, joblib.cpu_count()}):
        machine = machine_with(n_threads, options.clock)
        _, G, e = machine
        print(f"{n_threads} threads: G = {G / 1e9:.1f} GF/s, e = {1e9 * e:.2f} ns")
        for n, p in shapes:
            for sigma in SIGMAS:
                row = training_row(n, p, sigma, n_threads, machine)
                if not options.quick and n * n * p <= LONGEST_REFERENCE:
                    plain = reference_seconds(n, p, sigma)
                    row["times_faster_than_numpy"] = 1e3 * plain / row["pass_ms"]
                training.append(row)
            prediction.append(prediction_row(n, p, 4.0, n_threads, machine))
    RESULTS.mkdir(exist_ok=True)
    for name, rows in (("pass", training), ("prediction", prediction)):
        frame = pd.DataFrame(rows)
        frame.to_csv(RESULTS / f"{name}.csv", index=False, float_format="%.4g")
        print(f"\n{name} ({options.clock} clock)")
        print(frame.to_string(index=False, float_format=lambda x: f"{x:.2f}"))
    machine = machine_with(1, options.clock)
    mixed = pd.DataFrame([mixed_row(n, p, machine[0]) for n, p in MIXED_SHAPES])
    print("\nmixed tables, one thread\n" + mixed.to_string(index=False, float_format="%.2f"))
    times = "  ".join(f"{name} {ms:.2f}" for name, ms in one_row_times(machine).items())
    print(f"\none row against {MANY[0]} x {MANY[1]}: {times}")
    compiled, cached = first_call_seconds()
    print(f"\nfirst call: {compiled:.1f} s; in a second process: {cached:.2f} s")


if __name__ == "__main__":
    main()
