"""`InteractionTest` on a long and on a wide table: memory, time, and the rate of the scan.

    python benchmarks/size/test_at_size.py

Each case runs in a process of its own, whose peak of resident memory before the fit (the table is
there by then) and after it are compared. The scan of all pairs counts 21 products of n numbers for
each pair; its rate is given as a share of that of a plain product of float64 matrices, measured
in the same process before and after the fit. Both are per second of processor time, so that other
work on the machine counts little. Writes
``benchmarks/results/test_at_size.csv``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from immigrate import InteractionTest
from immigrate.files import whole_file
from immigrate.interactions import search

RESULTS = Path(__file__).parents[1] / "results"
CASES = {"long": (1_000_000, 10), "wide": (1_000, 20_000)}
PRODUCTS_PER_PAIR = 21
PLANTED = {"long": (3, 7), "wide": (4_321, 12_345)}
STRENGTH = {"long": 0.05, "wide": 1.5}


def labelled(case: str, n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Two main effects and one product; standard normal features, logistic noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    a, b = (place % p for place in PLANTED[case])
    joint = STRENGTH[case] * X[:, a] * X[:, b]
    logit = 0.5 * X[:, 0] + 0.5 * np.abs(X[:, 1]) + joint - 0.4
    return X, (logit + rng.logistic(size=n) > 0).astype(np.intp)


def peak_bytes() -> float:
    """Most memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def multiply_rate(seconds: float = 2.0) -> float:
    """Float64 operations per second of processor time in a plain product of matrices."""
    side, n_products = 1024, 0
    A, end = np.ones((side, side)), time.perf_counter() + seconds
    with threadpool_limits(1):
        start = time.process_time()
        while time.perf_counter() < end:
            A @ A
            n_products += 1
        return n_products * 2.0 * side**3 / (time.process_time() - start)


def run_case(case: str, n: int, p: int, n_jobs: int) -> dict[str, Any]:
    """One fit; the scan, where there is one, is timed on its own."""
    X, y = labelled(case, n, p)
    found: dict[str, Any] = {"case": case, "n": n, "p": p, "cores": n_jobs}
    rate = multiply_rate()
    plain = search.strongest_terms

    def timed(*args: Any, **kwargs: Any) -> Any:
        start, own = time.perf_counter(), time.process_time()
        result = plain(*args, **kwargs)
        found["scan_seconds"] = time.perf_counter() - start
        found["scan_core_seconds"] = time.process_time() - own
        return result

    search.strongest_terms = timed
    before, start, own = peak_bytes(), time.perf_counter(), time.process_time()
    test = InteractionTest(n_jobs=n_jobs, verbose=1).fit(X, y)
    found["seconds"] = time.perf_counter() - start
    found["core_seconds"] = time.process_time() - own
    found["growth_gb"] = (peak_bytes() - before) / 1e9
    rate = (rate + multiply_rate()) / 2
    a, b = (f"x{place}" for place in sorted(place % p for place in PLANTED[case]))
    table = test.table_
    is_planted = (table["feature_1"] == a) & (table["feature_2"] == b)
    found["pairs"] = test.n_tests_
    found["rank_of_planted"] = int(table.loc[is_planted, "rank"].min()) if is_planted.any() else -1
    found["pairs_found"] = len(test.selected_)
    found["multiply_gflops"] = rate / 1e9
    if "scan_seconds" in found:
        per_second = test.n_tests_ / found["scan_core_seconds"]
        found["pairs_per_second_and_core"] = per_second
        found["share_of_multiply_rate"] = per_second * PRODUCTS_PER_PAIR * 2 * n / rate
    return found


def lines(found: dict[str, Any]) -> str:
    """What is to be shown of one case."""
    text = (
        f"{found['n']:,} × {found['p']:,} ({found['pairs']:,} pairs, {found['cores']} cores): "
        f"{found['seconds']:.0f} s ({found['core_seconds']:.0f} s of cores), "
        f"memory grew by {found['growth_gb']:.2f} GB, "
        f"planted pair at rank {found['rank_of_planted']}, {found['pairs_found']} found"
    )
    if "scan_seconds" in found:
        text += (
            f"\n  scan {found['scan_seconds']:.0f} s, "
            f"{found['pairs_per_second_and_core']:,.0f} pairs per second and core, "
            f"{found['share_of_multiply_rate']:.0%} of the float64 multiply rate "
            f"({found['multiply_gflops']:.0f} GFLOP/s per core)"
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rows", type=int, help="of every case, for a quick look")
    parser.add_argument("--columns", type=int, help="of every case, for a quick look")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        n, p = CASES[given.child]
        n, p = given.rows or n, given.columns or p
        print(json.dumps(run_case(given.child, n, p, given.cores)))
        return
    rows = []
    for case in given.cases:
        command = [sys.executable, __file__, "--child", case, *_passed_on(given)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                rows.append(json.loads(line))
                print(lines(rows[-1]), flush=True)
            else:
                print("  " + line, end="", flush=True)
        if child.wait():
            raise SystemExit(f"The case {case!r} ended with code {child.returncode}.")
    if given.rows is None and given.columns is None and given.cases == list(CASES):
        with whole_file(RESULTS / "test_at_size.csv") as file:
            pd.DataFrame(rows).to_csv(file, index=False, float_format="%.4g")


def _passed_on(given: argparse.Namespace) -> list[str]:
    """Options of the parent that its children need."""
    options = {"--cores": given.cores, "--rows": given.rows, "--columns": given.columns}
    return [text for name, value in options.items() if value for text in (name, str(value))]


if __name__ == "__main__":
    main()
