"""Are penalised fits stationary? Random problems, every penalty and constraint.

    python benchmarks/weights/penalty_optimality.py

200 problems: 20 to 40 samples, 2 to 6 features, 2 or 3 classes, sigma from 0.1 to 10, strengths
from 0.003 to 0.5. Fits end at a relative gap of 1e-6. For non-negative weights with l1 the
conditions of Karush, Kuhn and Tucker are checked element by element at the end, in units of the
gradient: G_ab - price_ab = mu W_ab where W_ab > 0, and G_ab <= price_ab where W_ab = 0.
"""

from __future__ import annotations

import argparse
import csv
import itertools
from pathlib import Path

import numpy as np

from immigrate.core.cones import MATRIX_SETS, norm
from immigrate.margin.problem import MarginProblem
from immigrate.options import L1, L2
from immigrate.solvers import Stop, spectral_descent

RESULTS = Path(__file__).parents[1] / "results" / "penalty_optimality.csv"
PENALTIES = {
    "l1": L1,
    "l1 of all": lambda strength: L1(strength, penalise="all"),
    "l2": L2,
}
TOL = 1e-6
HEAD = (
    *("constraint", "penalty", "problems", "gap_below_tol", "no_direction", "not_converged"),
    *("largest_gap", "largest_rise", "largest_kkt", "free_is_plain", "strong_is_diagonal"),
)


def drawn(seed):
    rng = np.random.default_rng(seed)
    n, p, n_classes = rng.integers(20, 41), rng.integers(2, 7), rng.integers(2, 4)
    X, y = rng.standard_normal((n, p)), np.arange(n) % n_classes
    X[:, :2] += y[:, None] * rng.uniform(1, 2, 2)
    sigma, strength = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-2.5, -0.3)
    return MarginProblem(X, y), np.eye(p) / np.sqrt(p), float(sigma), float(strength)


def weight_set(make, strength, constraint, problem, start, sigma):
    unit = norm(problem.evaluate(start, sigma).gradient)
    return make(strength).weight_set(MATRIX_SETS[constraint], np.arange(len(start)), lambda: unit)


def solved(problem, start, sigma, weights, tol):
    return spectral_descent(problem, start, sigma, weights, max_iter=5000, tol=tol)


def kkt(problem, sigma, W, price):
    """Largest violation of the conditions, in units of the gradient."""
    G = -problem.evaluate(W, sigma).gradient
    mu = np.vdot(G - price, W)
    violation = np.where(W > 0, np.abs(G - price - mu * W), np.maximum(G - price, 0.0))
    return float(violation.max() / norm(G))


def row_of(constraint, name, n_problems):
    make, stops, gaps, rises, residuals = PENALTIES[name], [], [], [], []
    is_free, is_diagonal, tol = [], [], TOL
    for seed in range(n_problems):
        problem, start, sigma, strength = drawn(seed)
        place = (constraint, problem, start, sigma)
        weights = weight_set(make, strength, *place)
        found = solved(problem, start, sigma, weights, tol)
        stops.append(found.stop)
        rises.append(np.diff(found.objective_path).max(initial=0.0) / sigma)
        if found.stop is not Stop.NO_DIRECTION:
            gaps.append(found.gap)
            if constraint == "nonnegative" and name != "l2":
                residuals.append(kkt(problem, sigma, found.weights, weights.penalty.price))
        plain = solved(problem, start, sigma, MATRIX_SETS[constraint], tol)
        free = solved(problem, start, sigma, weight_set(make, 0.0, *place), tol)
        is_free.append(np.array_equal(free.weights, plain.weights))
        if name != "l1 of all":
            W = solved(problem, start, sigma, weight_set(make, 1e3, *place), tol).weights
            is_diagonal.append(not np.any(W - np.diag(W.diagonal())))
    n_below = sum(gap <= tol for gap in gaps)
    n_lost = stops.count(Stop.NO_DIRECTION)
    return (
        *(constraint, name, n_problems, n_below, n_lost, n_problems - n_below - n_lost),
        *(f"{max(gaps):.1e}", f"{max(rises):.1e}"),
        f"{max(residuals):.1e}" if residuals else "",
        sum(is_free),
        sum(is_diagonal) if is_diagonal else "",
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=200)
    options = parser.parse_args()
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        for constraint, name in itertools.product(("psd", "nonnegative", "both"), PENALTIES):
            row = row_of(constraint, name, options.problems)
            writer.writerow(row)
            file.flush()
            print(dict(zip(HEAD, row)), flush=True)


if __name__ == "__main__":
    main()
