"""Speed of the pass with weights of triples against what the machine can do.

    roofline(n, p) = n^2 p^3 / (3 G)

floating-point operations of all triples of p features, n^2 / 2 pairs and two sweeps, over the
float64 matrix-multiply rate G that is measured in the same run with the same number of threads.
The weights of features and pairs, the differences and the exponentials are not part of it. Prints
a table and writes ``benchmarks/results/cubic_pass.csv``.

    python benchmarks/speed/bench_cubic.py
    python benchmarks/speed/bench_cubic.py --clock cpu    for a machine that others use too
"""

from __future__ import annotations

import argparse
from itertools import combinations

import joblib
import numpy as np
import pandas as pd
from bench_pass import RESULTS, best, machine_with
from threadpoolctl import threadpool_limits

from immigrate.core.forms import Cubic
from immigrate.kernels import Pieces, pass_over
from immigrate.kernels.numpy_pass import PlainPass

SHAPES = [(1000, 8), (1000, 15), (1000, 20), (1000, 30), (3000, 15)]
SIGMAS = [4.0, 0.25]
LARGEST_PLAIN = (1000, 15)


def problem(n, p):
    """A table of noise, and weights of every feature and triple."""
    rng = np.random.default_rng(0)
    form = Cubic(p, np.array(list(combinations(range(p), 3))))
    W = form.weights(np.eye(p), np.full(len(form.triples), 0.01))
    pieces = Pieces.of(rng.standard_normal((n, p)), rng.integers(0, 2, n), form=form)
    return pieces, W / np.linalg.norm(W)


def shape_row(n, p, sigma, n_threads, machine):
    pieces, W = problem(n, p)
    clock, G, _ = machine
    kernel = pass_over(pieces, n_threads=n_threads)
    roofline = n**2 * p**3 / (3 * G)
    seconds = best(lambda: kernel.margin(W, sigma), clock)
    row = {"n": n, "p": p, "sigma": sigma, "threads": n_threads, "gflops": G / 1e9}
    row |= {"roofline_ms": 1e3 * roofline, "pass_ms": 1e3 * seconds, "ratio": seconds / roofline}
    if (n, p) == LARGEST_PLAIN and n_threads == 1 and sigma == SIGMAS[0]:
        plain = PlainPass(pieces, np.full(n, 1 / n))
        with threadpool_limits(1, user_api="blas"):
            start = clock()
            plain.margin(W, sigma)
            row["times_faster_than_numpy"] = (clock() - start) / seconds
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    options = parser.parse_args()
    rows = []
    for n_threads in sorted({1, joblib.cpu_count()}):
        machine = machine_with(n_threads, options.clock)
        for n, p in SHAPES:
            rows += [shape_row(n, p, sigma, n_threads, machine) for sigma in SIGMAS]
    frame = pd.DataFrame(rows)
    RESULTS.mkdir(exist_ok=True)
    frame.to_csv(RESULTS / "cubic_pass.csv", index=False, float_format="%.4g")
    print(f"{options.clock} clock")
    print(frame.to_string(index=False, float_format="%.2f"))


if __name__ == "__main__":
    main()
