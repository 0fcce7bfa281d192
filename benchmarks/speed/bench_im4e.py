"""Time and memory of an IM4E fit on a wide table, beside ReliefF of scikit-rebate if installed.

    python benchmarks/speed/bench_im4e.py --samples 78 --features 24481

The table is made up; time and memory do not depend on what it holds. Compilation is done by a
small fit first. Memory is the growth of the process's peak over what it was before the fit.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from immigrate import IM4EClassifier, ImmigrateClassifier


def made_up_table(n, p):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, p))
    X[:, : p // 100] += 0.7 * y[:, None]
    return X, y


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(name, fit, X, y):
    fit(*made_up_table(20, 300))
    memory, start = peak_megabytes(), time.process_time()
    fit(X, y)
    seconds, growth = time.process_time() - start, peak_megabytes() - memory
    print(f"{name:26s} {seconds:8.2f} s of processor time   peak memory grew by {growth:6.1f} MB")
    return seconds


def relieff(X, y):
    from skrebate import ReliefF

    return ReliefF(n_neighbors=10, n_jobs=1).fit(X, y)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=78)
    parser.add_argument("--features", type=int, default=24481)
    arguments = parser.parse_args()
    X, y = made_up_table(arguments.samples, arguments.features)
    print(f"{X.shape[0]} x {X.shape[1]}, float64, one thread")
    im4e = measured("IM4E", lambda X, y: IM4EClassifier().fit(X, y), X, y)
    measured(
        "IM4E-IMMIGRATE, 200 kept", lambda X, y: ImmigrateClassifier(screen="im4e").fit(X, y), X, y
    )
    try:
        ratio = measured("ReliefF (scikit-rebate)", relieff, X, y) / im4e
        print(f"ReliefF takes {ratio:.1f} times as long as IM4E")
    except ImportError:
        print("scikit-rebate is not installed: no comparison")
