"""Error rates, coverage and power of evidence and effects; one row per replicate.

    python benchmarks/detection/evidence.py --studies features pairs sizes --replicates 400
    python benchmarks/detection/evidence.py --summary

Rows go to ``build/evidence.csv`` as soon as they are there, and what is there is not run again;
the means over replicates go to ``results/evidence.csv`` at the end. Seeds depend on study,
scenario, size and replicate only. The study "rivals" compares with products in a linear regression
and, where interpret-core is there, with its ranking.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
import zlib
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))

import rivals
from evidence_scenarios import FEATURES, PAIRS, POWER, SIZES

from immigrate import InteractionTest

ROWS = Path(__file__).parents[2] / "build" / "evidence.csv"
RESULTS = Path(__file__).parent / "results" / "evidence.csv"
FIELDS = ("study", "scenario", "n", "p", "replicate", "measure", "value")
ALPHA = 0.05
STUDIES = {
    "features": FEATURES,
    "pairs": PAIRS,
    "sizes": SIZES,
    "sizes split": SIZES,
    "power": POWER,
    "rivals": {name: POWER[name] for name in POWER if "number" in name and "cov" not in name},
}


def seeded(study, scenario, n, p, replicate):
    return np.random.default_rng([zlib.crc32(f"{study} {scenario}".encode()), n, p, replicate])


def of_features(problem):
    """Whether any feature without an effect is said to have one."""
    test = InteractionTest(**problem.options).fit(problem.X, problem.y)
    features = test.features_.set_index("feature")
    alone = features.drop(index=list(problem.causes | problem.related))
    given = features.drop(index=list(problem.causes))
    yield "error alone", float((alone["p_adjusted"] <= ALPHA).any())
    yield "error given others", float((given["p_given_others_adjusted"] <= ALPHA).any())
    yield "single alone", float((alone["p_value"] <= ALPHA).mean())
    yield "single given others", float((given["p_given_others"] <= ALPHA).mean())
    if problem.causes:
        found = features.loc[list(problem.causes)]
        yield "power alone", float((found["p_adjusted"] <= ALPHA).mean())
        yield "power given others", float((found["p_given_others_adjusted"] <= ALPHA).mean())
    words = test.summary().splitlines()[0]
    yield "words name a feature", float("none detected" not in words)


def of_pairs(problem):
    """Whether any pair is said to act together."""
    test = InteractionTest(**problem.options).fit(problem.X, problem.y)
    yield "error", float(len(test.selected_) > 0)
    yield "single", float((test.table_["p_value"] <= ALPHA).mean())


def of_sizes(problem, split=None):
    """The size of the planted pair, whether it was found or not, and its interval."""
    test = InteractionTest(split=split, **problem.options).fit(problem.X, problem.y)
    is_found = bool(test.table_.query("feature_1 == 'x0' and feature_2 == 'x1'")["is_found"].any())
    effect = test.effect(*problem.pair)
    yield "found", float(is_found)
    yield "size", effect.size
    if is_found:
        yield "size if found", effect.size
        yield "covered if found", float(effect.size_low <= problem.size <= effect.size_high)
    yield "true size", problem.size
    yield "covered", float(effect.size_low <= problem.size <= effect.size_high)
    yield "above", float(effect.size_low > problem.size)
    yield "width", effect.size_high - effect.size_low


def of_split_sizes(problem):
    return of_sizes(problem, split=0.5)


def of_power(problem):
    test = InteractionTest(**problem.options).fit(problem.X, problem.y)
    found = [frozenset(row) for row in test.selected_[["feature_1", "feature_2"]].to_numpy()]
    first = test.table_.loc[0, ["feature_1", "feature_2"]]
    yield "power", float(frozenset(problem.pair) in found)
    yield "first", float(frozenset(first) == frozenset(problem.pair))


def of_rivals(problem):
    """Products in a linear regression, and the first place of interpret-core's ranking."""
    p_adjusted, first = rivals.linear_products(problem.X, problem.y)
    yield "power, products", float(p_adjusted[problem.pair] <= ALPHA)
    yield "first, products", float(first == problem.pair)
    try:
        yield "first, FAST", float(rivals.fast_first(problem.X, problem.y) == problem.pair)
    except ImportError:
        # interpret-core is not there.
        return


MEASURED = {
    "features": of_features,
    "pairs": of_pairs,
    "sizes": of_sizes,
    "sizes split": of_split_sizes,
    "power": of_power,
    "rivals": of_rivals,
}


def rows_of(cell):
    study, scenario, n, p, replicate = cell
    warnings.simplefilter("ignore")
    # Studies of the same scenarios see the same tables.
    family = "power" if study == "rivals" else study.split()[0]
    problem = STUDIES[study][scenario](seeded(family, scenario, n, p, replicate), n, p)
    return [(*cell, measure, f"{value:.6g}") for measure, value in MEASURED[study](problem)]


def finished():
    if not ROWS.exists():
        return set()
    done = pd.read_csv(ROWS)[list(FIELDS[:5])].drop_duplicates()
    return set(done.itertuples(index=False, name=None))


def run(studies, scenarios, size, replicates, n_processes):
    done, (n, p) = finished(), size
    cells = [
        (study, scenario, n, p, replicate)
        for replicate in range(replicates)
        for study in studies
        for scenario in STUDIES[study]
        if (not scenarios or scenario in scenarios)
        and (study, scenario, n, p, replicate) not in done
    ]
    is_new = not ROWS.exists()
    ROWS.parent.mkdir(exist_ok=True)
    start = time.perf_counter()
    with ROWS.open("a", newline="") as file, get_context("fork").Pool(n_processes) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for i, rows in enumerate(pool.imap_unordered(rows_of, cells), 1):
            writer.writerows(rows)
            file.flush()
            if i % 500 == 0:
                print(f"{i} of {len(cells)}, {time.perf_counter() - start:.0f} s", flush=True)


def summary():
    """Means over the replicates, written and printed."""
    table = pd.read_csv(ROWS).drop_duplicates(FIELDS[:6])
    order = {name: i for i, name in enumerate(s for own in STUDIES.values() for s in own)}
    shown = table.groupby(["study", "n", "p", "scenario", "measure"])["value"]
    means = shown.agg(["mean", "size"]).rename(columns={"size": "replicates"}).reset_index()
    means = means.sort_values(
        ["study", "n", "p", "scenario", "measure"],
        key=lambda own: own.map(order) if own.name == "scenario" else own,
    )
    means.to_csv(RESULTS, index=False, float_format="%.5g", lineterminator="\n")
    index = ["study", "n", "p", "scenario"]
    wide = means.pivot(index=index, columns="measure", values="mean")
    wide.insert(0, "replicates", means.groupby(index)["replicates"].max())
    for study, rows in wide.groupby(level="study"):
        print(study)
        print(rows.droplevel("study").dropna(axis=1, how="all").round(3).to_string(), "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    parser.add_argument("--scenarios", nargs="+", default=[])
    parser.add_argument("--size", default="400x6", help="n x p")
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    if not arguments.summary:
        size = tuple(map(int, arguments.size.split("x")))
        run(
            arguments.studies,
            arguments.scenarios,
            size,
            arguments.replicates,
            arguments.processes,
        )
    summary()


if __name__ == "__main__":
    main()
