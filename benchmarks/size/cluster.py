"""What a cluster costs and gives: equality, passes per second, bytes, and the price of deaths.

Everything on this machine: a scheduler and workers of one thread each, against one process with
one thread. Ratios of one run; two workers on two busy cores are no measure of two machines.

    python benchmarks/size/cluster.py                   a minute
    python benchmarks/size/cluster.py --rows 6000 --features 40
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from statistics import median

import numpy as np
from distributed import Client, LocalCluster

from immigrate import ImmigrateClassifier
from immigrate.cluster import Cluster, on
from immigrate.core.cones import unit
from immigrate.kernels import Pieces, pass_over, passes_run_by

REPEATS = 5


def problem(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    return X, (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int)


def cluster_of(n_workers):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs="ERROR"
    )


def seconds_per_pass(run, W, sigma):
    """Median of some passes, after one that compiles and sends the table."""
    run.margin(W, sigma)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run.margin(W, sigma)
        times.append(time.perf_counter() - start)
    return median(times)


def network_bytes():
    """Bytes over the loopback device since the machine started: everything that is sent here."""
    with open("/proc/net/dev") as lines:
        return next(int(line.split()[9]) for line in lines if line.strip().startswith("lo:"))


def bytes_per_pass(run, W, sigma):
    """Bytes that a pass sends, heartbeats of the cluster taken off."""
    before, start = network_bytes(), time.perf_counter()
    for _ in range(REPEATS):
        run.margin(W, sigma)
    sent, took = network_bytes() - before, time.perf_counter() - start
    before = network_bytes()
    time.sleep(took)
    return (sent - (network_bytes() - before)) / REPEATS


def overheads(cluster, n_tasks=200):
    """Seconds per task that does nothing, and of one trip to a worker and back."""
    start = time.perf_counter()
    cluster.results(cluster.mapped(abs, list(range(n_tasks)), "nothing"))
    per_task = (time.perf_counter() - start) / n_tasks
    trips = []
    for _ in range(20):
        start = time.perf_counter()
        cluster.results(cluster.mapped(abs, [1], "nothing"))
        trips.append(time.perf_counter() - start)
    return per_task, median(trips)


def passes_table(X, y):
    n, p = X.shape
    W, sigma = unit(np.eye(p)), 2.0
    pieces = Pieces.of(X, y)
    here = seconds_per_pass(pass_over(pieces), W, sigma)
    print(f"{n} x {p}, one process: {here:.3f} s per pass")
    for n_workers in (1, 2):
        with cluster_of(n_workers) as workers, Client(workers) as client, on(client) as cluster:
            run = pass_over(pieces)
            there = seconds_per_pass(run, W, sigma)
            sent = bytes_per_pass(run, W, sigma)
            per_task, trip = overheads(cluster)
            print(
                f"{n_workers} worker(s), {len(run._parts)} parts: {there:.3f} s per pass, "
                f"{there / here:.2f} times one process; {sent / 1e3:.0f} kB sent per pass "
                f"(table {X.nbytes / 1e3:.0f} kB, W {W.nbytes / 1e3:.1f} kB); "
                f"{1e3 * per_task:.2f} ms per task, {1e3 * trip:.1f} ms per trip"
            )


def equality_and_deaths(X, y):
    """Fits here and there; then one in which three workers are killed."""
    with cluster_of(2) as workers, Client(workers) as client, on(client):
        with passes_run_by(None):
            here = ImmigrateClassifier().fit(X, y).weight_matrix_
        ImmigrateClassifier().fit(X, y)
        start = time.perf_counter()
        there = ImmigrateClassifier().fit(X, y).weight_matrix_
        undisturbed = time.perf_counter() - start
        print(f"largest difference of W to one process: {np.abs(there - here).max():.1e}")
        results, passes = Cluster.results, []

        def disturbed(self, futures):
            passes.append(len(futures))
            if len(passes) in (1, 2, 3):
                pid = next(iter(client.run(os.getpid).values()))
                os.kill(pid, signal.SIGKILL)
            return results(self, futures)

        Cluster.results = disturbed
        try:
            start = time.perf_counter()
            again = ImmigrateClassifier().fit(X, y).weight_matrix_
            took = time.perf_counter() - start
        finally:
            Cluster.results = results
        print(
            f"a worker killed in each of three passes: {took:.1f} s against {undisturbed:.1f} s, "
            f"the same bits: {np.array_equal(again, there)}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--features", type=int, default=20)
    options = parser.parse_args()
    table = problem(options.rows, options.features)
    passes_table(*table)
    equality_and_deaths(*table)
