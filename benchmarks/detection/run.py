"""Run every method on every scenario and print error rate, power, top-1 rate and time.

    python benchmarks/detection/run.py --methods holm westfall-young --replicates 400

One row per replicate goes to ``results/<method>.csv`` as soon as it is there; what is there
is not run again. Seeds depend on scenario, size and replicate only, so every method sees the
same data. Needs interpret-core, xgboost and shap for the methods of those names.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
import zlib
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from methods import (
    ebm_fast,
    ensemble_shap,
    immigrate_weights,
    interaction_test,
    logistic_products,
    prototype,
)
from scenarios import ALTERNATIVES, NULLS
from summary import printed_summary
from twins import TWINS

RESULTS = Path(__file__).parent / "results"
METHODS = {
    "holm": interaction_test.evidence,
    "westfall-young": interaction_test.westfall_young,
    "triples": interaction_test.triples,
    "prototype": prototype.evidence,
    "logistic-products": logistic_products.evidence,
    "ebm-fast": ebm_fast.evidence,
    "ebm-fast-cleared": ebm_fast.after_clearing,
    "ebm-fast-drawn": ebm_fast.with_drawn_labels,
    "xgboost-shap": ensemble_shap.xgboost,
    "forest-shap": ensemble_shap.random_forest,
    "immigrate-weights": immigrate_weights.evidence,
}
FIELDS = (
    "scenario", "n", "p", "replicate", "is_null", "any_rejected", "holm_rejected", "true_rejected",
    "true_first", "other_selected", "smallest_adjusted", "p_of_one_pair", "share_below_05",
    "seconds", "largest_strength", "true_strength", "lookalike_first",
)  # fmt: skip
# The second term admits p-values that equal the level but for rounding.
ALPHA = 0.05 + 1e-9
ROUND = 25
# The other methods take two classes, complete tables and no weights.
GENERAL_METHODS = ("holm", "westfall-young", "triples")
GENERAL_SCENARIOS = (
    "three_classes", "missing_values", "missing_among_correlates", "counted_rows",
    "importance_weights", "three_class_xor", "xor_missing_values",
)  # fmt: skip


def seeded(scenario, n, p, replicate):
    return np.random.default_rng([zlib.crc32(scenario.encode()), n, p, replicate])


def measured(method, scenario, n, p, replicate):
    """One row of results."""
    rng = seeded(scenario, n, p, replicate)
    problem = {**NULLS, **ALTERNATIVES, **TWINS}[scenario](rng, n, p)
    start = time.perf_counter()
    found = METHODS[method](problem, rng)
    row = {"seconds": f"{time.perf_counter() - start:.4f}", "is_null": int(problem.truth is None)}
    row |= {"scenario": scenario, "n": n, "p": p, "replicate": replicate}
    is_true = [frozenset(term) == problem.truth for term in found.terms.tolist()]
    row["true_first"] = int(is_true[0])
    row["lookalike_first"] = int(frozenset(found.terms[0].tolist()) == problem.lookalike)
    if found.strength is not None:
        row["largest_strength"] = f"{found.strength[0]:.6g}"
        row["true_strength"] = f"{found.strength[is_true].max(initial=0.0):.6g}"
    if found.p_adjusted is not None:
        row["any_rejected"] = int(found.p_adjusted[0] <= ALPHA)
        row["smallest_adjusted"] = f"{found.p_adjusted[0]:.3g}"
        row["true_rejected"] = int(any(found.p_adjusted[is_true] <= ALPHA))
    if found.selected is not None:
        row["other_selected"] = sum(term != problem.truth for term in found.selected)
    if found.p_value is not None:
        row["holm_rejected"] = int(found.p_value[0] * len(found.p_value) <= ALPHA)
        row["p_of_one_pair"] = f"{found.p_value[rng.integers(len(found.p_value))]:.6g}"
        row["share_below_05"] = f"{np.mean(found.p_value <= ALPHA):.4f}"
    return row


def finished(path):
    """Keys of the rows that are already there."""
    if not path.exists():
        return set()
    with path.open() as file:
        return {
            (r["scenario"], int(r["n"]), int(r["p"]), int(r["replicate"]))
            for r in csv.DictReader(file)
        }


def run(method, scenarios, sizes, replicates):
    """Append missing rows, all scenarios a few replicates at a time so that none lags behind."""
    path = RESULTS / f"{method}.csv"
    done = finished(path)
    cells = [
        (scenario, n, p, replicate)
        for start in range(0, replicates, ROUND)
        for n, p in sizes
        for scenario in scenarios
        for replicate in range(start, min(start + ROUND, replicates))
        if (scenario, n, p, replicate) not in done
    ]
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if is_new:
            writer.writeheader()
        for cell in cells:
            writer.writerow(measured(method, *cell))
            file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--scenarios", nargs="+", default=[*NULLS, *ALTERNATIVES])
    parser.add_argument("--sizes", nargs="+", default=["400x15"], help="n x p, such as 400x15")
    parser.add_argument("--replicates", type=int, default=100)
    arguments = parser.parse_args()
    named = {"null": list(NULLS), "alternative": list(ALTERNATIVES), "twin": list(TWINS)}
    scenarios = [s for name in arguments.scenarios for s in named.get(name, [name])]
    sizes = [tuple(map(int, size.split("x"))) for size in arguments.sizes]
    RESULTS.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    for method in arguments.methods:
        is_general = method in GENERAL_METHODS
        fitting = [s for s in scenarios if is_general or s not in GENERAL_SCENARIOS]
        run(method, fitting, sizes, arguments.replicates)
    print(printed_summary(RESULTS, arguments.methods))


if __name__ == "__main__":
    main()
